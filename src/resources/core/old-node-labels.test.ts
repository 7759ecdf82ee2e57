// Warnings of labels that have got other names, for every kind that selects nodes by labels besides pods.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceDefinition } from '../../api/definition.js'
import type { ApiObject } from '../../api/object.js'
import { testContext } from '../../api/rule-context.fixture.js'
import { runtimeClass } from '../node/runtime-class.js'
import { csiStorageCapacity } from '../storage/csi-storage-capacity.js'
import { storageClass } from '../storage/storage-class.js'
import { persistentVolume } from './persistent-volume.js'
import { persistentVolumeClaim } from './persistent-volume-claim.js'

const context = testContext()
const [os, zone] = ['beta.cluster.io/os', 'failure-domain.beta.cluster.io/zone']
const [newOs, newZone] = [
  'deprecated since v1.14; use "cluster.io/os" instead',
  'deprecated since v1.17; use "topology.cluster.io/zone" instead',
]

const rows: readonly { readonly kind: ResourceDefinition; readonly object: object; readonly warnings: readonly string[] }[] = [
  {
    kind: persistentVolume,
    object: {
      spec: { nodeAffinity: { required: { nodeSelectorTerms: [{}, { matchExpressions: [{ key: 'fine' }, { key: os }] }] } } },
    },
    warnings: [`spec.nodeAffinity.required.nodeSelectorTerms[1].matchExpressions[1].key: ${os} is ${newOs}`],
  },
  {
    kind: storageClass,
    object: { allowedTopologies: [{ matchLabelExpressions: [{ key: zone }, { key: 'fine' }] }] },
    warnings: [`allowedTopologies[0].matchLabelExpressions[0].key: ${newZone}`],
  },
  {
    kind: runtimeClass,
    object: { scheduling: { nodeSelector: { fine: 'x', [os]: 'x' } } },
    warnings: [`scheduling.nodeSelector: ${newOs}`],
  },
  {
    kind: csiStorageCapacity,
    object: { nodeTopology: { matchLabels: { [os]: 'x' }, matchExpressions: [{ key: zone }] } },
    warnings: [`nodeTopology.matchExpressions[0].key: ${zone} is ${newZone}`, `nodeTopology.matchLabels.${os}: ${newOs}`],
  },
  {
    kind: persistentVolumeClaim,
    object: { spec: { resources: { requests: { storage: '1500m' } } } },
    warnings: ['spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer'],
  },
]
for (const { kind, object, warnings } of rows) {
  test(`${kind.kind} that works, but not for good`, () => {
    assert.deepEqual(kind.warnings?.(object as ApiObject, undefined, context), warnings)
    assert.deepEqual(kind.warnings?.({}, undefined, context), [])
  })
}
