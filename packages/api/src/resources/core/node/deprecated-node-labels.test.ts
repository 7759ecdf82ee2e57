// Tests of warnings about deprecated node labels and fractional bytes in kinds other than pods.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceDefinition } from '../../../api/definition/resource-definition.js'
import type { ApiObject } from '../../../api/object.js'
import { testContext } from '../../../api/rule-context.fixture.js'
import { runtimeClass } from '../../node/runtime-class.js'
import { csiStorageCapacity } from '../../storage/csi.js'
import { storageClass } from '../../storage/storage-class.js'
import { persistentVolume } from '../persistent-volume/persistent-volume.js'
import { persistentVolumeClaim } from '../persistent-volume/persistent-volume-claim.js'

const context = testContext()
const [os, zone] = ['beta.cluster.io/os', 'failure-domain.beta.cluster.io/zone']
const [newOs, newZone] = [
  'deprecated since v1.14; use "cluster.io/os" instead',
  'deprecated since v1.17; use "topology.cluster.io/zone" instead',
]

const rows: readonly (readonly [kind: ResourceDefinition, object: object, warnings: readonly string[]])[] = [
  [
    persistentVolume,
    { spec: { nodeAffinity: { required: { nodeSelectorTerms: [{}, { matchExpressions: [{ key: 'fine' }, { key: os }] }] } } } },
    [`spec.nodeAffinity.required.nodeSelectorTerms[1].matchExpressions[1].key: ${os} is ${newOs}`],
  ],
  [
    storageClass,
    { allowedTopologies: [{ matchLabelExpressions: [{ key: zone }, { key: 'fine' }] }] },
    [`allowedTopologies[0].matchLabelExpressions[0].key: ${newZone}`],
  ],
  [runtimeClass, { scheduling: { nodeSelector: { fine: 'x', [os]: 'x' } } }, [`scheduling.nodeSelector: ${newOs}`]],
  [
    csiStorageCapacity,
    { nodeTopology: { matchLabels: { [os]: 'x' }, matchExpressions: [{ key: zone }] } },
    [`nodeTopology.matchExpressions[0].key: ${zone} is ${newZone}`, `nodeTopology.matchLabels.${os}: ${newOs}`],
  ],
  [
    persistentVolumeClaim,
    { spec: { resources: { requests: { storage: '1500m' } } } },
    ['spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer'],
  ],
]
for (const [kind, object, warnings] of rows) {
  test(`${kind.kind} gets the warning ${warnings[0]}`, () => {
    assert.deepEqual(kind.warnings?.(object as ApiObject, undefined, context), warnings)
    assert.deepEqual(kind.warnings?.({}, undefined, context), [])
  })
}
