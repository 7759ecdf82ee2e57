// Templates of daemon pods, their nodes, and eligible nodes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { DaemonSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Node, PodSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { eligibilityOf, isUpdatedPod, nodeOfPod, templateForNode } from './daemon-pods.js'

const identity = identityOf('kubernetes')
const setOf = (spec: PodSpec, generation = '3'): DaemonSet => ({
  metadata: { name: 'agent', annotations: { 'deprecated.daemonset.template.generation': generation } },
  spec: { template: { metadata: { labels: { app: 'agent' } }, spec } },
})
const selectedBy = (key: string, ...values: readonly string[]) => ({
  requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values }] }] },
})

test('a pod is bound to its node by affinity, which keeps preferences', () => {
  const preferred = [{ weight: 1, preference: { matchExpressions: [{ key: 'k', operator: 'Exists' }] } }]
  const nodeAffinity = { ...selectedBy('zone', 'a'), preferredDuringSchedulingIgnoredDuringExecution: preferred }
  const template = templateForNode(identity, setOf({ affinity: { nodeAffinity } }), { hash: 'h', node: 'n1' })
  assert.deepEqual(template.spec?.affinity?.nodeAffinity, {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
    },
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
  })
  assert.equal(nodeOfPod(template), 'n1')
  assert.equal(nodeOfPod({ spec: { ...template.spec, nodeName: 'n2' } }), 'n2')
  assert.equal(nodeOfPod({ spec: {} }), undefined)
  assert.deepEqual(template.metadata?.labels, { app: 'agent', 'pod-template-generation': '3', 'controller-revision-hash': 'h' })
})

test('standard tolerations replace equal ones of the template', () => {
  const own = [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
    { key: 'x', operator: 'Exists' },
  ]
  const { spec } = templateForNode(identity, setOf({ tolerations: own, hostNetwork: true }), { hash: 'h', node: 'n' })
  assert.deepEqual(
    spec?.tolerations?.map(({ key, effect, tolerationSeconds }) => [key, effect, tolerationSeconds]),
    [
      ['node.kubernetes.io/not-ready', 'NoExecute', undefined],
      ['x', undefined, undefined],
      ['node.kubernetes.io/unreachable', 'NoExecute', undefined],
      ...['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable', 'network-unavailable'].map((name) => [
        `node.kubernetes.io/${name}`,
        'NoSchedule',
        undefined,
      ]),
    ],
  )
})

for (const { title, spec = {}, taints = [], expect } of [
  { title: 'a plain node', expect: [true, true] },
  { title: 'another node name', spec: { nodeName: 'other' }, expect: [false, false] },
  { title: 'the node name', spec: { nodeName: 'n' }, expect: [true, true] },
  { title: 'a node selector', spec: { nodeSelector: { zone: 'a' } }, expect: [true, true] },
  { title: 'another node selector', spec: { nodeSelector: { zone: 'b' } }, expect: [false, false] },
  { title: 'affinity', spec: { affinity: { nodeAffinity: selectedBy('zone', 'b', 'c') } }, expect: [false, false] },
  { title: 'a cordoned node', taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }], expect: [true, true] },
  { title: 'NoSchedule', taints: [{ key: 'k', effect: 'NoSchedule' }], expect: [false, true] },
  { title: 'NoExecute', taints: [{ key: 'k', effect: 'NoExecute' }], expect: [false, false] },
  { title: 'PreferNoSchedule', taints: [{ key: 'k', effect: 'PreferNoSchedule' }], expect: [true, true] },
  {
    title: 'a tolerated taint',
    spec: { tolerations: [{ key: 'k', operator: 'Exists' }] },
    taints: [{ key: 'k', effect: 'NoExecute' }],
    expect: [true, true],
  },
])
  test(`eligible: ${title}`, () => {
    const node: Node = { metadata: { name: 'n', labels: { zone: 'a' } }, spec: { taints } }
    const { shouldRun, shouldContinue } = eligibilityOf(identity, setOf(spec), node)
    assert.deepEqual([shouldRun, shouldContinue], expect)
  })

test('a pod is updated by hash or by template generation', () => {
  const podWith = (hash: string, generation: string) => ({
    metadata: { labels: { 'controller-revision-hash': hash, 'pod-template-generation': generation } },
  })
  assert.equal(isUpdatedPod(setOf({}), podWith('h', '1'), 'h'), true)
  assert.equal(isUpdatedPod(setOf({}), podWith('old', '3'), 'h'), true)
  assert.equal(isUpdatedPod(setOf({}), podWith('old', '2'), 'h'), false)
  assert.equal(isUpdatedPod(setOf({}, 'x'), podWith('old', 'x'), 'h'), false)
})
