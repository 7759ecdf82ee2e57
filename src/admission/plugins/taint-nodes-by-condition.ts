// A new node takes no pods until somebody has found it ready.

import type { ApiObject } from '../../api/object.js'
import type { Plugin } from '../admission.js'

interface Node extends ApiObject {
  readonly spec?: { readonly taints?: readonly { readonly key?: string; readonly effect?: string }[] }
}

export const taintNodesByCondition: Plugin = {
  name: 'TaintNodesByCondition',
  collections: ['nodes'],
  mutate: ({ operation, resource, subresource, object, identity }) => {
    if (resource.collection !== 'nodes' || operation !== 'CREATE' || subresource !== '' || object === undefined) return object
    const taint = { key: identity.label('not-ready', 'node'), effect: 'NoSchedule' }
    const { spec } = object as Node
    const present = spec?.taints ?? []
    if (present.some(({ key, effect }) => key === taint.key && effect === taint.effect)) return object
    return { ...object, spec: { ...spec, taints: [...present, taint] } } as ApiObject
  },
}
