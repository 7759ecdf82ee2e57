// PriorityClasses that every cluster has.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { WantedObject } from '../ensure-objects.js'

const classes = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description: 'For pods without which the cluster does not work; they may move to another node.',
  },
  { name: 'system-node-critical', value: 2_000_001_000, description: 'For pods without which their node does not work.' },
]

export const priorityClasses: readonly WantedObject[] = classes.map(({ name, ...rest }) => ({
  group: { stem: 'scheduling' },
  version: 'v1',
  resource: 'priorityclasses',
  object: { metadata: { name }, ...rest } as ApiObject,
}))
