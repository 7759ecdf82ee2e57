// ReplicaSet controller.

import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import type { ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Controller } from '../../leader-election/leader-election.js'
import type { WorkloadParts } from '../kit/workload-parts.js'
import { replicaController } from './replica-controller.js'

export const replicaSets = (parts: WorkloadParts): Controller =>
  replicaController<ReplicaSet>(parts, {
    name: 'replicaset',
    account: 'replicaset-controller',
    find: (catalog) => catalog.find('apps', 'v1', 'replicasets'),
    selectorOf: ({ spec }) => fromSelectorObject(spec?.selector),
  })
