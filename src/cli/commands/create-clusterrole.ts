// Creates a role of the whole cluster: from rules, or from what other roles with certain labels allow.

import { defineCommand } from '../command.js'
import { createOne, nameIn, pairsIn } from '../create-one.js'
import { UsageError } from '../flags.js'
import { ruleFlags, rulesOf, verbsOf } from '../role-rules.js'

export const command = defineCommand({
  usage:
    'create clusterrole NAME (--verb=VERB (--resource=RESOURCE[.GROUP][/SUBRESOURCE] | --non-resource-url=PATH) | --aggregation-rule=LABEL=VALUE)',
  about: 'create a cluster role',
  examples: [
    'create clusterrole readers --verb=get,list,watch --resource=pods,deployments.apps',
    'create clusterrole of-shops --aggregation-rule=example.com/aggregate-to-shops=true',
  ],
  flags: {
    ...ruleFlags,
    'non-resource-url': { kind: 'list', help: 'paths that are no resources' },
    'aggregation-rule': { kind: 'list', help: 'all that cluster roles with these labels allow: a=b' },
  },
  run: async (work) => {
    const { flags, args, session } = work
    const name = nameIn(args)
    const { 'aggregation-rule': labels, 'non-resource-url': paths } = flags
    const wrong = paths.find((path) => path !== '*' && !path.startsWith('/'))
    if (wrong !== undefined) throw new UsageError(`nonResourceURL should start with /, not "${wrong}"`)
    const group = (await session.resources.identity()).group({ stem: 'rbac.authorization' })
    const role = { apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata: { name } }
    if (labels.length > 0) {
      if ([paths, flags.verb, flags.resource, flags['resource-name']].some((given) => given.length > 0))
        throw new UsageError('aggregation rule must be specified without nonResourceURLs, verbs, resources or resourceNames')
      const aggregationRule = { clusterRoleSelectors: [{ matchLabels: pairsIn('aggregation-rule', labels) }] }
      return createOne({ ...role, aggregationRule, rules: [] }, work)
    }
    const rules = [...(await rulesOf(work)), ...(paths.length === 0 ? [] : [{ nonResourceURLs: paths, verbs: verbsOf(flags.verb) }])]
    if (rules.length === 0) throw new UsageError('one of resource or nonResourceURL must be specified')
    return createOne({ ...role, rules }, work)
  },
})
