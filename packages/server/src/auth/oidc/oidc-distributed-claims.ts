// OIDC distributed claims: fetches the groups claim from the endpoint that the ID token names, as a signed JWT.

import type { Clock } from '@cluster-apiserver/api/base/clock.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { RecentMap } from '@cluster-apiserver/api/base/recent-map.js'
import { type Claims, unverifiedClaims } from '../tokens/jwt.js'
import type { OidcProvider } from './oidc-provider.js'
import { OidcError, type OidcRules, verify } from './oidc-tokens.js'

interface DistributedClaimsOptions {
  readonly rules: OidcRules
  readonly clock: Clock
  readonly get: (url: string, accessToken: string) => Promise<string>
  readonly providerOf: (issuer: string) => OidcProvider
}

const maxProviders = 16

export function distributedClaims({ rules, clock, get, providerOf }: DistributedClaimsOptions): (claims: Claims) => Promise<Claims> {
  const { groupsClaim } = rules
  const providers = new RecentMap<string, OidcProvider>(maxProviders)
  return async (claims) => {
    if (groupsClaim === undefined || claims[groupsClaim] !== undefined) return claims
    const source = sourceOf(claims, groupsClaim)
    if (source === undefined) return claims
    return resolve(claims, source, groupsClaim)
  }

  async function resolve(claims: Claims, { endpoint, accessToken }: ClaimSource, name: string): Promise<Claims> {
    const text = await fetchToken(endpoint, accessToken)
    const issuer = unverifiedClaims(text)?.['iss']
    if (typeof issuer !== 'string' || !issuer.startsWith('https://')) throw failure('the response is not a JWT of an https:// issuer')
    const provider = providers.get(issuer) ?? providerOf(issuer)
    providers.set(issuer, provider)
    const distributed = await verify({ rules: { ...rules, issuer }, provider }, { text, now: clock.now() })
    if (distributed[name] === undefined)
      throw failure(`jwt returned by distributed claim endpoint ${endpoint} did not contain claim: ${name}`)
    return { ...claims, [name]: distributed[name] }
  }

  async function fetchToken(endpoint: string, accessToken: string): Promise<string> {
    try {
      return (await get(endpoint, accessToken)).trim()
    } catch (thrown) {
      throw failure(errorMessage(thrown))
    }
  }
}

const failure = (why: string): OidcError => new OidcError(`could not expand distributed claims: ${why}`)

interface ClaimSource {
  readonly endpoint: string
  readonly accessToken: string
}

type Fields = { readonly [name: string]: unknown }
const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

/** Undefined if the claim is not distributed, or its source has no endpoint, which kube-apiserver ignores. */
function sourceOf(claims: Claims, claim: string): ClaimSource | undefined {
  const names = fieldsOf(claims['_claim_names'])
  const sources = fieldsOf(claims['_claim_sources'])
  const name = names?.[claim]
  if (sources === undefined || name === undefined) return undefined
  const source = typeof name === 'string' ? fieldsOf(sources[name]) : undefined
  if (source === undefined) throw failure(`_claim_names contains unknown source ${JSON.stringify(name)} for claim ${claim}`)
  const { endpoint, access_token: accessToken } = source
  if (endpoint === undefined || endpoint === '') return undefined
  if (typeof endpoint !== 'string' || !endpoint.startsWith('https://')) throw failure('the endpoint is not an https:// URL')
  return { endpoint, accessToken: typeof accessToken === 'string' ? accessToken : '' }
}
