// NodeRestriction: writes that a kubelet is allowed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AdmissionFixture, admissionFixture, type RequestInput, refusalOf } from '../admission.fixture.js'
import { nodeRestriction } from './node-restriction.js'

const kubelet = { name: 'system:node:n1', groups: ['system:nodes'] }

async function setUp(): Promise<{
  fixture: AdmissionFixture
  admit: (input: Omit<RequestInput, 'user'>, user?: RequestInput['user']) => Promise<string>
}> {
  const fixture = await admissionFixture()
  await fixture.put(fixture.find('nodes'), { metadata: { name: 'n1', uid: 'u1' } })
  const pod = (name: string, nodeName: string) => ({ metadata: { name, namespace: 'a' }, spec: { nodeName, containers: [] } })
  await fixture.put(fixture.find('pods'), pod('mine', 'n1'))
  await fixture.put(fixture.find('pods'), pod('other', 'n2'))
  const plugin = nodeRestriction(fixture.lookup)
  return { fixture, admit: (input, user = kubelet) => refusalOf(plugin, fixture.request({ ...input, user })) }
}

test('only kubelets with a node name are restricted', async () => {
  const { fixture, admit } = await setUp()
  const input = { resource: fixture.find('nodes'), object: { metadata: { name: 'n2' } } }
  assert.equal(await admit(input, { name: 'somebody', groups: ['system:nodes'] }), '')
  assert.equal(await admit(input, { name: 'system:node:n1', groups: [] }), '')
  assert.match(await admit(input, { name: 'system:node:', groups: ['system:nodes'] }), /could not determine node from user "system:node:"/)
})

const nodeOf = (labels: object = {}, spec: object = {}) => ({ metadata: { name: 'n1', labels }, spec })

test('a kubelet writes its own Node, without restricted labels', async () => {
  const { fixture, admit } = await setUp()
  const resource = fixture.find('nodes')
  assert.match(await admit({ resource, object: { metadata: { name: 'n2' } } }), /node "n1" is not allowed to modify node "n2"/)
  const forbiddenLabels = {
    'node-restriction.kubernetes.io/a': '1',
    'x.node-restriction.kubernetes.io/a': '1',
    'foo.kubernetes.io/b': '1',
    'x.k8s.io/c': '1',
  }
  assert.match(
    await admit({ resource, object: nodeOf(forbiddenLabels) }),
    /is not allowed to set the following labels: foo.kubernetes.io\/b, node-restriction.kubernetes.io\/a, x.k8s.io\/c, x.node-restriction.kubernetes.io\/a/,
  )
  const allowedLabels = {
    'kubernetes.io/hostname': 'h',
    'kubelet.kubernetes.io/a': '1',
    'x.node.kubernetes.io/b': '1',
    'example.com/c': '1',
    'topology.kubernetes.io/zone': 'z',
    'beta.kubernetes.io/instance-type': 't',
  }
  assert.equal(await admit({ resource, object: nodeOf(allowedLabels) }), '')
  assert.match(
    await admit({ resource, object: nodeOf({}, { configSource: {} }) }),
    /is not allowed to create pods with a non-nil configSource/,
  )
})

test('a kubelet changes neither taints nor restricted labels of its Node, and does not delete it', async () => {
  const { fixture, admit } = await setUp()
  const update = (object: object, old: object) => admit({ resource: fixture.find('nodes'), operation: 'UPDATE', name: 'n1', object, old })
  assert.match(await update(nodeOf({}, { taints: [] }), nodeOf({}, { taints: [{ key: 'a' }] })), /is not allowed to modify taints/)
  assert.match(
    await update(nodeOf({}), nodeOf({ 'node-restriction.kubernetes.io/a': '1' })),
    /is not allowed to modify labels: node-restriction/,
  )
  assert.equal(await update(nodeOf({ 'example.com/a': '1' }, { unschedulable: true }), nodeOf()), '')
  assert.match(await update(nodeOf({}, { configSource: { a: 1 } }), nodeOf()), /update configSource/)
  assert.match(
    await admit({ resource: fixture.find('nodes'), operation: 'DELETE', name: 'n1', old: nodeOf() }),
    /is not allowed to delete itself/,
  )
})

const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1', controller: true }
const mirrorPod = (metadata: object = {}, spec: object = {}) => ({
  metadata: { name: 'p', namespace: 'a', annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences: [owner], ...metadata },
  spec: { nodeName: 'n1', containers: [{ name: 'c' }], ...spec },
})

const mirrorPods: readonly [string, object, RegExp | undefined][] = [
  ['that is valid', mirrorPod(), undefined],
  [
    'without the annotation',
    mirrorPod({ annotations: {} }),
    /pod does not have "kubernetes.io\/config.mirror" annotation, node "n1" can only create mirror pods/,
  ],
  ['on another node', mirrorPod({}, { nodeName: 'n2' }), /can only create pods with spec.nodeName set to itself/],
  ['without an owner', mirrorPod({ ownerReferences: [] }), /can only create pods with an owner reference set to itself/],
  ['with two owners', mirrorPod({ ownerReferences: [owner, owner] }), /a single owner reference set to itself/],
  ['owned by another Node', mirrorPod({ ownerReferences: [{ ...owner, name: 'n2' }] }), /an owner reference set to itself/],
  [
    'without a controller owner reference',
    mirrorPod({ ownerReferences: [{ ...owner, controller: false }] }),
    /a controller owner reference set to itself/,
  ],
  ['with blockOwnerDeletion', mirrorPod({ ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }), /must not set blockOwnerDeletion/],
  ['with the UID of a former Node', mirrorPod({ ownerReferences: [{ ...owner, uid: 'u0' }] }), /node n1 UID mismatch: expected u0 got u1/],
  ['with a service account', mirrorPod({}, { serviceAccountName: 's' }), /reference a service account/],
  ['with a secret', mirrorPod({}, { volumes: [{ name: 'v', secret: {} }] }), /reference secrets/],
  ['with an imagePullSecret', mirrorPod({}, { imagePullSecrets: [{ name: 's' }] }), /reference secrets/],
  [
    'with a secret of a volume driver',
    mirrorPod({}, { volumes: [{ name: 'v', cephfs: { secretRef: { name: 's' } } }] }),
    /reference secrets/,
  ],
  [
    'with a config map in its environment',
    mirrorPod({}, { containers: [{ name: 'c', envFrom: [{ configMapRef: { name: 'm' } }] }] }),
    /reference configmaps/,
  ],
  ['with a claim', mirrorPod({}, { volumes: [{ name: 'v', persistentVolumeClaim: {} }] }), /reference persistentvolumeclaims/],
]

for (const [title, object, message] of mirrorPods) {
  test(`a mirror pod ${title} ${message === undefined ? 'is admitted' : 'is rejected'}`, async () => {
    const { fixture, admit } = await setUp()
    const refusal = await admit({ resource: fixture.find('pods'), object })
    if (message === undefined) assert.equal(refusal, '')
    else assert.match(refusal, message)
  })
}

test('a kubelet deletes, evicts and updates the status of pods on its node only', async () => {
  const { fixture, admit } = await setUp()
  const resource = fixture.find('pods')
  const podOn = (nodeName: string, labels: object = {}) => ({ metadata: { name: 'x', namespace: 'a', labels }, spec: { nodeName } })
  assert.equal(await admit({ resource, operation: 'DELETE', name: 'x', old: podOn('n1') }), '')
  assert.match(
    await admit({ resource, operation: 'DELETE', name: 'x', old: podOn('n2') }),
    /can only delete pods with spec.nodeName set to itself/,
  )
  assert.match(await admit({ resource, operation: 'UPDATE', object: podOn('n1'), old: podOn('n1') }), /unexpected operation "UPDATE"/)
  const status = (nodeName: string, labels: object = {}) =>
    admit({ resource, operation: 'UPDATE', subresource: 'status', object: podOn(nodeName, labels), old: podOn(nodeName) })
  assert.equal(await status('n1'), '')
  assert.match(await status('n2'), /can only update pod status for pods with spec.nodeName set to itself/)
  assert.match(await status('n1', { a: 'b' }), /cannot update labels through pod status/)
  const evict = (name: string) => admit({ resource, subresource: 'eviction', namespace: 'a', name, object: {} })
  assert.equal(await evict('mine'), '')
  assert.match(await evict('other'), /can only evict pods with spec.nodeName set to itself/)
  assert.match(await evict('missing'), /pods "missing" not found/)
  assert.match(await admit({ resource, subresource: 'binding', object: {} }), /only 'status' and 'eviction' are allowed/)
  assert.equal(await admit({ resource, operation: 'CONNECT', subresource: 'exec', namespace: 'a', name: 'x' }), '')
})

test('a kubelet requests tokens only for pods on its node', async () => {
  const { fixture, admit } = await setUp()
  const token = (boundObjectRef?: object) =>
    admit({
      resource: fixture.find('serviceaccounts'),
      subresource: 'token',
      namespace: 'a',
      name: 's',
      object: { spec: { boundObjectRef } },
    })
  const ref = { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'mine' }
  assert.equal(await token(ref), '')
  assert.match(await token(), /not bound to a pod/)
  assert.match(await token({ ...ref, uid: '' }), /without a uid/)
  assert.match(await token({ ...ref, uid: 'x' }), /does not match the UID in record/)
  assert.match(await token({ ...ref, name: 'other', uid: 'other' }), /scheduled on a different node/)
})

test('a kubelet writes its own Lease and CSINode, and the status of claims', async () => {
  const { fixture, admit } = await setUp()
  const leases = fixture.find('leases', 'coordination.k8s.io')
  const lease = (namespace: string, name: string) => admit({ resource: leases, object: { metadata: { name, namespace } } })
  assert.equal(await lease('kube-node-lease', 'n1'), '')
  assert.match(await lease('kube-node-lease', 'n2'), /can only access node lease with the same name/)
  assert.match(await lease('a', 'n1'), /can only access leases in the "kube-node-lease" system namespace/)
  const csiNodes = fixture.find('csinodes', 'storage.k8s.io')
  assert.equal(await admit({ resource: csiNodes, object: { metadata: { name: 'n1' } } }), '')
  assert.match(await admit({ resource: csiNodes, object: { metadata: { name: 'n2' } } }), /can only access CSINode with the same name/)
  const claims = fixture.find('persistentvolumeclaims')
  const claim = (status: object) => ({ metadata: { name: 'c', namespace: 'a' }, status })
  const update = (object: object, requestFields: object = {}) =>
    admit({ resource: claims, operation: 'UPDATE', subresource: 'status', object, old: claim({}), ...requestFields })
  assert.equal(await update(claim({ capacity: { storage: '1' } })), '')
  assert.match(await update(claim({ phase: 'Bound' })), /other than status.capacity and status.conditions/)
  assert.equal(await update(claim({ resizeStatus: 'NodeExpansionFailed' })), '')
  assert.match(
    await update(claim({ resizeStatus: 'NodeExpansionFailed' }), { gates: () => false }),
    /other than status.capacity and status.conditions/,
  )
  assert.match(await admit({ resource: claims, operation: 'UPDATE', object: claim({}), old: claim({}) }), /may only update PVC status/)
})
