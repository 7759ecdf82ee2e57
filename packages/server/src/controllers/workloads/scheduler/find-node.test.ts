// Tests of the choice of a node: one row per rule of a plugin.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { pendingOf, SpentBudget, type TestObjects, testCluster, testNode, testPod } from './cluster.fixture.js'
import { findNode, fitMessage } from './find-node.js'
import { interPodAffinity } from './plugins/inter-pod-affinity.js'

/** The node, or why there is none. */
async function outcome(pod: Pod, objects: TestObjects): Promise<string> {
  const { cluster, index } = testCluster(objects)
  const finding = await findNode(pendingOf(pod), cluster, index)
  if ('node' in finding) return finding.node.name
  return 'failure' in finding ? finding.failure : fitMessage(cluster.nodes.length, finding.diagnosis)
}

const term = (key: string, operator: string, ...values: string[]) => ({ key, operator, values })
const nodeTerms = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
})
const podTerm = (app: string, more: object = {}) => ({ topologyKey: 'zone', labelSelector: { matchLabels: { app } }, ...more })
const near = (...terms: object[]) => ({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } })
const apart = (...terms: object[]) => ({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } })
const spread = (more: object = {}) => ({
  labels: { app: 'x' },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app: 'x' } }, ...more },
  ],
})
const port = (hostPort: number, more: object = {}) => ({ hostPorts: [{ containerPort: 80, hostPort, ...more }] })
const on = (nodeName: string, more: object = {}) => ({ nodeName, ...more })
const volumeOf = (claimName: string) => ({ volumes: [{ name: 'd', persistentVolumeClaim: { claimName } }] })
const claim = (name: string, spec: object = {}, annotations: Record<string, string> = {}) => ({
  metadata: { name, namespace: 'n', uid: name, annotations },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
})
const bound = { 'pv.kubernetes.io/bind-completed': 'yes' }
const volume = (name: string, spec: object = {}, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, ...spec },
  status: { phase: 'Available' },
})
const onlyOn = (node: string) => ({
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [term('kubernetes.io/hostname', 'In', node)] }] } },
})
const waiting = { metadata: { name: 'wait' }, provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'WaitForFirstConsumer' }

const a = testNode('a', { labels: { zone: 'one', rank: '5' } })
const b = testNode('b', { labels: { zone: 'two', rank: '9' } })
const c = testNode('c')
const ab: TestObjects = { nodes: [a, b] }
const abc: TestObjects = { nodes: [a, b, c] }
const none = '0/2 nodes are available: '

const rows: readonly (readonly [string, Pod, TestObjects, string])[] = [
  ['requests fit', testPod('p', { requests: { cpu: '3' } }), { nodes: [testNode('a', { allocatable: { cpu: '2' } }), b] }, 'b'],
  [
    'each missing resource is a reason',
    testPod('p', { requests: { cpu: '5', memory: '9Gi', 'x.test/gpu': '1' } }),
    ab,
    `${none}2 Insufficient cpu, 2 Insufficient memory, 2 Insufficient x.test/gpu.`,
  ],
  [
    'a pod with any request does not fit on an overcommitted node',
    testPod('p', { requests: { memory: '1Gi' } }),
    { nodes: [a], pods: [testPod('x', on('a', { requests: { cpu: '5' } }))] },
    '0/1 nodes are available: 1 Insufficient cpu.',
  ],
  [
    'also if it requests 0 of an extended resource',
    testPod('p', { requests: { 'x.test/gpu': '0' } }),
    { nodes: [a], pods: [testPod('x', on('a', { requests: { cpu: '5' } }))] },
    '0/1 nodes are available: 1 Insufficient cpu.',
  ],
  [
    'a pod without requests fits there',
    testPod('p', { requests: { cpu: '0' } }),
    { nodes: [a], pods: [testPod('x', on('a', { requests: { cpu: '5' } }))] },
    'a',
  ],
  ['overhead counts', testPod('p', { requests: { cpu: '4' }, overhead: { cpu: '1m' } }), ab, `${none}2 Insufficient cpu.`],
  [
    'the largest init container counts',
    testPod('p', { initContainers: [{ name: 'i', resources: { requests: { cpu: '5' } } }] }),
    ab,
    `${none}2 Insufficient cpu.`,
  ],
  [
    'pods of a node take its resources; finished ones do not',
    testPod('p', { requests: { cpu: '4' } }),
    {
      ...ab,
      pods: [
        testPod('x', on('a', { requests: { cpu: '1' } })),
        { ...testPod('y', on('b', { requests: { cpu: '1' } })), status: { phase: 'Failed' } },
      ],
    },
    'b',
  ],
  ['number of pods', testPod('p'), { nodes: [testNode('a', { allocatable: { pods: '0' } })] }, '0/1 nodes are available: 1 Too many pods.'],
  ['nodeSelector', testPod('p', { nodeSelector: { zone: 'two' } }), abc, 'b'],
  ['greater than', testPod('p', nodeTerms({ matchExpressions: [term('rank', 'Gt', '6')] })), abc, 'b'],
  [
    'terms are alternatives',
    testPod('p', nodeTerms({ matchExpressions: [term('no', 'Exists')] }, { matchExpressions: [term('zone', 'DoesNotExist')] })),
    abc,
    'c',
  ],
  [
    'a node by name: the others are not judged',
    testPod('p', { ...nodeTerms({ matchFields: [term('metadata.name', 'In', 'a')] }), requests: { cpu: '9' } }),
    ab,
    `${none}1 Insufficient cpu.`,
  ],
  [
    'a missing node by name',
    testPod('p', nodeTerms({ matchFields: [term('metadata.name', 'In', 'gone')] })),
    ab,
    'nodeinfo not found for node name "gone"',
  ],
  [
    'conflicting names',
    testPod('p', nodeTerms({ matchFields: [term('metadata.name', 'In', 'a'), term('metadata.name', 'In', 'b')] })),
    ab,
    `${none}pod affinity terms conflict.`,
  ],
  [
    'taints and cordons',
    testPod('p', { tolerations: [{ key: 'k', operator: 'Equal', value: 'other' }] }),
    {
      nodes: [
        testNode('a', { spec: { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] } }),
        testNode('b', { spec: { unschedulable: true } }),
      ],
    },
    `${none}1 node(s) had untolerated taint {k: v}, 1 node(s) were unschedulable.`,
  ],
  [
    'a soft taint lowers the score',
    testPod('p'),
    { nodes: [testNode('a', { spec: { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] } }), b] },
    'b',
  ],
  [
    'host port',
    testPod('p', port(80, { hostIP: '127.0.0.1' })),
    { nodes: [a], pods: [testPod('x', on('a', port(80)))] },
    "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
  ],
  [
    'host port of another address',
    testPod('p', port(80, { hostIP: '127.0.0.1' })),
    { nodes: [a], pods: [testPod('x', on('a', port(80, { hostIP: '127.0.0.2' })))] },
    'a',
  ],
  ['affinity', testPod('p', near(podTerm('x'))), { ...abc, pods: [testPod('x', on('b', { labels: { app: 'x' } }))] }, 'b'],
  ['affinity to nobody', testPod('p', near(podTerm('x'))), ab, `${none}2 node(s) didn't match pod affinity rules.`],
  ['affinity to itself', testPod('p', { labels: { app: 'x' }, ...near(podTerm('x')) }), ab, 'a'],
  [
    'affinity in another namespace',
    testPod('p', near(podTerm('x'))),
    { ...ab, pods: [testPod('x', on('b', { namespace: 'other', labels: { app: 'x' } }))] },
    `${none}2 node(s) didn't match pod affinity rules.`,
  ],
  [
    'affinity with a selector of namespaces',
    testPod('p', near(podTerm('x', { namespaceSelector: { matchLabels: { team: 'other' } } }))),
    { ...ab, pods: [testPod('x', on('b', { namespace: 'other', labels: { app: 'x' } }))] },
    'b',
  ],
  ['anti-affinity', testPod('p', apart(podTerm('x'))), { ...ab, pods: [testPod('x', on('a', { labels: { app: 'x' } }))] }, 'b'],
  [
    'anti-affinity of placed pods',
    testPod('p', { labels: { app: 'x' }, nodeSelector: { zone: 'one' } }),
    { ...ab, pods: [testPod('y', on('a', apart(podTerm('x'))))] },
    `${none}1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't satisfy existing pods anti-affinity rules.`,
  ],
  ['spread', testPod('p', spread()), { ...ab, pods: [testPod('x', on('a', { labels: { app: 'x' } }))] }, 'b'],
  [
    'spread ignores terminating pods',
    testPod('p', { ...spread(), nodeSelector: { zone: 'one' } }),
    { ...ab, pods: [testPod('x', on('a', { labels: { app: 'x' }, isTerminating: true }))] },
    'a',
  ],
  [
    'spread beyond its bound, and nodes without the label',
    testPod('p', { ...spread({ nodeAffinityPolicy: 'Ignore' }), nodeSelector: { 'kubernetes.io/hostname': 'a' } }),
    { ...abc, pods: [testPod('x', on('a', { labels: { app: 'x' } }))] },
    "0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, 2 node(s) didn't match Pod's node affinity/selector.",
  ],
  [
    'spread with a missing label',
    testPod('p', spread()),
    { nodes: [c] },
    "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label).",
  ],
  [
    'default spread of a group',
    testPod('p', { labels: { app: 'x' } }),
    {
      ...ab,
      group: { app: 'x' },
      pods: [testPod('x', on('a', { labels: { app: 'x' } })), testPod('y', on('b', { requests: { cpu: '200m', memory: '400Mi' } }))],
    },
    'b',
  ],
  ['the image is there', testPod('p'), { nodes: [a, testNode('b', { images: [{ names: ['app:1'], sizeBytes: 900 << 20 }] })] }, 'b'],
  ['most left', testPod('p'), { ...ab, pods: [testPod('x', on('a', { requests: { cpu: '1', memory: '2Gi' } }))] }, 'b'],
  ['equal scores: by name', testPod('p'), { nodes: [b, a] }, 'a'],
  ['no claim', testPod('p', volumeOf('d')), ab, `${none}persistentvolumeclaim "d" not found.`],
  [
    'a claim that waits for nobody',
    testPod('p', volumeOf('d')),
    { ...ab, claims: [claim('d')] },
    `${none}pod has unbound immediate PersistentVolumeClaims.`,
  ],
  [
    'a bound volume of another node',
    testPod('p', volumeOf('d')),
    { ...ab, claims: [claim('d', { volumeName: 'v' }, bound)], volumes: [volume('v', onlyOn('b'))] },
    'b',
  ],
  [
    'a claim for the first consumer goes where a volume is',
    testPod('p', volumeOf('d')),
    {
      ...ab,
      classes: [waiting],
      claims: [claim('d', { storageClassName: 'wait' })],
      volumes: [volume('v', { storageClassName: 'wait', ...onlyOn('b') })],
    },
    'b',
  ],
  [
    'a terminating volume is not bound, even if it is reserved for the claim',
    testPod('p', volumeOf('d')),
    {
      ...ab,
      classes: [waiting],
      claims: [claim('d', { storageClassName: 'wait' })],
      volumes: [
        {
          ...volume('v', { storageClassName: 'wait', claimRef: { namespace: 'n', name: 'd' } }),
          metadata: { name: 'v', deletionTimestamp: '2026-01-01T00:00:00Z' },
        },
      ],
    },
    `${none}2 node(s) didn't find available persistent volumes to bind.`,
  ],
  [
    'no volume for the first consumer',
    testPod('p', volumeOf('d')),
    { ...ab, classes: [waiting], claims: [claim('d', { storageClassName: 'wait' })], volumes: [] },
    `${none}2 node(s) didn't find available persistent volumes to bind.`,
  ],
  [
    'a provisioner makes a volume on any node',
    testPod('p', volumeOf('d')),
    { ...ab, classes: [{ ...waiting, provisioner: 'x.test/p' }], claims: [claim('d', { storageClassName: 'wait' })] },
    'a',
  ],
  [
    'the zone of a volume',
    testPod('p', volumeOf('d')),
    {
      nodes: [
        testNode('a', { labels: { 'topology.kubernetes.io/zone': 'one' } }),
        testNode('b', { labels: { 'topology.kubernetes.io/zone': 'two' } }),
      ],
      claims: [claim('d', { volumeName: 'v' }, bound)],
      volumes: [volume('v', {}, { 'topology.kubernetes.io/zone': 'two' })],
    },
    'b',
  ],
  [
    'the limit of a CSI driver',
    testPod('p', volumeOf('d')),
    {
      nodes: [a],
      claims: [claim('d', { volumeName: 'v' }, bound), claim('e', { volumeName: 'w' }, bound)],
      volumes: [
        volume('v', { csi: { driver: 'x.test', volumeHandle: '1' } }),
        volume('w', { csi: { driver: 'x.test', volumeHandle: '2' } }),
      ],
      csiNodes: [{ metadata: { name: 'a' }, spec: { drivers: [{ name: 'x.test', nodeID: 'a', allocatable: { count: 1 } }] } }],
      pods: [testPod('x', on('a', volumeOf('e')))],
    },
    '0/1 nodes are available: 1 node(s) exceed max volume count.',
  ],
  [
    'a claim for one pod only',
    testPod('p', volumeOf('d')),
    {
      ...ab,
      gates: ['ReadWriteOncePod=true'],
      claims: [claim('d', { volumeName: 'v', accessModes: ['ReadWriteOncePod'] }, bound)],
      volumes: [volume('v')],
      pods: [testPod('x', on('a', volumeOf('d')))],
    },
    `${none}node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode.`,
  ],
  [
    'a disk that is in use',
    testPod('p', { volumes: [{ name: 'd', gcePersistentDisk: { pdName: 'disk' } }] }),
    { ...ab, pods: [testPod('x', on('a', { volumes: [{ name: 'd', gcePersistentDisk: { pdName: 'disk', readOnly: true } }] }))] },
    'b',
  ],
]

for (const [name, pod, objects, expected] of rows) test(name, async () => assert.equal(await outcome(pod, objects), expected))

test('a nominated pod keeps its place from pods of lower priority, and goes there itself', async () => {
  const { cluster, index } = testCluster({ nodes: [a, b], pods: [testPod('x', on('a', { requests: { cpu: '2' } }))] })
  const nominated = pendingOf(testPod('high', { priority: 10, requests: { cpu: '4' } }))
  index.nominate(nominated.key, 'b', nominated.shape)
  const nodeOf = async (pod: Pod): Promise<string> => {
    const finding = await findNode(pendingOf(pod), cluster, index)
    return 'node' in finding ? finding.node.name : 'none'
  }
  assert.equal(await nodeOf(testPod('low', { requests: { cpu: '3' } })), 'none')
  assert.equal(await nodeOf(testPod('low', { requests: { cpu: '2' } })), 'a')
  assert.equal(await nodeOf(testPod('higher', { priority: 11, requests: { cpu: '3' } })), 'b')
  assert.equal(await nodeOf({ ...nominated.pod, status: { nominatedNodeName: 'b' } }), 'b')
})

test('the score of preferred affinities is rounded down after it was scaled', async () => {
  const preferred = (app: string, weight: number) => ({ weight, podAffinityTerm: podTerm(app) })
  const affinity = { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preferred('x', 29), preferred('y', 100)] } }
  const pods = [testPod('x', on('a', { labels: { app: 'x' } })), testPod('y', on('b', { labels: { app: 'y' } }))]
  const { cluster } = testCluster({ ...abc, pods })
  const scores = await interPodAffinity.score?.(pendingOf(testPod('p', { affinity })), cluster, cluster.nodes, turnBudget)
  assert.deepEqual(scores, [28, 100, 0])
})

test('long decisions yield to the event loop between nodes', async () => {
  const spentBudget = new SpentBudget()
  const nodes = Array.from({ length: 20 }, (_, i) => testNode(`n${i}`, { labels: { zone: `z${i}` } }))
  const pods = nodes.map(({ metadata }, i) =>
    testPod(`x${i}`, on(metadata?.name ?? '', { labels: { app: `x${i}` }, ...apart(podTerm('y')) })),
  )
  const { cluster, index } = testCluster({ nodes, pods })
  const finding = await findNode(pendingOf(testPod('p', near(podTerm('x7')))), cluster, index, spentBudget)
  assert.equal('node' in finding && finding.node.name, 'n7')
  // The pods of each node are counted once for the filter; each node is judged.
  assert.ok(spentBudget.turns >= 2 * nodes.length, `${spentBudget.turns} turns`)
})
