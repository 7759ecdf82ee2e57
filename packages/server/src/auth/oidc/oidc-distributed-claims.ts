// Distributed claims: an issuer that knows of too many groups for a token names an address at which they are, signed as well.

import type { Clock } from '../base/clock.js'
import { RecentMap } from '../base/recent-map.js'
import { type Claims, unverifiedClaims } from './jwt.js'
import { OidcError, type OidcRules, verify } from './oidc.js'
import type { OidcProvider } from './oidc-provider.js'

export interface DistributedOptions {
  readonly rules: OidcRules
  readonly clock: Clock
  readonly get: (url: string, accessToken: string) => Promise<string>
  /** Claims may be signed by others than the token. */
  readonly providerOf: (issuer: string) => OidcProvider
}

/** Claims are few, and so are those who sign them. */
const mostProviders = 16

export function distributedClaims({ rules, clock, get, providerOf }: DistributedOptions): (claims: Claims) => Claims | Promise<Claims> {
  const { groupsClaim } = rules
  const providers = new RecentMap<string, OidcProvider>(mostProviders)
  return (claims) => {
    if (groupsClaim === undefined || claims[groupsClaim] !== undefined) return claims
    const source = sourceOf(claims, groupsClaim)
    if (source === undefined) return claims
    return resolve(claims, source, groupsClaim)
  }

  async function resolve(claims: Claims, { endpoint, accessToken }: Source, name: string): Promise<Claims> {
    const text = await textAt(endpoint, accessToken)
    const issuer = unverifiedClaims(text)?.['iss']
    if (typeof issuer !== 'string' || !issuer.startsWith('https://')) throw failure('the answer is no token of an https:// issuer')
    const provider = providers.get(issuer) ?? providerOf(issuer)
    providers.set(issuer, provider)
    const answered = await verify({ rules: { ...rules, issuer }, provider }, { text, now: clock.now() })
    if (answered[name] === undefined) throw failure(`jwt returned by distributed claim endpoint ${endpoint} did not contain claim: ${name}`)
    return { ...claims, [name]: answered[name] }
  }

  async function textAt(endpoint: string, accessToken: string): Promise<string> {
    try {
      return (await get(endpoint, accessToken)).trim()
    } catch (thrown) {
      throw failure(thrown instanceof Error ? thrown.message : String(thrown))
    }
  }
}

const failure = (why: string): OidcError => new OidcError(`could not expand distributed claims: ${why}`)

interface Source {
  readonly endpoint: string
  readonly accessToken: string
}

type Fields = { readonly [name: string]: unknown }
const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

/** Undefined where the claim is nowhere else, or comes along in a form that the reference passes over, too. */
function sourceOf(claims: Claims, claim: string): Source | undefined {
  const names = fieldsOf(claims['_claim_names'])
  const sources = fieldsOf(claims['_claim_sources'])
  const name = names?.[claim]
  if (sources === undefined || name === undefined) return undefined
  const source = typeof name === 'string' ? fieldsOf(sources[name]) : undefined
  if (source === undefined) throw failure(`_claim_names contains unknown source ${JSON.stringify(name)} for claim ${claim}`)
  const { endpoint, access_token: accessToken } = source
  if (endpoint === undefined || endpoint === '') return undefined
  if (typeof endpoint !== 'string' || !endpoint.startsWith('https://')) throw failure('the endpoint is no https:// address')
  return { endpoint, accessToken: typeof accessToken === 'string' ? accessToken : '' }
}
