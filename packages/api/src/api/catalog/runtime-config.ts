// Parser of --runtime-config: which API versions and resources are served.

type Stability = 'stable' | 'beta' | 'alpha'

export interface Served {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly resource?: string
  readonly stability: Stability
  /** Default: true for stable versions, false for beta and alpha. */
  readonly enabledByDefault?: boolean
}

type Existing = Pick<Served, 'group' | 'version'> & { readonly resource: string }

export interface RuntimeConfig {
  /** Precedence: resource, version, stability, `api/all`, default. */
  isEnabled(served: Served): boolean
  unknownKeys(existing: Iterable<Existing>): readonly string[]
}

const allKey = 'api/all'
const stabilityKeys: { readonly [S in Stability]: string } = { stable: 'api/ga', beta: 'api/beta', alpha: 'api/alpha' }
const wideKeys: ReadonlySet<string> = new Set([allKey, ...Object.values(stabilityKeys)])

/** Accepted and ignored, for old command lines. */
const legacyKey = 'api/legacy'

const versionKey = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`)

export function stabilityOf(version: string): Stability {
  if (version.includes('alpha')) return 'alpha'
  return version.includes('beta') ? 'beta' : 'stable'
}

/** Accepts `v1`, `/v1`, `v1/pods`, `apps/v1`, `apps/v1/deployments` and keys such as `api/all`. `api/v1` means `v1`. */
function readKey(text: string): string {
  const segments = text.split('/')
  const key = text.replace(/^(?:api)?\/(?=v\d)/, '')
  const hasValidShape = /^v\d\w*$/.test(segments[0] ?? '') ? segments.length <= 2 : segments.length === 2 || segments.length === 3
  if (!hasValidShape || key.split('/').some((segment) => segment === '')) {
    throw new Error(`${JSON.stringify(text)} is neither api/all, api/ga, api/beta, api/alpha nor <group>/<version>[/<resource>]`)
  }
  if (key.startsWith('api/') && !wideKeys.has(key) && key !== legacyKey)
    throw new Error(`${JSON.stringify(text)} is unknown; there are ${[...wideKeys].join(', ')}`)
  return key
}

function readSwitch(text: string, key: string): boolean {
  if (/^(1|t|true)$/i.test(text)) return true
  if (/^(0|f|false)$/i.test(text)) return false
  throw new Error(`${key}=${text}: ${JSON.stringify(text)} is neither true nor false`)
}

/** Parses settings such as `api/all=true` or `apps/v1/deployments` (default: true). Throws an Error with one sentence. */
export function parseRuntimeConfig(texts: readonly string[]): RuntimeConfig {
  const switches = new Map<string, boolean>()
  for (const text of texts) {
    const [key = '', ...rest] = text.split('=')
    switches.set(readKey(key.trim()), rest.length === 0 ? true : readSwitch(rest.join('=').trim(), key))
  }
  if (switches.size === 1 && switches.get(allKey) === false) throw new Error(`${allKey}=false alone would leave nothing to serve`)
  return {
    isEnabled: (served) => decide(switches, served),
    unknownKeys: (existing) => findUnknown([...switches.keys()], existing),
  }
}

function decide(switches: ReadonlyMap<string, boolean>, served: Served): boolean {
  const version = versionKey(served.group, served.version)
  return (
    (served.resource === undefined ? undefined : switches.get(`${version}/${served.resource}`)) ??
    switches.get(version) ??
    switches.get(stabilityKeys[served.stability]) ??
    switches.get(allKey) ??
    served.enabledByDefault ??
    served.stability === 'stable'
  )
}

function findUnknown(keys: readonly string[], existing: Iterable<Existing>): readonly string[] {
  const known = new Set<string>([...wideKeys, legacyKey])
  for (const { group, version, resource } of existing)
    known.add(versionKey(group, version)).add(`${versionKey(group, version)}/${resource}`)
  return keys.filter((key) => !known.has(key))
}
