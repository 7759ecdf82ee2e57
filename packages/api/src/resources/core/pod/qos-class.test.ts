// Tests of QoS classes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { container } from '../pod-spec/pod-spec.fixture.js'
import type { ResourceRequirements } from '../v1.schema.js'
import { qosClassOf } from './qos-class.js'

const qos: readonly (readonly [title: string, resources: readonly ResourceRequirements[], expected: string])[] = [
  ['no requests and limits', [{}], 'BestEffort'],
  ['zero cpu and extended resources', [{ requests: { cpu: '0', 'example.com/x': '1' } }], 'BestEffort'],
  ['equal requests and limits', [{ requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1000m', memory: '1024Mi' } }], 'Guaranteed'],
  ['equal requests and limits for cpu only', [{ requests: { cpu: '1' }, limits: { cpu: '1' } }], 'Burstable'],
  ['limits in one of two containers', [{ requests: { cpu: '1', memory: '1' }, limits: { cpu: '1', memory: '1' } }, {}], 'Burstable'],
]
for (const [title, resources, expected] of qos) {
  test(`a pod with ${title} is ${expected}`, () =>
    assert.equal(qosClassOf({ containers: resources.map((resource, i) => container({ name: `c${i}`, resources: resource })) }), expected))
}
