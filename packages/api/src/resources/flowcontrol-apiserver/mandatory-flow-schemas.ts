// The flow schemas and priority levels without which requests would have no place to go: they are always there, and always these.

import { authenticatedGroup, mastersGroup } from '../../api/user.js'
import type { FlowSchemaSpec, PolicyRulesWithSubjects, PriorityLevelConfigurationSpec } from './v1beta2.schema.js'

const everythingOf = (...groups: readonly string[]): PolicyRulesWithSubjects => ({
  subjects: groups.map((name) => ({ kind: 'Group', group: { name } })),
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
})

export const mandatoryFlowSchemas: ReadonlyMap<string, FlowSchemaSpec> = new Map([
  ['exempt', { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 1, rules: [everythingOf(mastersGroup)] }],
  [
    'catch-all',
    {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: 10000,
      distinguisherMethod: { type: 'ByUser' },
      rules: [everythingOf('system:unauthenticated', authenticatedGroup)],
    },
  ],
])

export const mandatoryPriorityLevels: ReadonlyMap<string, PriorityLevelConfigurationSpec> = new Map([
  ['exempt', { type: 'Exempt' }],
  ['catch-all', { type: 'Limited', limited: { assuredConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 } }],
])
