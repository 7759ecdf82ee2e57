// ReplicationController controller: like that of ReplicaSets, with a selector of labels only.

import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import type { ReplicationController } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { Controller } from '../../leader-election/leader-election.js'
import type { WorkloadParts } from '../kit/workload-parts.js'
import { replicaController } from './replica-controller.js'

export const replicationControllers = (parts: WorkloadParts): Controller =>
  replicaController<ReplicationController>(parts, {
    name: 'replicationmanager',
    account: 'replication-controller',
    find: (catalog) => catalog.find('', 'v1', 'replicationcontrollers'),
    selectorOf: ({ spec }) => fromSelectorObject(spec?.selector && { matchLabels: spec.selector }),
  })
