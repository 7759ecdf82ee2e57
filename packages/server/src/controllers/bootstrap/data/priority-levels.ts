// Default PriorityLevelConfigurations.

import type { PriorityLevelConfigurationSpec as OlderLevel } from '@cluster-apiserver/api/resources/flowcontrol-apiserver/v1beta2.schema.js'
import type { PriorityLevelConfigurationSpec } from '@cluster-apiserver/api/resources/flowcontrol-apiserver/v1beta3.schema.js'

const queuedLevel = (shares: number, lendablePercent: number, queuing: NonNullable<Queuing>): PriorityLevelConfigurationSpec => ({
  type: 'Limited',
  limited: { nominalConcurrencyShares: shares, limitResponse: { type: 'Queue', queuing }, lendablePercent },
})

type Queuing = NonNullable<NonNullable<OlderLevel['limited']>['limitResponse']>['queuing']

const queuingOf = (count: number, handSize: number): NonNullable<Queuing> => ({ queues: count, handSize, queueLengthLimit: 50 })

export const priorityLevels: readonly (readonly [string, PriorityLevelConfigurationSpec])[] = [
  ['exempt', { type: 'Exempt' }],
  ['catch-all', { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 } }],
  ['global-default', queuedLevel(20, 50, queuingOf(128, 6))],
  ['leader-election', queuedLevel(10, 0, queuingOf(16, 4))],
  ['node-high', queuedLevel(40, 25, queuingOf(64, 6))],
  ['system', queuedLevel(30, 33, queuingOf(64, 6))],
  ['workload-high', queuedLevel(40, 50, queuingOf(128, 6))],
  ['workload-low', queuedLevel(100, 90, queuingOf(128, 6))],
]
