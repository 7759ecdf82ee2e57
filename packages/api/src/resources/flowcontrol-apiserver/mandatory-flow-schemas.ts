// Mandatory FlowSchemas and PriorityLevelConfigurations, whose specs cannot be changed: exempt and catch-all.

import { authenticatedGroup, mastersGroup } from '../../api/user.js'
import type { FlowSchemaSpec, PolicyRulesWithSubjects, PriorityLevelConfigurationSpec } from './v1beta2.schema.js'

const allRequestsOf = (...groups: readonly string[]): PolicyRulesWithSubjects => ({
  subjects: groups.map((name) => ({ kind: 'Group', group: { name } })),
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
})

export const mandatoryFlowSchemas: ReadonlyMap<string, FlowSchemaSpec> = new Map([
  ['exempt', { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 1, rules: [allRequestsOf(mastersGroup)] }],
  [
    'catch-all',
    {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: 10000,
      distinguisherMethod: { type: 'ByUser' },
      rules: [allRequestsOf('system:unauthenticated', authenticatedGroup)],
    },
  ],
])

export const mandatoryPriorityLevels: ReadonlyMap<string, PriorityLevelConfigurationSpec> = new Map([
  ['exempt', { type: 'Exempt' }],
  ['catch-all', { type: 'Limited', limited: { assuredConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 } }],
])
