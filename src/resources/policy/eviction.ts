// Evictions: wishes that a pod go, unless its disruption budget has none to spare. A subresource of pods.

import { defineAction } from '../../api/define-special.js'
import { eviction as schema } from './v1.schema.js'

export const evictionSubresource = defineAction({
  name: 'eviction',
  action: 'evict',
  body: { kind: 'Eviction', group: 'policy', version: 'v1', alsoVersions: ['v1beta1'], schema },
})
