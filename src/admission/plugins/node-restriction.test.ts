// What the agent of a node may write, rule by rule.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Attempt, refusalOf, type Stage, stageOf } from '../stage.fixture.js'
import { nodeRestriction } from './node-restriction.js'

const agent = { name: 'system:node:n1', groups: ['system:nodes'] }

async function setUp(): Promise<{ stage: Stage; ask: (attempt: Omit<Attempt, 'user'>, user?: Attempt['user']) => Promise<string> }> {
  const stage = await stageOf()
  await stage.put(stage.find('nodes'), { metadata: { name: 'n1', uid: 'u1' } })
  const pod = (name: string, nodeName: string) => ({ metadata: { name, namespace: 'a' }, spec: { nodeName, containers: [] } })
  await stage.put(stage.find('pods'), pod('mine', 'n1'))
  await stage.put(stage.find('pods'), pod('other', 'n2'))
  const plugin = nodeRestriction(stage.lookup)
  return { stage, ask: (attempt, user = agent) => refusalOf(plugin, stage.attempt({ ...attempt, user })) }
}

test('it is about agents alone, and those whose node is known', async () => {
  const { stage, ask } = await setUp()
  const attempt = { resource: stage.find('nodes'), object: { metadata: { name: 'n2' } } }
  assert.equal(await ask(attempt, { name: 'somebody', groups: ['system:nodes'] }), '')
  assert.equal(await ask(attempt, { name: 'system:node:n1', groups: [] }), '')
  assert.match(await ask(attempt, { name: 'system:node:', groups: ['system:nodes'] }), /could not determine node from user "system:node:"/)
})

const nodeOf = (labels: object = {}, spec: object = {}) => ({ metadata: { name: 'n1', labels }, spec })

test('of nodes it writes its own, without labels by which it would be chosen', async () => {
  const { stage, ask } = await setUp()
  const resource = stage.find('nodes')
  assert.match(await ask({ resource, object: { metadata: { name: 'n2' } } }), /node "n1" is not allowed to modify node "n2"/)
  const bad = {
    'node-restriction.kubernetes.io/a': '1',
    'x.node-restriction.kubernetes.io/a': '1',
    'foo.kubernetes.io/b': '1',
    'x.k8s.io/c': '1',
  }
  assert.match(
    await ask({ resource, object: nodeOf(bad) }),
    /is not allowed to set the following labels: foo.kubernetes.io\/b, node-restriction.kubernetes.io\/a, x.k8s.io\/c, x.node-restriction.kubernetes.io\/a/,
  )
  const good = {
    'kubernetes.io/hostname': 'h',
    'kubelet.kubernetes.io/a': '1',
    'x.node.kubernetes.io/b': '1',
    'example.com/c': '1',
    'topology.kubernetes.io/zone': 'z',
    'beta.kubernetes.io/instance-type': 't',
  }
  assert.equal(await ask({ resource, object: nodeOf(good) }), '')
  assert.match(
    await ask({ resource, object: nodeOf({}, { configSource: {} }) }),
    /is not allowed to create pods with a non-nil configSource/,
  )
})

test('of its own node it changes neither taints nor labels of the system, and does not delete it', async () => {
  const { stage, ask } = await setUp()
  const update = (object: object, old: object) => ask({ resource: stage.find('nodes'), operation: 'UPDATE', name: 'n1', object, old })
  assert.match(await update(nodeOf({}, { taints: [] }), nodeOf({}, { taints: [{ key: 'a' }] })), /is not allowed to modify taints/)
  assert.match(
    await update(nodeOf({}), nodeOf({ 'node-restriction.kubernetes.io/a': '1' })),
    /is not allowed to modify labels: node-restriction/,
  )
  assert.equal(await update(nodeOf({ 'example.com/a': '1' }, { unschedulable: true }), nodeOf()), '')
  assert.match(await update(nodeOf({}, { configSource: { a: 1 } }), nodeOf()), /update configSource/)
  assert.match(
    await ask({ resource: stage.find('nodes'), operation: 'DELETE', name: 'n1', old: nodeOf() }),
    /is not allowed to delete itself/,
  )
})

const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1', controller: true }
const mirror = (metadata: object = {}, spec: object = {}) => ({
  metadata: { name: 'p', namespace: 'a', annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences: [owner], ...metadata },
  spec: { nodeName: 'n1', containers: [{ name: 'c' }], ...spec },
})

const mirrors: readonly [string, object, RegExp | undefined][] = [
  ['as it should be', mirror(), undefined],
  [
    'without the annotation',
    mirror({ annotations: {} }),
    /pod does not have "kubernetes.io\/config.mirror" annotation, node "n1" can only create mirror pods/,
  ],
  ['on another node', mirror({}, { nodeName: 'n2' }), /can only create pods with spec.nodeName set to itself/],
  ['without an owner', mirror({ ownerReferences: [] }), /can only create pods with an owner reference set to itself/],
  ['with two owners', mirror({ ownerReferences: [owner, owner] }), /a single owner reference set to itself/],
  ['of another node', mirror({ ownerReferences: [{ ...owner, name: 'n2' }] }), /an owner reference set to itself/],
  ['that nobody controls', mirror({ ownerReferences: [{ ...owner, controller: false }] }), /a controller owner reference set to itself/],
  ['that blocks its node', mirror({ ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }), /must not set blockOwnerDeletion/],
  ['of an older node', mirror({ ownerReferences: [{ ...owner, uid: 'u0' }] }), /node n1 UID mismatch: expected u0 got u1/],
  ['with an account', mirror({}, { serviceAccountName: 's' }), /reference a service account/],
  ['with a secret', mirror({}, { volumes: [{ name: 'v', secret: {} }] }), /reference secrets/],
  ['with a secret for images', mirror({}, { imagePullSecrets: [{ name: 's' }] }), /reference secrets/],
  ['with a secret of a driver', mirror({}, { volumes: [{ name: 'v', cephfs: { secretRef: { name: 's' } } }] }), /reference secrets/],
  [
    'with a config map in its environment',
    mirror({}, { containers: [{ name: 'c', envFrom: [{ configMapRef: { name: 'm' } }] }] }),
    /reference configmaps/,
  ],
  ['with a claim', mirror({}, { volumes: [{ name: 'v', persistentVolumeClaim: {} }] }), /reference persistentvolumeclaims/],
]

for (const [name, object, wanted] of mirrors) {
  test(`a pod that an agent found: ${name}`, async () => {
    const { stage, ask } = await setUp()
    const refusal = await ask({ resource: stage.find('pods'), object })
    if (wanted === undefined) assert.equal(refusal, '')
    else assert.match(refusal, wanted)
  })
}

test('of pods it deletes, evicts and reports on those that run there', async () => {
  const { stage, ask } = await setUp()
  const resource = stage.find('pods')
  const bound = (nodeName: string, labels: object = {}) => ({ metadata: { name: 'x', namespace: 'a', labels }, spec: { nodeName } })
  assert.equal(await ask({ resource, operation: 'DELETE', name: 'x', old: bound('n1') }), '')
  assert.match(
    await ask({ resource, operation: 'DELETE', name: 'x', old: bound('n2') }),
    /can only delete pods with spec.nodeName set to itself/,
  )
  assert.match(await ask({ resource, operation: 'UPDATE', object: bound('n1'), old: bound('n1') }), /unexpected operation "UPDATE"/)
  const status = (nodeName: string, labels: object = {}) =>
    ask({ resource, operation: 'UPDATE', subresource: 'status', object: bound(nodeName, labels), old: bound(nodeName) })
  assert.equal(await status('n1'), '')
  assert.match(await status('n2'), /can only update pod status for pods with spec.nodeName set to itself/)
  assert.match(await status('n1', { a: 'b' }), /cannot update labels through pod status/)
  const evict = (name: string) => ask({ resource, subresource: 'eviction', namespace: 'a', name, object: {} })
  assert.equal(await evict('mine'), '')
  assert.match(await evict('other'), /can only evict pods with spec.nodeName set to itself/)
  assert.match(await evict('nobody'), /pods "nobody" not found/)
  assert.match(await ask({ resource, subresource: 'binding', object: {} }), /only 'status' and 'eviction' are allowed/)
  assert.equal(await ask({ resource, operation: 'CONNECT', subresource: 'exec', namespace: 'a', name: 'x' }), '')
})

test('tokens are for pods that run there', async () => {
  const { stage, ask } = await setUp()
  const token = (boundObjectRef?: object) =>
    ask({ resource: stage.find('serviceaccounts'), subresource: 'token', namespace: 'a', name: 's', object: { spec: { boundObjectRef } } })
  const ref = { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'mine' }
  assert.equal(await token(ref), '')
  assert.match(await token(), /not bound to a pod/)
  assert.match(await token({ ...ref, uid: '' }), /without a uid/)
  assert.match(await token({ ...ref, uid: 'x' }), /does not match the UID in record/)
  assert.match(await token({ ...ref, name: 'other', uid: 'other' }), /scheduled on a different node/)
})

test('leases, CSI nodes and claims: its own, and of claims the status', async () => {
  const { stage, ask } = await setUp()
  const leases = stage.find('leases', 'coordination.k8s.io')
  const lease = (namespace: string, name: string) => ask({ resource: leases, object: { metadata: { name, namespace } } })
  assert.equal(await lease('kube-node-lease', 'n1'), '')
  assert.match(await lease('kube-node-lease', 'n2'), /can only access node lease with the same name/)
  assert.match(await lease('a', 'n1'), /can only access leases in the "kube-node-lease" system namespace/)
  const csi = stage.find('csinodes', 'storage.k8s.io')
  assert.equal(await ask({ resource: csi, object: { metadata: { name: 'n1' } } }), '')
  assert.match(await ask({ resource: csi, object: { metadata: { name: 'n2' } } }), /can only access CSINode with the same name/)
  const claims = stage.find('persistentvolumeclaims')
  const claim = (status: object) => ({ metadata: { name: 'c', namespace: 'a' }, status })
  const update = (object: object, more: object = {}) =>
    ask({ resource: claims, operation: 'UPDATE', subresource: 'status', object, old: claim({}), ...more })
  assert.equal(await update(claim({ capacity: { storage: '1' } })), '')
  assert.match(await update(claim({ phase: 'Bound' })), /other than status.capacity and status.conditions/)
  assert.equal(await update(claim({ resizeStatus: 'NodeExpansionFailed' })), '')
  assert.match(
    await update(claim({ resizeStatus: 'NodeExpansionFailed' }), { gates: () => false }),
    /other than status.capacity and status.conditions/,
  )
  assert.match(await ask({ resource: claims, operation: 'UPDATE', object: claim({}), old: claim({}) }), /may only update PVC status/)
})
