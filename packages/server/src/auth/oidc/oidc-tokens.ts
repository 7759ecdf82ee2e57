// OIDC authentication: verifies ID tokens of one issuer and maps claims to user and groups.

import type { User } from '@cluster-apiserver/api/api/user.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { readAudiences } from '../service-account/service-account-claims.js'
import { matchingAudiences, type PresentedToken, type TokenAuthenticator, type TokenResult } from '../tokens/bearer-tokens.js'
import { type Claims, unverifiedClaims, unverifiedHeader, verifiedClaims } from '../tokens/jwt.js'
import { withAuthenticated } from '../tokens/static-tokens.js'
import type { OidcProvider } from './oidc-provider.js'

export interface OidcRules {
  readonly issuer: string
  readonly clientId: string
  readonly usernameClaim: string
  readonly usernamePrefix: string
  readonly groupsClaim: string | undefined
  readonly groupsPrefix: string
  readonly requiredClaims: { readonly [claim: string]: string }
  readonly signingAlgorithms: readonly string[]
}

interface OidcOptions {
  readonly rules: OidcRules
  readonly provider: OidcProvider
  /** Resolves distributed claims; throws OidcError if they cannot be fetched. */
  readonly expand: (claims: Claims) => Promise<Claims>
  readonly audiences: readonly string[]
}

/** Maximum time a result is cached, so that tokens of withdrawn keys stop working. */
const maxCacheMs = 600_000
/** Tolerated clock skew for `nbf`. */
const notBeforeLeewayMs = 300_000

export function oidcTokens(options: OidcOptions): TokenAuthenticator {
  const { rules } = options
  return async (token) => (unverifiedClaims(token.text)?.['iss'] === rules.issuer ? checkToken(options, token) : undefined)
}

async function checkToken(options: OidcOptions, token: PresentedToken): Promise<TokenResult> {
  const audiences = matchingAudiences(options.audiences, token)
  if (audiences === undefined) return undefined
  token.beforeRemoteCheck?.()
  try {
    const claims = await verify(options, token)
    const user = userOf(options.rules, await options.expand(claims))
    const untilMs = Math.min(timeOf(claims, 'exp') ?? 0, token.now + maxCacheMs)
    return { user, audiences, isValid: (now) => now < untilMs && now >= token.now - maxCacheMs }
  } catch (thrown) {
    if (thrown instanceof OidcError) return { problems: [`oidc: ${thrown.message}`] }
    throw thrown
  }
}

export class OidcError extends Error {
  override readonly name = 'OidcError'
}

/** Checks claims before the signature, in the order of kube-apiserver, to report the same error. */
export async function verify(
  { rules, provider }: Pick<OidcOptions, 'rules' | 'provider'>,
  { text, now }: Pick<PresentedToken, 'text' | 'now'>,
): Promise<Claims> {
  const unverified = unverifiedClaims(text)
  const { kid, alg } = unverifiedHeader(text) ?? {}
  if (unverified === undefined) throw new OidcError('verify token: oidc: malformed jwt')
  const keyId = typeof kid === 'string' ? kid : ''
  const keys = await provider.keysFor(keyId)
  // All requests that waited for one fetch resume in the same event-loop iteration.
  await turnBudget.yieldIfSpent()
  if (keys === undefined) throw new OidcError('authenticator not initialized')
  const aud = readAudiences(unverified)
  if (!aud.includes(rules.clientId)) {
    throw new OidcError(`verify token: oidc: expected audience ${JSON.stringify(rules.clientId)} got ${quoteList(aud)}`)
  }
  const expiry = timeOf(unverified, 'exp') ?? zeroTimeMs
  if (now > expiry) throw new OidcError(`verify token: oidc: token is expired (Token Expiry: ${formatTime(expiry)})`)
  const notBefore = timeOf(unverified, 'nbf')
  if (notBefore !== undefined && now + notBeforeLeewayMs < notBefore) {
    throw new OidcError(`verify token: oidc: current time ${formatTime(now)} before the nbf (not before) time: ${formatTime(notBefore)}`)
  }
  if (typeof alg !== 'string' || !rules.signingAlgorithms.includes(alg)) {
    throw new OidcError(
      `verify token: oidc: id token signed with unsupported algorithm, expected ${quoteList(rules.signingAlgorithms)} got ${JSON.stringify(alg ?? '')}`,
    )
  }
  const claims = (await verifiedClaims(text, keys)) ?? (await verifiedClaims(text, await provider.fetchKeysFor(keyId)))
  if (claims === undefined || claims['iss'] !== unverified['iss']) {
    throw new OidcError('verify token: failed to verify signature: failed to verify id token signature')
  }
  return claims
}

/** Year 1: expiry of a token without `exp`, as kube-apiserver prints it. */
const zeroTimeMs = -62_135_596_800_000

const quoteList = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`

const timeOf = (claims: Claims, name: string): number | undefined => {
  const value = claims[name]
  return typeof value === 'number' ? value * 1000 : undefined
}

function formatTime(ms: number): string {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) return 'never'
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`
}

function userOf(rules: OidcRules, claims: Claims): User {
  const name = claims[rules.usernameClaim]
  const claim = JSON.stringify(rules.usernameClaim)
  if (name === undefined) throw new OidcError(`parse username claims ${claim}: claim not present`)
  if (typeof name !== 'string') throw new OidcError(`parse username claims ${claim}: must be a string`)
  if (rules.usernameClaim === 'email') checkEmailVerified(claims)
  const groups = groupsOf(rules, claims)
  for (const [required, value] of Object.entries(rules.requiredClaims)) checkRequiredClaim(claims, required, value)
  if (name === '') throw new OidcError(`parse username claims ${claim}: must not be empty`)
  return { name: `${rules.usernamePrefix}${name}`, uid: '', groups: withAuthenticated(groups), extra: {} }
}

/** An unverified email address may belong to another user. Issuers that omit the claim are trusted. */
function checkEmailVerified({ email_verified: isVerified }: Claims): void {
  if (isVerified === undefined) return
  if (typeof isVerified !== 'boolean') throw new OidcError("parse 'email_verified' claim: must be a boolean")
  if (!isVerified) throw new OidcError('email not verified')
}

function groupsOf({ groupsClaim, groupsPrefix }: OidcRules, claims: Claims): readonly string[] {
  const value = groupsClaim === undefined ? undefined : claims[groupsClaim]
  if (value === undefined || value === null) return []
  const groups: readonly unknown[] = Array.isArray(value) ? value : [value]
  return groups.map((group) => {
    if (typeof group !== 'string')
      throw new OidcError(`parse groups claim ${JSON.stringify(groupsClaim)}: must be a string or a list of strings`)
    return `${groupsPrefix}${group}`
  })
}

function checkRequiredClaim(claims: Claims, claim: string, required: string): void {
  const value = claims[claim]
  if (value === undefined) throw new OidcError(`required claim ${claim} not present in ID token`)
  if (typeof value !== 'string') throw new OidcError(`parse claim ${claim}: must be a string`)
  if (value !== required) throw new OidcError(`required claim ${claim} value does not match. Got = ${value}, want = ${required}`)
}
