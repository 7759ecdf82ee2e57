// OpenID Connect: ID tokens of one issuer, whose claims say who the user is.

import type { User } from '../api/user.js'
import { meantHere, type PresentedToken, type TokenAuthenticator, type TokenResult } from './bearer-tokens.js'
import { FewPerTurn } from './few-per-turn.js'
import { type Claims, unverifiedClaims, unverifiedHeader, verifiedClaims } from './jwt.js'
import type { OidcProvider } from './oidc-provider.js'
import { readAudiences } from './service-account-claims.js'
import { withAuthenticated } from './token-list.js'

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

export interface OidcOptions {
  readonly rules: OidcRules
  readonly provider: OidcProvider
  /** Fills in claims that the issuer keeps elsewhere; throws one sentence where they cannot be had. */
  readonly expand: (claims: Claims) => Claims | Promise<Claims>
  /** By which names this server is meant. */
  readonly audiences: readonly string[]
}

/** How long a token is not looked at again, so that keys that were taken away count no longer after a while. */
const rememberedMs = 600_000
/** What a clock may be behind where a token says from when on it holds. */
const notBeforeLeewayMs = 300_000

export function oidcTokens(options: OidcOptions): TokenAuthenticator {
  const { rules } = options
  return (token) => (unverifiedClaims(token.text)?.['iss'] === rules.issuer ? check(options, token) : undefined)
}

async function check(options: OidcOptions, token: PresentedToken): Promise<TokenResult> {
  const audiences = meantHere(options.audiences, token)
  if (audiences === undefined) return undefined
  token.beforeAsking?.()
  try {
    const claims = await verify(options, token)
    const user = userOf(options.rules, await options.expand(claims))
    const untilMs = Math.min(timeOf(claims, 'exp') ?? 0, token.now + rememberedMs)
    return { user, audiences, holds: (now) => now < untilMs && now >= token.now - rememberedMs }
  } catch (thrown) {
    if (thrown instanceof OidcError) return { problems: [`oidc: ${thrown.message}`] }
    throw thrown
  }
}

/** All who come while the keys of an issuer are fetched go on when they are there: to look at a token and answer takes a tenth of a millisecond. */
const turns = new FewPerTurn(8)

async function inTurn<T>(fetched: Promise<T>): Promise<T> {
  const keys = await fetched
  const turn = turns.turn()
  if (turn !== undefined) await turn
  return keys
}

/** Why a token is refused. */
export class OidcError extends Error {
  override readonly name = 'OidcError'
}

/** In the order of the reference: what is claimed first, then who signed it. */
export async function verify(
  { rules, provider }: Pick<OidcOptions, 'rules' | 'provider'>,
  { text, now }: Pick<PresentedToken, 'text' | 'now'>,
): Promise<Claims> {
  const claimed = unverifiedClaims(text)
  const { kid, alg } = unverifiedHeader(text) ?? {}
  if (claimed === undefined) throw new OidcError('verify token: oidc: malformed jwt')
  const keyId = typeof kid === 'string' ? kid : ''
  const keys = await inTurn(provider.keysFor(keyId))
  if (keys === undefined) throw new OidcError('authenticator not initialized')
  const aud = readAudiences(claimed)
  if (!aud.includes(rules.clientId)) {
    throw new OidcError(`verify token: oidc: expected audience ${JSON.stringify(rules.clientId)} got ${listed(aud)}`)
  }
  const expiry = timeOf(claimed, 'exp') ?? beginning
  if (now > expiry) throw new OidcError(`verify token: oidc: token is expired (Token Expiry: ${printed(expiry)})`)
  const notBefore = timeOf(claimed, 'nbf')
  if (notBefore !== undefined && now + notBeforeLeewayMs < notBefore) {
    throw new OidcError(`verify token: oidc: current time ${printed(now)} before the nbf (not before) time: ${printed(notBefore)}`)
  }
  if (typeof alg !== 'string' || !rules.signingAlgorithms.includes(alg)) {
    throw new OidcError(
      `verify token: oidc: id token signed with unsupported algorithm, expected ${listed(rules.signingAlgorithms)} got ${JSON.stringify(alg ?? '')}`,
    )
  }
  const claims = (await verifiedClaims(text, keys)) ?? (await verifiedClaims(text, await inTurn(provider.fetchKeysFor(keyId))))
  if (claims === undefined || claims['iss'] !== claimed['iss']) {
    throw new OidcError('verify token: failed to verify signature: failed to verify id token signature')
  }
  return claims
}

/** Of the year 1: what has no end has ended then. */
const beginning = -62_135_596_800_000

const listed = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`

const timeOf = (claims: Claims, name: string): number | undefined => {
  const value = claims[name]
  return typeof value === 'number' ? value * 1000 : undefined
}

/** As the reference prints a time. */
function printed(ms: number): string {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) return 'never'
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`
}

function userOf(rules: OidcRules, claims: Claims): User {
  const name = claims[rules.usernameClaim]
  const claim = JSON.stringify(rules.usernameClaim)
  if (name === undefined) throw new OidcError(`parse username claims ${claim}: claim not present`)
  if (typeof name !== 'string') throw new OidcError(`parse username claims ${claim}: it is no text`)
  if (rules.usernameClaim === 'email') checkVerified(claims)
  const groups = groupsOf(rules, claims)
  for (const [required, value] of Object.entries(rules.requiredClaims)) checkRequired(claims, required, value)
  const prefixed = `${rules.usernamePrefix}${name}`
  if (prefixed === '') throw new OidcError(`parse username claims ${claim}: it is empty`)
  return { name: prefixed, uid: '', groups: withAuthenticated(groups), extra: {} }
}

/** Whoever may enter any address there is anybody. An issuer that says nothing of it is believed. */
function checkVerified({ email_verified: isVerified }: Claims): void {
  if (isVerified === undefined) return
  if (typeof isVerified !== 'boolean') throw new OidcError("parse 'email_verified' claim: it is neither true nor false")
  if (!isVerified) throw new OidcError('email not verified')
}

function groupsOf({ groupsClaim, groupsPrefix }: OidcRules, claims: Claims): readonly string[] {
  const value = groupsClaim === undefined ? undefined : claims[groupsClaim]
  if (value === undefined || value === null) return []
  const groups: readonly unknown[] = Array.isArray(value) ? value : [value]
  return groups.map((group) => {
    if (typeof group !== 'string')
      throw new OidcError(`parse groups claim ${JSON.stringify(groupsClaim)}: it is neither a text nor a list of texts`)
    return `${groupsPrefix}${group}`
  })
}

function checkRequired(claims: Claims, claim: string, wanted: string): void {
  const value = claims[claim]
  if (value === undefined) throw new OidcError(`required claim ${claim} not present in ID token`)
  if (typeof value !== 'string') throw new OidcError(`parse claim ${claim}: it is no text`)
  if (value !== wanted) throw new OidcError(`required claim ${claim} value does not match. Got = ${value}, want = ${wanted}`)
}
