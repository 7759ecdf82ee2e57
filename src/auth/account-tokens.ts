// What the checks of both sorts of service account tokens share: the objects that tokens live and die with, and whom they stand for.

import type { Identity } from '../api/identity.js'
import type { ApiObject } from '../api/object.js'
import { authenticatedGroup, type User } from '../api/user.js'
import type { StoredObject } from '../objects/stored-object.js'
import type { Refused } from './authenticate.js'
import type { PresentedToken } from './bearer-tokens.js'
import type { Claims, VerifyingKey } from './jwt.js'
import type { AccountClaims } from './service-account-claims.js'
import { accountGroups, accountName } from './service-account-name.js'

export type TokenResource = 'serviceaccounts' | 'secrets' | 'pods'

/** Objects as they are stored now. */
export interface TokenObjects {
  find(resource: TokenResource, namespace: string, name: string): StoredObject | undefined
  decode(resource: TokenResource, stored: StoredObject): ApiObject
}

export interface AccountTokenCounters {
  legacy: number
  stale: number
  valid: number
}

export interface AccountTokenOptions {
  readonly identity: Identity
  readonly issuers: readonly string[]
  readonly keys: readonly VerifyingKey[]
  /** By which names this server is meant. */
  readonly audiences: readonly string[]
  /** Whether tokens of secrets die with their secret and account. */
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

export interface Watched {
  readonly resource: TokenResource
  readonly namespace: string
  readonly name: string
}

/** What is wrong with an object, where `gone` says that it is not there. One that was right and did not change is not read again. */
export function watched(
  objects: TokenObjects,
  { resource, namespace, name }: Watched,
  { gone, check }: { readonly gone: string; readonly check: (object: ApiObject, now: number) => string | undefined },
): (now: number) => string | undefined {
  let good = -1
  return (now) => {
    const stored = objects.find(resource, namespace, name)
    if (stored === undefined) return gone
    if (stored.revision === good) return undefined
    const object = objects.decode(resource, stored)
    const problem = check(object, now)
    // One that is being deleted is right for a while.
    if (problem === undefined && object.metadata?.deletionTimestamp === undefined) good = stored.revision
    return problem
  }
}
