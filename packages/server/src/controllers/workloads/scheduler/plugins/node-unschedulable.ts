// NodeUnschedulable: cordoned nodes, unless the pod tolerates their taint.

import { tolerates } from '../../kit/tolerations.js'
import { type NodePlugin, refuseFinally } from './plugin.js'

const refusal = refuseFinally('node(s) were unschedulable')

export const nodeUnschedulable: NodePlugin = {
  name: 'NodeUnschedulable',
  prepare: ({ pod }, { identity }) => {
    const taint = { key: identity.label('unschedulable', 'node'), effect: 'NoSchedule' }
    if ((pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint))) return undefined
    return { filter: ({ facts }) => (facts.isUnschedulable ? refusal : undefined) }
  },
}
