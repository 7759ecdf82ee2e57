// Who sent a request, as authentication found out.

export interface User {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: { readonly [key: string]: readonly string[] }
}

export const anonymous: User = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} }
export const mastersGroup = 'system:masters'
export const authenticatedGroup = 'system:authenticated'
