// Who is bound by a binding of roles, as flags say it.

import type { Identity } from '../api/identity.js'
import type { Work } from './command.js'
import { createFlags, createOne, nameIn } from './create-one.js'
import { type FlagTable, UsageError } from './flags.js'

export const bindingFlags = {
  ...createFlags,
  clusterrole: { kind: 'text', help: 'the cluster role that is bound' },
  user: { kind: 'texts', help: 'to these users' },
  group: { kind: 'texts', help: 'to these groups' },
  serviceaccount: { kind: 'texts', help: 'to these service accounts, as NAMESPACE:NAME' },
} as const satisfies FlagTable

export interface BoundRole {
  readonly kind: 'Role' | 'ClusterRole'
  readonly name: string
}

export async function createBinding(kind: string, role: BoundRole, work: Work<typeof bindingFlags>): Promise<number> {
  const identity = await work.session.resources.identity()
  const apiGroup = identity.group({ stem: 'rbac.authorization' })
  const subjects = subjectsOf(work.flags, identity)
  const object = { apiVersion: `${apiGroup}/v1`, kind, metadata: { name: nameIn(work.args) }, roleRef: { apiGroup, ...role }, subjects }
  return createOne(object, work)
}

interface Bound {
  readonly user: readonly string[]
  readonly group: readonly string[]
  readonly serviceaccount: readonly string[]
}

function subjectsOf({ user, group, serviceaccount }: Bound, identity: Identity): readonly object[] {
  const apiGroup = identity.group({ stem: 'rbac.authorization' })
  return [
    ...user.map((name) => ({ kind: 'User', apiGroup, name })),
    ...group.map((name) => ({ kind: 'Group', apiGroup, name })),
    ...serviceaccount.map((text) => {
      const [namespace, name, ...more] = text.split(':')
      if (!namespace || !name || more.length > 0) throw new UsageError('serviceaccount must be <namespace>:<name>')
      return { kind: 'ServiceAccount', namespace, name }
    }),
  ]
}
