// How pods are treated, by what they ask for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { container } from '../pod-spec/pod-spec.fixture.js'
import type { ResourceRequirements } from '../v1.schema.js'
import { qosClassOf } from './qos-class.js'

const qos: readonly { readonly title: string; readonly resources: readonly ResourceRequirements[]; readonly wanted: string }[] = [
  { title: 'nothing', resources: [{}], wanted: 'BestEffort' },
  { title: 'zeros and other things', resources: [{ requests: { cpu: '0', 'example.com/x': '1' } }], wanted: 'BestEffort' },
  {
    title: 'equal amounts',
    resources: [{ requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1000m', memory: '1024Mi' } }],
    wanted: 'Guaranteed',
  },
  { title: 'half of the amounts', resources: [{ requests: { cpu: '1' }, limits: { cpu: '1' } }], wanted: 'Burstable' },
  {
    title: 'equal amounts in one container only',
    resources: [{ requests: { cpu: '1', memory: '1' }, limits: { cpu: '1', memory: '1' } }, {}],
    wanted: 'Burstable',
  },
]
for (const { title, resources, wanted } of qos) {
  test(`a pod that asks for ${title} is ${wanted}`, () =>
    assert.equal(qosClassOf({ containers: resources.map((resource, i) => container({ name: `c${i}`, resources: resource })) }), wanted))
}
