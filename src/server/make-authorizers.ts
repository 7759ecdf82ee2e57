// Who is asked whether somebody may, in the order of `--authorization-mode`. Masters may before anybody is asked.

import type { Authorizer } from '../auth/authorize.js'
import { everybody, masters, nobody } from '../auth/fixed-authorizers.js'
import { rbacAuthorizer } from '../auth/rbac/rbac-authorizer.js'
import type { RbacIndex } from '../auth/rbac/rbac-index.js'
import type { AuthorizationMode, Settings } from './options/settings.js'

export function makeAuthorizers({ identity, authorizationModes }: Settings, rbac: RbacIndex): readonly Authorizer[] {
  const byMode: { readonly [Mode in AuthorizationMode]: () => readonly Authorizer[] } = {
    AlwaysAllow: () => [everybody],
    AlwaysDeny: () => [nobody],
    ABAC: () => [],
    Webhook: () => [],
    RBAC: () => [rbacAuthorizer(rbac, identity)],
    Node: () => [],
  }
  return [masters, ...authorizationModes.flatMap((mode) => byMode[mode]())]
}
