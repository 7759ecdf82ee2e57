// Tokens of service accounts: signed by one of the keys, and good as long as their account, and the pod or secret that they are bound to, is
// there. What was found is looked at again at every request, which is a look at the revisions of these objects.

import {
  type AccountTokenOptions,
  accountUser,
  refuse,
  type SignedToken,
  type TokenObjects,
  type Watched,
  watched,
} from './account-tokens.js'
import type { Refused } from './authenticate.js'
import { inBoth, type TokenAuthenticator, type TokenFinding, type TokenResult } from './bearer-tokens.js'
import { type Claims, unverifiedClaims, verifiedClaims } from './jwt.js'
import { type AccountClaims, legacyIssuer, type Reference, readAccountClaims, readAudiences } from './service-account-claims.js'
import { checkSecretToken } from './service-account-secrets.js'

/** Clocks differ. */
export const leewayMs = 60_000

export function serviceAccountTokens(options: AccountTokenOptions): TokenAuthenticator {
  const { identity, issuers, keys } = options
  const legacy = legacyIssuer(identity)
  return (token) => {
    const issuer = unverifiedClaims(token.text)?.['iss']
    const isLegacy = issuer === legacy
    if (typeof issuer !== 'string' || (!isLegacy && !issuers.includes(issuer))) return undefined
    return verifiedClaims(token.text, keys).then((claims): TokenResult => {
      // What is claimed is read from what was signed.
      if (claims === undefined || claims['iss'] !== issuer) return refuse('no key of this server signed the token')
      return checkClaims(options, { token, claims, isLegacy })
    })
  }
}

function checkClaims(options: AccountTokenOptions, signed: SignedToken): TokenResult {
  const { token, claims, isLegacy } = signed
  const named = readAudiences(claims)
  const meant = named.length === 0 ? options.audiences : named
  const audiences = inBoth(token.audiences, meant)
  if (audiences.length === 0 && options.audiences.length > 0) {
    return refuse(`token audiences ${quoted(meant)} is invalid for the target audiences ${quoted(token.audiences)}`)
  }
  const checked = isLegacy ? checkSecretToken(options, signed) : checkBoundToken(options, signed)
  if (checked.user === undefined) return checked
  if (named.length > 0) return { ...checked, audiences }
  const { counters, identity } = options
  const subject = String(claims['sub'] ?? '')
  const key = `${identity.group({ stem: 'authentication' })}/legacy-token`
  const remark: TokenFinding['remark'] = (annotate, now) => {
    if (counters !== undefined) counters.legacy++
    annotate(key, subject)
    checked.remark?.(annotate, now)
  }
  return { ...checked, audiences, remark }
}

const quoted = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`

function checkBoundToken(options: AccountTokenOptions, { token, claims }: SignedToken): TokenFinding | Refused {
  const account = readAccountClaims(options.identity, claims)
  const times = { exp: seconds(claims, 'exp'), nbf: seconds(claims, 'nbf'), iat: seconds(claims, 'iat') }
  const outOfTime = (now: number): string | undefined => {
    if (now - leewayMs > times.exp) return 'service account token has expired'
    if (now + leewayMs < times.nbf) return 'service account token is not valid yet'
    return now + leewayMs < times.iat ? 'service account token is issued in the future' : undefined
  }
  const lives = livingObjects(options.objects, account)
  const problem = outOfTime(token.now) ?? lives(token.now)
  if (problem !== undefined) return refuse(problem)
  const { counters, identity } = options
  const finding: TokenFinding = {
    user: accountUser(identity, account),
    holds: (now) => outOfTime(now) === undefined && lives(now) === undefined,
  }
  if (account.warnafter === undefined) return finding
  const { warnafter } = account
  const key = `${identity.group({ stem: 'authentication' })}/stale-token`
  const remark: TokenFinding['remark'] = (annotate, now) => {
    const late = Math.floor(now / 1000) - warnafter
    if (late > 0) annotate(key, `subject: ${String(claims['sub'] ?? '')}, seconds after warning threshold: ${late}`)
    if (counters === undefined) return
    if (late > 0) counters.stale++
    else counters.valid++
  }
  return { ...finding, remark }
}

/** In milliseconds; a time that is missing is long ago. */
function seconds(claims: Claims, name: string): number {
  const value = claims[name]
  return typeof value === 'number' ? value * 1000 : 0
}

/** What is wrong with the objects that a token needs; undefined: nothing. */
function livingObjects(
  objects: TokenObjects,
  { namespace, serviceaccount, secret, pod }: AccountClaims,
): (now: number) => string | undefined {
  const invalidated = 'service account token has been invalidated'
  const needs = [
    follow(objects, { resource: 'serviceaccounts', namespace, name: serviceaccount.name }, serviceaccount, {
      gone: `serviceaccounts ${JSON.stringify(serviceaccount.name)} not found`,
      deleted: `service account ${namespace}/${serviceaccount.name} has been deleted`,
      other: (uid) => `service account UID (${uid}) does not match claim (${serviceaccount.uid})`,
    }),
  ]
  if (secret !== undefined) {
    const other = (uid: string) => `secret UID (${uid}) does not match service account secret ref claim (${secret.uid})`
    const place: Watched = { resource: 'secrets', namespace, name: secret.name }
    needs.push(follow(objects, place, secret, { gone: invalidated, deleted: invalidated, other }))
  }
  if (pod !== undefined) {
    const other = (uid: string) => `pod UID (${uid}) does not match service account pod ref claim (${pod.uid})`
    needs.push(follow(objects, { resource: 'pods', namespace, name: pod.name }, pod, { gone: invalidated, deleted: invalidated, other }))
  }
  return (now) => {
    for (const problemOf of needs) {
      const problem = problemOf(now)
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

interface Problems {
  readonly gone: string
  readonly deleted: string
  readonly other: (uid: string) => string
}

const follow = (objects: TokenObjects, place: Watched, { uid }: Reference, { gone, deleted, other }: Problems) =>
  watched(objects, place, {
    gone,
    check: ({ metadata }, now) => {
      if (metadata?.uid !== uid) return other(metadata?.uid ?? '')
      const { deletionTimestamp } = metadata
      return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < now - leewayMs ? deleted : undefined
    },
  })
