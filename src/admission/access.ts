// How plugins ask whether somebody may do something else than what they are about to do.

import type { User } from '../api/user.js'
import { type AccessAttributes, type Authorizer, authorizeWith, type Decision } from '../auth/authorize.js'

/** A right on a resource; what is left out is empty. */
export type Right = Pick<AccessAttributes, 'verb' | 'resource'> &
  Partial<Pick<AccessAttributes, 'group' | 'version' | 'namespace' | 'subresource' | 'name'>>

export type AskAccess = (user: User, right: Right) => Decision | Promise<Decision>

export const askWith =
  (authorizers: readonly Authorizer[]): AskAccess =>
  (user, right) =>
    authorizeWith(authorizers, {
      user,
      info: { isResource: true, group: '', version: '', namespace: '', subresource: '', name: '', path: '', ...right },
    })
