// User: name, uid, groups and extra fields of the client of a request. Also the anonymous user and names of system groups.

export interface User {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: { readonly [key: string]: readonly string[] }
}

export const anonymous: User = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} }
export const mastersGroup = 'system:masters'
export const authenticatedGroup = 'system:authenticated'
