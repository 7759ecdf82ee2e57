// User impersonation: reads the Impersonate-* headers, lists the permissions they require, and builds the impersonated user.

import { ApiError, badRequest } from '@cluster-apiserver/api/api/api-error.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { anonymous, authenticatedGroup, type User } from '@cluster-apiserver/api/api/user.js'
import { decodeHeader, unescapeKey } from '@cluster-apiserver/api/base/text/header-encoding.js'
import type { AccessAttributes } from './authorize.js'
import { accountGroups, accountOf } from './service-account/service-account-claims.js'

interface Impersonation {
  readonly user: User
  readonly permissions: readonly AccessAttributes[]
}

const prefix = 'impersonate-'
const extraPrefix = 'impersonate-extra-'
const unauthenticatedGroup = 'system:unauthenticated'

const maxPermissions = 1000

interface ImpersonationHeaders {
  user: string
  uid: string
  readonly groups: string[]
  readonly extra: Map<string, string[]>
}

/** Takes raw headers, because values of repeated headers must stay separate. Returns undefined without Impersonate-* headers. */
export function readImpersonation(rawHeaders: readonly string[], identity: Identity): Impersonation | undefined {
  const headers = readHeaders(rawHeaders)
  const { user, uid, groups, extra } = headers
  if (user === '') {
    if (uid === '' && groups.length === 0 && extra.size === 0) return undefined
    throw badRequest('Impersonate-Group, Impersonate-Uid and Impersonate-Extra-* require Impersonate-User')
  }
  const permissions = permissionsFor(headers, identity)
  if (permissions.length > maxPermissions) throw badRequest(`at most ${maxPermissions} groups and extra values can be impersonated at once`)
  return { user: { name: user, uid, groups: groupsOf(headers), extra: Object.fromEntries(extra) }, permissions }
}

function readHeaders(rawHeaders: readonly string[]): ImpersonationHeaders {
  const headers: ImpersonationHeaders = { user: '', uid: '', groups: [], extra: new Map() }
  const seen = new Set<string>()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase()
    if (!name.startsWith(prefix)) continue
    const value = decodeHeader(rawHeaders[i + 1] as string)
    // Only the first Impersonate-User and Impersonate-Uid count.
    if (name === 'impersonate-user') headers.user = seen.has(name) ? headers.user : value
    else if (name === 'impersonate-uid') headers.uid = seen.has(name) ? headers.uid : value
    else if (name === 'impersonate-group') headers.groups.push(value)
    else if (name.startsWith(extraPrefix)) addExtra(headers.extra, unescapeKey(name.slice(extraPrefix.length)), value)
    // An unknown Impersonate-* header must not fall back to the caller's own permissions.
    else throw unknownHeader(name)
    seen.add(name)
  }
  return headers
}

function addExtra(extra: Map<string, string[]>, key: string, value: string): void {
  const values = extra.get(key)
  if (values === undefined) extra.set(key, [value])
  else values.push(value)
}

function unknownHeader(name: string): ApiError {
  const message = `forbidden: the header ${JSON.stringify(name)} is not a known impersonation header`
  return new ApiError({ code: 403, reason: 'Forbidden', message, details: {} })
}

function permissionsFor({ user, uid, groups, extra }: ImpersonationHeaders, identity: Identity): readonly AccessAttributes[] {
  const authenticationGroup = identity.group({ stem: 'authentication' })
  const account = accountOf(user)
  return [
    account === undefined
      ? impersonatePermission({ resource: 'users', name: user })
      : impersonatePermission({ resource: 'serviceaccounts', ...account }),
    ...groups.map((name) => impersonatePermission({ resource: 'groups', name })),
    ...[...extra].flatMap(([subresource, values]) =>
      values.map((name) => impersonatePermission({ group: authenticationGroup, version: 'v1', resource: 'userextras', subresource, name })),
    ),
    ...(uid === '' ? [] : [impersonatePermission({ group: authenticationGroup, version: 'v1', resource: 'uids', name: uid })]),
  ]
}

const impersonatePermission = (attributes: Partial<AccessAttributes>): AccessAttributes => ({
  isResource: true,
  verb: 'impersonate',
  group: '',
  version: attributes.resource === 'serviceaccounts' ? 'v1' : '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  path: '',
  ...attributes,
})

/** Requested groups, or else the default groups of a service account; adds `system:authenticated` or `system:unauthenticated`. */
function groupsOf({ user, groups }: ImpersonationHeaders): readonly string[] {
  const account = accountOf(user)
  const requestedGroups = groups.length === 0 && account !== undefined ? accountGroups(account.namespace) : groups
  if (user === anonymous.name)
    return requestedGroups.includes(unauthenticatedGroup) ? requestedGroups : [...requestedGroups, unauthenticatedGroup]
  return requestedGroups.includes(authenticatedGroup) || requestedGroups.includes(unauthenticatedGroup)
    ? requestedGroups
    : [...requestedGroups, authenticatedGroup]
}
