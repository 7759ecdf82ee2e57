// Creates a role binding, of a namespace or of the whole cluster.

import { type Command, defineCommand } from '../command.js'
import { createFlags, createOne } from '../create-one.js'
import { UsageError } from '../flags.js'

const bindingCommand = (kind: 'RoleBinding' | 'ClusterRoleBinding'): Command =>
  defineCommand({
    usage: `create ${kind.toLowerCase()} NAME --clusterrole=NAME${kind === 'RoleBinding' ? '|--role=NAME' : ''} [--user=…] [--group=…] [--serviceaccount=NAMESPACE:NAME]`,
    about: kind === 'RoleBinding' ? 'bind a role in a namespace' : 'bind a cluster role',
    examples: [`create ${kind.toLowerCase()} devs --clusterrole=view --group=dev`],
    flags: {
      ...createFlags,
      clusterrole: { kind: 'text', help: 'the cluster role that is bound' },
      role: { kind: 'text', help: 'the role that is bound' },
      user: { kind: 'texts', help: 'to these users' },
      group: { kind: 'texts', help: 'to these groups' },
      serviceaccount: { kind: 'texts', help: 'to these service accounts, as NAMESPACE:NAME' },
    },
    run: async (work) => {
      const { args, flags, session } = work
      const [name, ...more] = args
      if (name === undefined || more.length > 0) throw new UsageError(`exactly one NAME is required, got ${args.length}`)
      if ((flags.clusterrole === undefined) === (flags.role === undefined))
        throw new UsageError('exactly one of clusterrole or role must be specified')
      const apiGroup = (await session.resources.identity()).group({ stem: 'rbac.authorization' })
      const subjects = [
        ...(flags.user as unknown as readonly string[]).map((user) => ({ kind: 'User', apiGroup, name: user })),
        ...flags.group.map((group) => ({ kind: 'Group', apiGroup, name: group })),
        ...flags.serviceaccount.map((text) => {
          const [namespace, account] = text.split(':')
          if (!namespace || !account) throw new UsageError('serviceaccount must be <namespace>:<name>')
          return { kind: 'ServiceAccount', namespace, name: account }
        }),
      ]
      const roleRef = { apiGroup, kind: flags.role === undefined ? 'ClusterRole' : 'Role', name: flags.role ?? flags.clusterrole ?? '' }
      return createOne({ apiVersion: `${apiGroup}/v1`, kind, metadata: { name }, roleRef, subjects }, work as never)
    },
  })

export const roleBinding = bindingCommand('RoleBinding')
export const clusterRoleBinding = bindingCommand('ClusterRoleBinding')
