// Acting as somebody else: what the headers of a request ask for, which rights that needs, each by itself, and who it makes of the caller.

import { ApiError, badRequest } from '../api/api-error.js'
import type { Identity } from '../api/identity.js'
import { anonymous, authenticatedGroup, type User } from '../api/user.js'
import { decodeHeader } from '../base/header-text.js'
import type { AccessAttributes } from './authorize.js'
import { accountGroups, accountOf } from './service-account-name.js'

export interface Impersonation {
  /** Whom the caller wants to be. */
  readonly user: User
  /** What the caller must be allowed, all of it. */
  readonly rights: readonly AccessAttributes[]
}

const prefix = 'impersonate-'
const extraPrefix = 'impersonate-extra-'
const unauthenticatedGroup = 'system:unauthenticated'

/** Beyond so many groups and values nobody is asked. */
const mostRights = 1000

interface Wishes {
  user: string
  uid: string
  readonly groups: string[]
  readonly extra: Map<string, string[]>
}

/** What is asked for by pairs of names and values as they came: values of one header are told apart so. Undefined: nothing. */
export function impersonationOf(rawHeaders: readonly string[], identity: Identity): Impersonation | undefined {
  const wishes = wishesOf(rawHeaders)
  const { user, uid, groups, extra } = wishes
  if (user === '') {
    if (uid === '' && groups.length === 0 && extra.size === 0) return undefined
    throw badRequest('a group, uid or extra field of somebody else can only be had together with their name: Impersonate-User is missing')
  }
  const rights = rightsFor(wishes, identity)
  if (rights.length > mostRights) throw badRequest(`at most ${mostRights} groups and extra values can be impersonated at once`)
  return { user: { name: user, uid, groups: groupsOf(wishes), extra: Object.fromEntries(extra) }, rights }
}

function wishesOf(rawHeaders: readonly string[]): Wishes {
  const wishes: Wishes = { user: '', uid: '', groups: [], extra: new Map() }
  const seen = new Set<string>()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase()
    if (!name.startsWith(prefix)) continue
    const value = decodeHeader(rawHeaders[i + 1] as string)
    // Of a name or uid that is given twice the first counts.
    if (name === 'impersonate-user') wishes.user = seen.has(name) ? wishes.user : value
    else if (name === 'impersonate-uid') wishes.uid = seen.has(name) ? wishes.uid : value
    else if (name === 'impersonate-group') wishes.groups.push(value)
    else if (name.startsWith(extraPrefix)) addExtra(wishes.extra, unescapeKey(name.slice(extraPrefix.length)), value)
    // Whoever asks for fewer rights in words that are not understood must not be given all of their own.
    else throw unknownHeader(name)
    seen.add(name)
  }
  return wishes
}

function addExtra(extra: Map<string, string[]>, key: string, value: string): void {
  const values = extra.get(key)
  if (values === undefined) extra.set(key, [value])
  else values.push(value)
}

function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

function unknownHeader(name: string): ApiError {
  const message = `forbidden: the header ${JSON.stringify(name)} asks for an impersonation that this server does not know`
  return new ApiError({ code: 403, reason: 'Forbidden', message, details: {} })
}

function rightsFor({ user, uid, groups, extra }: Wishes, identity: Identity): readonly AccessAttributes[] {
  const authentication = identity.group({ stem: 'authentication' })
  const account = accountOf(user)
  return [
    account === undefined ? right({ resource: 'users', name: user }) : right({ resource: 'serviceaccounts', ...account }),
    ...groups.map((name) => right({ resource: 'groups', name })),
    ...[...extra].flatMap(([subresource, values]) =>
      values.map((name) => right({ group: authentication, version: 'v1', resource: 'userextras', subresource, name })),
    ),
    ...(uid === '' ? [] : [right({ group: authentication, version: 'v1', resource: 'uids', name: uid })]),
  ]
}

const right = (on: Partial<AccessAttributes>): AccessAttributes => ({
  isResource: true,
  verb: 'impersonate',
  group: '',
  version: on.resource === 'serviceaccounts' ? 'v1' : '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  path: '',
  ...on,
})

/** Groups that were named are all there are, but for the one that everybody has. */
function groupsOf({ user, groups }: Wishes): readonly string[] {
  const account = accountOf(user)
  const own = groups.length === 0 && account !== undefined ? accountGroups(account.namespace) : groups
  if (user === anonymous.name) return own.includes(unauthenticatedGroup) ? own : [...own, unauthenticatedGroup]
  return own.includes(authenticatedGroup) || own.includes(unauthenticatedGroup) ? own : [...own, authenticatedGroup]
}
