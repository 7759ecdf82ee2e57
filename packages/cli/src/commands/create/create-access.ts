// `create role`, `clusterrole`, `rolebinding`, `clusterrolebinding`, `serviceaccount`.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { type CommandContext, defineCommand } from '../../command-line/command.js'
import { type FlagTable, UsageError } from '../../command-line/flags.js'
import { createAndPrint, createFlags, nameArgument, parsePairs, requireFlag } from '../../objects/create-object.js'

const ruleFlags = {
  ...createFlags,
  verb: { kind: 'list', help: 'verbs of the rule' },
  resource: { kind: 'list', help: 'resources of the rule' },
  'resource-name': { kind: 'texts', help: 'names of objects; default: all' },
} as const satisfies FlagTable

const bindingFlags = {
  ...createFlags,
  clusterrole: { kind: 'text', help: 'cluster role to bind' },
  user: { kind: 'texts', help: 'users to bind the role to' },
  group: { kind: 'texts', help: 'groups to bind the role to' },
  serviceaccount: { kind: 'texts', help: 'service accounts to bind the role to: NAMESPACE:NAME' },
} as const satisfies FlagTable

export const createRole = defineCommand({
  usage: 'create role NAME --verb=VERB --resource=RESOURCE[.GROUP][/SUBRESOURCE] [--resource-name=NAME]',
  examples: ['create role readers --verb=get,list,watch --resource=pods,deployments.apps'],
  flags: ruleFlags,
  run: async (context) => {
    const name = nameArgument(context.args)
    const rules = await rulesOf(context)
    if (rules.length === 0) throw new UsageError('at least one resource must be specified')
    const group = (await context.session.resources.identity()).group({ stem: 'rbac.authorization' })
    return createAndPrint({ apiVersion: `${group}/v1`, kind: 'Role', metadata: { name }, rules }, context)
  },
})

export const createClusterRole = defineCommand({
  usage:
    'create clusterrole NAME (--verb=VERB (--resource=RESOURCE[.GROUP][/SUBRESOURCE] | --non-resource-url=PATH) | --aggregation-rule=LABEL=VALUE)',
  examples: [
    'create clusterrole readers --verb=get,list,watch --resource=pods,deployments.apps',
    'create clusterrole of-shops --aggregation-rule=example.com/aggregate-to-shops=true',
  ],
  flags: {
    ...ruleFlags,
    'non-resource-url': { kind: 'list', help: 'non-resource paths of the rule' },
    'aggregation-rule': { kind: 'list', help: 'labels of cluster roles to aggregate: a=b' },
  },
  run: async (context) => {
    const { flags, args, session } = context
    const name = nameArgument(args)
    const { 'aggregation-rule': labels, 'non-resource-url': paths } = flags
    const invalidPath = paths.find((path) => path !== '*' && !path.startsWith('/'))
    if (invalidPath !== undefined) throw new UsageError(`nonResourceURL should start with /, not "${invalidPath}"`)
    const group = (await session.resources.identity()).group({ stem: 'rbac.authorization' })
    const role = { apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata: { name } }
    if (labels.length > 0) {
      if ([paths, flags.verb, flags.resource, flags['resource-name']].some((values) => values.length > 0))
        throw new UsageError('aggregation rule must be specified without nonResourceURLs, verbs, resources or resourceNames')
      const aggregationRule = { clusterRoleSelectors: [{ matchLabels: parsePairs('aggregation-rule', labels) }] }
      return createAndPrint({ ...role, aggregationRule, rules: [] }, context)
    }
    const rules = [...(await rulesOf(context)), ...(paths.length === 0 ? [] : [{ nonResourceURLs: paths, verbs: verbsOf(flags.verb) }])]
    if (rules.length === 0) throw new UsageError('one of resource or nonResourceURL must be specified')
    return createAndPrint({ ...role, rules }, context)
  },
})

export const createRoleBinding = defineCommand({
  usage: 'create rolebinding NAME (--clusterrole=NAME | --role=NAME) [--user=…] [--group=…] [--serviceaccount=NAMESPACE:NAME]',
  examples: ['create rolebinding devs --clusterrole=view --group=dev'],
  flags: { ...bindingFlags, role: { kind: 'text', help: 'role to bind' } },
  run: async (context) => {
    const { clusterrole, role } = context.flags
    if ((clusterrole === undefined) === (role === undefined)) throw new UsageError('exactly one of clusterrole or role must be specified')
    const boundRole = role === undefined ? { kind: 'ClusterRole', name: clusterrole ?? '' } : { kind: 'Role', name: role }
    return createBinding('RoleBinding', boundRole as Parameters<typeof createBinding>[1], context)
  },
})

export const createClusterRoleBinding = defineCommand({
  usage: 'create clusterrolebinding NAME --clusterrole=NAME [--user=…] [--group=…] [--serviceaccount=NAMESPACE:NAME]',
  examples: ['create clusterrolebinding devs --clusterrole=view --group=dev'],
  flags: bindingFlags,
  run: async (context) =>
    createBinding('ClusterRoleBinding', { kind: 'ClusterRole', name: requireFlag('clusterrole', context.flags.clusterrole) }, context),
})

export const createServiceAccount = defineCommand({
  usage: 'create serviceaccount NAME',
  flags: createFlags,
  run: async (context) => {
    const name = nameArgument(context.args)
    return createAndPrint({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } }, context)
  },
})

const standardVerbs = 'get list watch create update patch delete deletecollection use bind impersonate escalate approve sign * proxy'.split(
  ' ',
)

async function rulesOf({ flags, session, io }: CommandContext<typeof ruleFlags>): Promise<readonly object[]> {
  const verbs = verbsOf(flags.verb)
  if (flags.resource.length === 0 && flags['resource-name'].length > 0) throw new UsageError('at least one resource must be specified')
  const byGroup = new Map<string, Set<string>>()
  for (const text of flags.resource) {
    const [resourceName = '', subresource] = text.split('/')
    const { group, resource } = resourceName === '*' ? { group: '', resource: '*' } : await session.resources.find(resourceName)
    byGroup.set(group, (byGroup.get(group) ?? new Set()).add(subresource === undefined ? resource : `${resource}/${subresource}`))
  }
  for (const verb of byGroup.size === 0 ? [] : verbs)
    if (!standardVerbs.includes(verb)) io.err(`${io.style.yellow('Warning:')} '${verb}' is not a standard resource verb\n`)
  const names = flags['resource-name'].length === 0 ? {} : { resourceNames: [...new Set(flags['resource-name'])] }
  return [...byGroup].map(([group, resources]) => ({ apiGroups: [group], ...names, resources: [...resources], verbs }))
}

function verbsOf(values: readonly string[]): readonly string[] {
  if (values.length === 0) throw new UsageError('at least one verb must be specified')
  return values.includes('*') ? ['*'] : [...new Set(values)]
}

interface BoundRole {
  readonly kind: 'Role' | 'ClusterRole'
  readonly name: string
}

async function createBinding(kind: string, role: BoundRole, context: CommandContext<typeof bindingFlags>): Promise<number> {
  const identity = await context.session.resources.identity()
  const apiGroup = identity.group({ stem: 'rbac.authorization' })
  const subjects = subjectsOf(context.flags, identity)
  const object = {
    apiVersion: `${apiGroup}/v1`,
    kind,
    metadata: { name: nameArgument(context.args) },
    roleRef: { apiGroup, ...role },
    subjects,
  }
  return createAndPrint(object, context)
}

interface SubjectFlags {
  readonly user: readonly string[]
  readonly group: readonly string[]
  readonly serviceaccount: readonly string[]
}

function subjectsOf({ user, group, serviceaccount }: SubjectFlags, identity: Identity): readonly object[] {
  const apiGroup = identity.group({ stem: 'rbac.authorization' })
  return [
    ...user.map((name) => ({ kind: 'User', apiGroup, name })),
    ...group.map((name) => ({ kind: 'Group', apiGroup, name })),
    ...serviceaccount.map((text) => {
      const [namespace, name, ...extraParts] = text.split(':')
      if (!namespace || !name || extraParts.length > 0) throw new UsageError('serviceaccount must be <namespace>:<name>')
      return { kind: 'ServiceAccount', namespace, name }
    }),
  ]
}
