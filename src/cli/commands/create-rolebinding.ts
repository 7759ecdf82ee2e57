// Binds a role in a namespace.

import { bindingFlags, createBinding } from '../bindings.js'
import { defineCommand } from '../command.js'
import { UsageError } from '../flags.js'

export const command = defineCommand({
  usage: 'create rolebinding NAME (--clusterrole=NAME | --role=NAME) [--user=…] [--group=…] [--serviceaccount=NAMESPACE:NAME]',
  about: 'bind a role in a namespace',
  examples: ['create rolebinding devs --clusterrole=view --group=dev'],
  flags: { ...bindingFlags, role: { kind: 'text', help: 'the role that is bound' } },
  run: async (work) => {
    const { clusterrole, role } = work.flags
    if ((clusterrole === undefined) === (role === undefined)) throw new UsageError('exactly one of clusterrole or role must be specified')
    const bound = role === undefined ? { kind: 'ClusterRole', name: clusterrole ?? '' } : { kind: 'Role', name: role }
    return createBinding('RoleBinding', bound as Parameters<typeof createBinding>[1], work)
  },
})
