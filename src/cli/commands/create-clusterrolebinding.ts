// Binds a cluster role.

import { bindingFlags, createBinding } from '../bindings.js'
import { defineCommand } from '../command.js'
import { needed } from '../create-one.js'

export const command = defineCommand({
  usage: 'create clusterrolebinding NAME --clusterrole=NAME [--user=…] [--group=…] [--serviceaccount=NAMESPACE:NAME]',
  about: 'bind a cluster role',
  examples: ['create clusterrolebinding devs --clusterrole=view --group=dev'],
  flags: bindingFlags,
  run: async (work) =>
    createBinding('ClusterRoleBinding', { kind: 'ClusterRole', name: needed('clusterrole', work.flags.clusterrole) }, work),
})
