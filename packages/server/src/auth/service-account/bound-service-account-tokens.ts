// Service account tokens: signature and audience; of bound tokens also times, and with every request the ServiceAccount, Pod and Secret.

import type { Refused } from '../authenticate.js'
import { type AuthenticatedToken, intersect, type TokenAuthenticator, type TokenResult } from '../tokens/bearer-tokens.js'
import { type Claims, unverifiedClaims, verifiedClaims } from '../tokens/jwt.js'
import {
  type AccountTokenOptions,
  accountUser,
  checkLegacyToken,
  objectCheck,
  refuse,
  type SignedToken,
  type TokenObject,
  type TokenObjects,
} from './legacy-service-account-tokens.js'
import { type AccountClaims, legacyIssuer, type Reference, readAccountClaims, readAudiences } from './service-account-claims.js'

/** Tolerated difference of clocks. */
const clockSkewMs = 60_000

export function serviceAccountTokens(options: AccountTokenOptions): TokenAuthenticator {
  const { identity, issuers, keys } = options
  const issuerOfLegacyTokens = legacyIssuer(identity)
  return async (token) => {
    const issuer = unverifiedClaims(token.text)?.['iss']
    const isLegacy = issuer === issuerOfLegacyTokens
    if (typeof issuer !== 'string' || (!isLegacy && !issuers.includes(issuer))) return undefined
    const claims = await verifiedClaims(token.text, keys)
    if (claims === undefined || claims['iss'] !== issuer) return refuse('the token is not signed by a key of this server')
    return checkClaims(options, { token, claims, isLegacy })
  }
}

function checkClaims(options: AccountTokenOptions, signed: SignedToken): TokenResult {
  const { token, claims, isLegacy } = signed
  const claimedAudiences = readAudiences(claims)
  const tokenAudiences = claimedAudiences.length === 0 ? options.audiences : claimedAudiences
  const audiences = intersect(token.audiences, tokenAudiences)
  if (audiences.length === 0 && options.audiences.length > 0) {
    return refuse(`token audiences ${quoted(tokenAudiences)} is invalid for the target audiences ${quoted(token.audiences)}`)
  }
  const checked = isLegacy ? checkLegacyToken(options, signed) : checkBoundToken(options, signed)
  if (checked.user === undefined) return checked
  if (claimedAudiences.length > 0) return { ...checked, audiences }
  const { counters, identity } = options
  const subject = String(claims['sub'] ?? '')
  const key = `${identity.group({ stem: 'authentication' })}/legacy-token`
  const onRequest: AuthenticatedToken['onRequest'] = (annotate, now) => {
    if (counters !== undefined) counters.legacy++
    annotate(key, subject)
    checked.onRequest?.(annotate, now)
  }
  return { ...checked, audiences, onRequest }
}

const quoted = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`

function checkBoundToken(options: AccountTokenOptions, { token, claims }: SignedToken): AuthenticatedToken | Refused {
  const account = readAccountClaims(options.identity, claims)
  const times = { exp: timeMs(claims, 'exp'), nbf: timeMs(claims, 'nbf'), iat: timeMs(claims, 'iat') }
  const timeProblem = (now: number): string | undefined => {
    if (now - clockSkewMs > times.exp) return 'service account token has expired'
    if (now + clockSkewMs < times.nbf) return 'service account token is not valid yet'
    return now + clockSkewMs < times.iat ? 'service account token is issued in the future' : undefined
  }
  const objectProblem = boundObjectsCheck(options.objects, account)
  const problem = timeProblem(token.now) ?? objectProblem(token.now)
  if (problem !== undefined) return refuse(problem)
  const { counters, identity } = options
  const authenticated: AuthenticatedToken = {
    user: accountUser(identity, account),
    isValid: (now) => timeProblem(now) === undefined && objectProblem(now) === undefined,
  }
  if (account.warnafter === undefined) return authenticated
  const { warnafter } = account
  const key = `${identity.group({ stem: 'authentication' })}/stale-token`
  const onRequest: AuthenticatedToken['onRequest'] = (annotate, now) => {
    const secondsLate = Math.floor(now / 1000) - warnafter
    if (secondsLate > 0) annotate(key, `subject: ${String(claims['sub'] ?? '')}, seconds after warning threshold: ${secondsLate}`)
    if (counters === undefined) return
    if (secondsLate > 0) counters.stale++
    else counters.valid++
  }
  return { ...authenticated, onRequest }
}

/** Time of a claim in milliseconds; 0 if it is missing. */
function timeMs(claims: Claims, name: string): number {
  const value = claims[name]
  return typeof value === 'number' ? value * 1000 : 0
}

function boundObjectsCheck(
  objects: TokenObjects,
  { namespace, serviceaccount, secret, pod }: AccountClaims,
): (now: number) => string | undefined {
  const invalidated = 'service account token has been invalidated'
  const checks = [
    uidCheck(objects, { resource: 'serviceaccounts', namespace, name: serviceaccount.name }, serviceaccount, {
      missing: `serviceaccounts ${JSON.stringify(serviceaccount.name)} not found`,
      deleted: `service account ${namespace}/${serviceaccount.name} has been deleted`,
      mismatch: (uid) => `service account UID (${uid}) does not match claim (${serviceaccount.uid})`,
    }),
  ]
  if (secret !== undefined) {
    const mismatch = (uid: string) => `secret UID (${uid}) does not match service account secret ref claim (${secret.uid})`
    const bound: TokenObject = { resource: 'secrets', namespace, name: secret.name }
    checks.push(uidCheck(objects, bound, secret, { missing: invalidated, deleted: invalidated, mismatch }))
  }
  if (pod !== undefined) {
    const mismatch = (uid: string) => `pod UID (${uid}) does not match service account pod ref claim (${pod.uid})`
    checks.push(
      uidCheck(objects, { resource: 'pods', namespace, name: pod.name }, pod, { missing: invalidated, deleted: invalidated, mismatch }),
    )
  }
  return (now) => {
    for (const problemOf of checks) {
      const problem = problemOf(now)
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

interface ProblemTexts {
  readonly missing: string
  readonly deleted: string
  readonly mismatch: (uid: string) => string
}

const uidCheck = (objects: TokenObjects, bound: TokenObject, { uid }: Reference, { missing, deleted, mismatch }: ProblemTexts) =>
  objectCheck(objects, bound, {
    missing,
    check: ({ metadata }, now) => {
      if (metadata?.uid !== uid) return mismatch(metadata?.uid ?? '')
      const { deletionTimestamp } = metadata
      return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < now - clockSkewMs ? deleted : undefined
    },
  })
