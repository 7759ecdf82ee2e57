// Which API versions and resources the operator wants served, as read from the command line.

export type Stability = 'stable' | 'beta' | 'alpha'

/** A version of a group, or one resource of it. */
export interface Served {
  /** The full name; empty for the core group. */
  readonly group: string
  readonly version: string
  readonly resource?: string
  readonly stability: Stability
  /** Without a word from the operator; left out: stable versions only. */
  readonly enabledByDefault?: boolean
}

/** What exists, to find words about what does not. */
export type Existing = Pick<Served, 'group' | 'version'> & { readonly resource: string }

export interface RuntimeConfig {
  /** The narrowest word counts: resource, then version, then stability, then `api/all`, then the default. */
  isEnabled(served: Served): boolean
  /** What was named and does not exist, as it was written. */
  unknownKeys(existing: Iterable<Existing>): readonly string[]
}

const allKey = 'api/all'
const stabilityKeys: { readonly [S in Stability]: string } = { stable: 'api/ga', beta: 'api/beta', alpha: 'api/alpha' }
const wideKeys: ReadonlySet<string> = new Set([allKey, ...Object.values(stabilityKeys)])

/** Once switched what came before groups; still accepted, and says nothing. */
const legacyKey = 'api/legacy'

const versionKey = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`)

/** How stable a version is, by its name: `v1`, `v2beta1`, `v1alpha1`. */
export function stabilityOf(version: string): Stability {
  if (version.includes('alpha')) return 'alpha'
  return version.includes('beta') ? 'beta' : 'stable'
}

/** `v1`, `/v1`, `v1/pods`, `apps/v1`, `apps/v1/deployments` and the wide keys; `api/v1` is another way to write `v1`. */
function readKey(text: string): string {
  const segments = text.split('/')
  const key = text.replace(/^(?:api)?\/(?=v\d)/, '')
  const isShaped = /^v\d\w*$/.test(segments[0] ?? '') ? segments.length <= 2 : segments.length === 2 || segments.length === 3
  if (!isShaped || key.split('/').some((segment) => segment === '')) {
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

/** From texts such as `api/all=true` or `apps/v1/deployments` (a missing value is true). Throws an Error with one sentence. */
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
