// What the two kinds that keep a number of pods have in common, the old and the new one: their status and their columns.

import type { Column } from '../../api/definition.js'
import type { FieldError } from '../../api/field-error.js'
import { joined } from '../../api/validation/collect.js'
import { checkCounts, checkParts } from './replica-counts.js'
import type { ReplicationControllerStatus } from './v1.schema.js'
import { countColumn } from './workload-columns.js'

export const validateReplicaStatus = (status: ReplicationControllerStatus): readonly FieldError[] =>
  joined(
    checkCounts(status, ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration']),
    checkParts(status, [
      { name: 'fullyLabeledReplicas', of: 'replicas', shown: 'status.replicas' },
      { name: 'readyReplicas', of: 'replicas', shown: 'status.replicas' },
      { name: 'availableReplicas', of: 'replicas', shown: 'status.replicas' },
      { name: 'availableReplicas', of: 'readyReplicas', shown: 'readyReplicas' },
    ]),
  )

export const replicaColumns: readonly Column[] = [
  countColumn('Desired', 'How many pods there shall be.'),
  countColumn('Current', 'How many pods there are.'),
  countColumn('Ready', 'How many pods are ready.'),
]

interface Replicated {
  readonly spec?: { readonly replicas?: number }
  readonly status?: ReplicationControllerStatus
}

export const replicaCounts = ({ spec, status }: Replicated): readonly number[] => [
  spec?.replicas ?? 0,
  status?.replicas ?? 0,
  status?.readyReplicas ?? 0,
]
