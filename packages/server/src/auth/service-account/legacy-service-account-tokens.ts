// Legacy service account tokens (of Secrets, without expiry), and what bound tokens share with them: user and checks of referenced objects.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { authenticatedGroup, type User } from '@cluster-apiserver/api/api/user.js'
import type { StoredObject } from '../../objects/entry/stored-object.js'
import type { Refused } from '../authenticate.js'
import type { AuthenticatedToken, PresentedToken } from '../tokens/bearer-tokens.js'
import type { Claims, VerifyingKey } from '../tokens/jwt.js'
import { type AccountClaims, accountGroups, accountName, type LegacyClaims, readLegacyClaims } from './service-account-claims.js'

type TokenResource = 'serviceaccounts' | 'secrets' | 'pods'

export interface TokenObjects {
  find(resource: TokenResource, namespace: string, name: string): StoredObject | undefined
  decode(resource: TokenResource, stored: StoredObject): ApiObject
}

interface AccountTokenCounters {
  legacy: number
  stale: number
  valid: number
}

export interface AccountTokenOptions {
  readonly identity: Identity
  readonly issuers: readonly string[]
  readonly keys: readonly VerifyingKey[]
  readonly audiences: readonly string[]
  /** `--service-account-lookup`: legacy tokens are valid only while their Secret and ServiceAccount exist. */
  readonly lookup: boolean
  readonly objects: TokenObjects
  readonly counters?: AccountTokenCounters
}

export interface SignedToken {
  readonly token: PresentedToken
  readonly claims: Claims
  readonly isLegacy: boolean
}

export const refuse = (...problems: readonly string[]): Refused => ({ problems })

export function accountUser(identity: Identity, { namespace, serviceaccount, pod }: AccountClaims): User {
  return {
    name: accountName(namespace, serviceaccount.name),
    uid: serviceaccount.uid,
    groups: [...accountGroups(namespace), authenticatedGroup],
    extra:
      pod === undefined
        ? {}
        : { [identity.label('pod-name', 'authentication')]: [pod.name], [identity.label('pod-uid', 'authentication')]: [pod.uid] },
  }
}

export interface TokenObject {
  readonly resource: TokenResource
  readonly namespace: string
  readonly name: string
}

/** The returned function reports the problem with an object, or `missing` if there is none. A valid object is decoded once per revision. */
export function objectCheck(
  objects: TokenObjects,
  { resource, namespace, name }: TokenObject,
  { missing, check }: { readonly missing: string; readonly check: (object: ApiObject, now: number) => string | undefined },
): (now: number) => string | undefined {
  let validRevision = -1
  return (now) => {
    const stored = objects.find(resource, namespace, name)
    if (stored === undefined) return missing
    if (stored.revision === validRevision) return undefined
    const object = objects.decode(resource, stored)
    const problem = check(object, now)
    // An object with a deletionTimestamp becomes invalid later, without a new revision.
    if (problem === undefined && object.metadata?.deletionTimestamp === undefined) validRevision = stored.revision
    return problem
  }
}

type RequiredClaims = readonly [value: string, problem: string][]

export function checkLegacyToken(options: AccountTokenOptions, { token, claims }: SignedToken): AuthenticatedToken | Refused {
  const legacy = readLegacyClaims(options.identity, claims)
  const { namespace, secret, account } = legacy
  const subject = typeof claims['sub'] === 'string' ? claims['sub'] : ''
  const required: RequiredClaims = [
    [subject, 'sub claim is missing'],
    [namespace, 'namespace claim is missing'],
    [secret, 'secretName claim is missing'],
    [account.name, 'serviceAccountName claim is missing'],
    [account.uid, 'serviceAccountUID claim is missing'],
  ]
  const missing = required.find(([value]) => value === '')
  if (missing !== undefined) return refuse(missing[1])
  if (subject !== accountName(namespace, account.name)) return refuse('sub claim is invalid')
  const user = accountUser(options.identity, { namespace, serviceaccount: account })
  if (!options.lookup) return { user }
  const findProblem = secretAndAccountCheck(options, legacy, token.text)
  const problem = findProblem(token.now)
  return problem === undefined ? { user, isValid: (now) => findProblem(now) === undefined } : refuse(problem)
}

function secretAndAccountCheck(
  { objects }: AccountTokenOptions,
  { namespace, secret, account }: LegacyClaims,
  token: string,
): (now: number) => string | undefined {
  const encodedToken = Buffer.from(token).toString('base64')
  const secretProblem = objectCheck(
    objects,
    { resource: 'secrets', namespace, name: secret },
    {
      missing: 'Token has been invalidated',
      check: (object) => {
        if (object.metadata?.deletionTimestamp !== undefined) return 'Token has been invalidated'
        const { data } = object as { readonly data?: { readonly token?: string } }
        return data?.token === encodedToken ? undefined : "Token does not match server's copy"
      },
    },
  )
  const accountProblem = objectCheck(
    objects,
    { resource: 'serviceaccounts', namespace, name: account.name },
    {
      missing: `serviceaccounts ${JSON.stringify(account.name)} not found`,
      check: ({ metadata }) => {
        if (metadata?.deletionTimestamp !== undefined) return `ServiceAccount ${namespace}/${account.name} has been deleted`
        return metadata?.uid === account.uid ? undefined : `ServiceAccount UID (${metadata?.uid}) does not match claim (${account.uid})`
      },
    },
  )
  return (now) => secretProblem(now) ?? accountProblem(now)
}
