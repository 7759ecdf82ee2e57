// Creates a role, of a namespace or of the whole cluster.

import { type Command, defineCommand } from '../command.js'
import { createFlags, createOne } from '../create-one.js'
import { UsageError } from '../flags.js'

const roleCommand = (kind: 'Role' | 'ClusterRole'): Command =>
  defineCommand({
    usage: `create ${kind.toLowerCase()} NAME --verb=VERB --resource=RESOURCE[.GROUP][/SUBRESOURCE]`,
    about: kind === 'Role' ? 'create a role' : 'create a cluster role',
    examples: [`create ${kind.toLowerCase()} readers --verb=get,list,watch --resource=pods,deployments.apps`],
    flags: {
      ...createFlags,
      verb: { kind: 'list', help: 'what may be done' },
      resource: { kind: 'list', help: 'with what' },
      'resource-name': { kind: 'texts', help: 'and with which ones of them' },
      'non-resource-url': { kind: 'list', help: 'paths that are no resources; of cluster roles' },
    },
    run: async (work) => {
      const { args, flags, session } = work
      const [name, ...more] = args
      if (name === undefined || more.length > 0) throw new UsageError(`exactly one NAME is required, got ${args.length}`)
      if (flags.verb.length === 0) throw new UsageError('at least one verb must be specified')
      const byGroup = new Map<string, string[]>()
      for (const text of flags.resource) {
        const [words = '', subresource] = text.split('/')
        const { group, resource } = words === '*' ? { group: '', resource: '*' } : await session.resources.find(words)
        byGroup.set(group, [...(byGroup.get(group) ?? []), subresource === undefined ? resource : `${resource}/${subresource}`])
      }
      const names = flags['resource-name'].length === 0 ? {} : { resourceNames: flags['resource-name'] }
      const rules = [
        ...[...byGroup].map(([group, resources]) => ({ apiGroups: [group], ...names, resources, verbs: flags.verb })),
        ...(flags['non-resource-url'].length === 0 ? [] : [{ nonResourceURLs: flags['non-resource-url'], verbs: flags.verb }]),
      ]
      if (rules.length === 0) throw new UsageError('at least one resource must be specified')
      const group = (await session.resources.identity()).group({ stem: 'rbac.authorization' })
      return createOne({ apiVersion: `${group}/v1`, kind, metadata: { name }, rules }, work)
    },
  })

export const role = roleCommand('Role')
export const clusterRole = roleCommand('ClusterRole')
