// Plugins for services, events, namespaces, volumes, owner references and certificates.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alreadyExists, invalid } from '@cluster-apiserver/api/api/api-error.js'
import {
  request as devsRequest,
  mastersRequest,
} from '@cluster-apiserver/api/resources/certificates/certificate-signing-request.fixture.js'
import { allow, noOpinion } from '../../auth/authorize.js'
import { type AdmissionFixture, admissionFixture, mutatedBy, refusalOf } from '../admission.fixture.js'
import type { EventRateLimit } from '../config/plugin-configs.js'
import { ownerResources, type Permission } from '../lookup.js'
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificate-signing-requests.js'
import { eventRateLimit, eventTokenBuckets } from './event-rate-limit.js'
import { denyServiceExternalIPs } from './fixed-rules.js'
import { namespaceAutoProvision, namespaceExists } from './namespace-lifecycle.js'
import { ownerReferencesPermissionEnforcement } from './owner-references.js'
import { persistentVolumeLabel } from './storage.js'

const namedObject = { metadata: { name: 'x', namespace: 'a' } }

test('DenyServiceExternalIPs: new addresses are rejected, existing ones may stay or be removed', async () => {
  const fixture = await admissionFixture()
  const service = (...externalIPs: readonly string[]) => ({ ...namedObject, spec: { externalIPs } })
  const admit = (object: object, old?: object) =>
    refusalOf(
      denyServiceExternalIPs,
      fixture.request({ resource: fixture.find('services'), object, ...(old === undefined ? {} : { old, operation: 'UPDATE' }) }),
    )
  assert.equal(await admit(service('1.2.3.4')), 'services "x" is forbidden: Use of external IPs is denied by admission control')
  assert.equal(await admit(service()), '')
  assert.equal(await admit(service('1.2.3.4'), service('1.2.3.4', '1.2.3.5')), '')
  assert.notEqual(await admit(service('1.2.3.4', '1.2.3.6'), service('1.2.3.4')), '')
})

const limitOf = (type: EventRateLimit['type'], limitFields: Partial<EventRateLimit> = {}): EventRateLimit => ({
  type,
  qps: 1,
  burst: 1,
  cacheSize: 10,
  ...limitFields,
})

async function eventFixture(...limits: readonly EventRateLimit[]) {
  const fixture = await admissionFixture()
  let now = 0
  const buckets = eventTokenBuckets(limits, () => now)
  const plugin = eventRateLimit(limits, buckets.take)
  const send = (event: object = {}, requestFields: object = {}) =>
    refusalOf(plugin, fixture.request({ resource: fixture.find('events'), object: { ...namedObject, ...event }, ...requestFields }))
  return {
    fixture,
    send,
    clearBuckets: buckets.clear,
    wait: (ms: number) => {
      now += ms
    },
  }
}

test('EventRateLimit: burst, then qps', async () => {
  const { send, wait } = await eventFixture(limitOf('Server', { qps: 2, burst: 3 }))
  for (let i = 0; i < 3; i++) assert.equal(await send(), '')
  assert.equal(await send(), 'Too many requests: limit reached on type Server for key ')
  wait(500)
  assert.equal(await send(), '')
  assert.notEqual(await send(), '')
})

test('EventRateLimit: separate buckets per namespace, user, and source and object', async () => {
  const rows: readonly [EventRateLimit['type'], object, object, object, object][] = [
    ['Namespace', {}, {}, {}, { namespace: 'b' }],
    ['User', {}, {}, {}, { user: { name: 'other' } }],
    ['SourceAndObject', { source: { component: 'c' } }, {}, { source: { component: 'd' } }, {}],
    ['SourceAndObject', { involvedObject: { name: 'o' } }, {}, { involvedObject: { name: 'p' } }, {}],
  ]
  for (const [type, event, requestFields, otherEvent, otherRequestFields] of rows) {
    const { send } = await eventFixture(limitOf(type))
    assert.equal(await send(event, requestFields), '')
    assert.match(await send(event, requestFields), /limit reached on type/)
    assert.equal(await send(otherEvent, otherRequestFields), '')
  }
})

test('EventRateLimit: all reached limits are reported; dry runs and other kinds are not limited', async () => {
  const { fixture, send, clearBuckets } = await eventFixture(limitOf('User'), limitOf('Namespace'))
  assert.equal(await send({}, { options: { dryRun: ['All'] } }), '')
  assert.equal(await send(), '')
  assert.equal(await send(), 'Too many requests: [limit reached on type User for key somebody, limit reached on type Namespace for key a]')
  clearBuckets()
  assert.equal(await send(), '')
  const limits = [limitOf('Server')]
  const plugin = eventRateLimit(limits, eventTokenBuckets(limits, () => 0).take)
  for (let i = 0; i < 3; i++)
    for (const resource of [fixture.find('configmaps'), fixture.find('events', 'events.k8s.io')])
      assert.equal(await refusalOf(plugin, fixture.request({ resource, object: namedObject })), '')
})

test('EventRateLimit: long keys have separate buckets', async () => {
  const { send } = await eventFixture(limitOf('SourceAndObject', { burst: 1 }))
  const eventOf = (end: string) => ({ involvedObject: { name: `${'x'.repeat(5000)}${end}` } })
  assert.equal(await send(eventOf('a')), '')
  assert.equal(await send(eventOf('b')), '')
  assert.match(await send(eventOf('a')), /limit reached/)
})

test('EventRateLimit: the least recently used bucket is dropped', async () => {
  const { send } = await eventFixture(limitOf('User', { cacheSize: 2 }))
  const sendAs = (name: string) => send({}, { user: { name } })
  assert.equal(await sendAs('a'), '')
  assert.equal(await sendAs('b'), '')
  assert.notEqual(await sendAs('a'), '')
  assert.equal(await sendAs('c'), '')
  assert.equal(await sendAs('b'), '')
  assert.notEqual(await sendAs('c'), '')
})

test('NamespaceExists: writes in a missing namespace are rejected', async () => {
  const fixture = await admissionFixture()
  await fixture.put(fixture.find('namespaces'), { metadata: { name: 'a' } })
  const plugin = namespaceExists(fixture.store, fixture.find('namespaces'))
  const admit = (namespace: string, requestFields: object = {}) =>
    refusalOf(plugin, fixture.request({ resource: fixture.find('configmaps'), object: namedObject, namespace, ...requestFields }))
  assert.equal(await admit('a'), '')
  assert.equal(await admit('b'), 'namespaces "b" not found')
  assert.equal(await admit('b', { operation: 'DELETE' }), 'namespaces "b" not found')
  assert.equal(await admit('', { resource: fixture.find('nodes') }), '')
})

test('NamespaceAutoProvision: creates the namespace, but not in a dry run, and rejects an invalid name', async () => {
  const fixture = await admissionFixture()
  const namespaces = fixture.find('namespaces')
  await fixture.put(namespaces, { metadata: { name: 'a' } })
  const created: string[] = []
  const createNamespace = async (name: string): Promise<void> => {
    if (name === 'Bad') throw invalid({ group: '', kind: 'Namespace' }, name, [])
    if (name === 'race') throw alreadyExists({ group: '', resource: 'namespaces', kind: '' }, name)
    created.push(name)
  }
  const plugin = namespaceAutoProvision({ store: fixture.store, namespaces, createNamespace })
  const admit = (namespace: string, requestFields: object = {}) =>
    refusalOf(plugin, fixture.request({ resource: fixture.find('configmaps'), object: namedObject, namespace, ...requestFields }))
  assert.equal(await admit('a'), '')
  assert.equal(await admit('b', { options: { dryRun: ['All'] } }), '')
  assert.equal(await admit('b', { operation: 'UPDATE' }), '')
  assert.equal(await admit('race'), '')
  assert.deepEqual(created, [])
  assert.equal(await admit('b'), '')
  assert.deepEqual(created, ['b'])
  assert.match(await admit('Bad'), /^configmaps "x" is forbidden: Namespace "Bad" is invalid/)
})

test('PersistentVolumeLabel: zone labels of provisioned volumes become node affinity', async () => {
  const fixture = await admissionFixture()
  const labels = { 'topology.kubernetes.io/zone': 'a__b', 'topology.kubernetes.io/region': 'r' }
  const volume = (annotations: object) => ({ metadata: { name: 'v', labels, annotations } })
  const admit = (object: object) =>
    mutatedBy<{ spec?: { nodeAffinity?: object } }>(
      persistentVolumeLabel,
      fixture.request({ resource: fixture.find('persistentvolumes'), object }),
    )
  const matchExpressions = [
    { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a', 'b'] },
    { key: 'topology.kubernetes.io/region', operator: 'In', values: ['r'] },
  ]
  const mutated = await admit(volume({ 'pv.kubernetes.io/provisioned-by': 'p' }))
  assert.deepEqual(mutated.spec?.nodeAffinity, { required: { nodeSelectorTerms: [{ matchExpressions }] } })
  assert.equal((await admit(volume({}))).spec, undefined)
})

async function ownerFixture(...permissions: readonly Partial<Permission>[]) {
  const fixture = await admissionFixture()
  const checkPermission = async (_: unknown, permission: Permission) =>
    permissions.some((each) => Object.entries(each).every(([name, value]) => permission[name as keyof Permission] === value))
      ? allow
      : noOpinion
  const plugin = ownerReferencesPermissionEnforcement({
    checkPermission,
    findOwners: (apiVersion, kind) => ownerResources(fixture.catalog, apiVersion, kind),
  })
  const object = (...ownerReferences: readonly object[]) => ({ metadata: { ...namedObject.metadata, ownerReferences } })
  const change = (next: object, old?: object, requestFields: object = {}) =>
    refusalOf(
      plugin,
      fixture.request({
        resource: fixture.find('configmaps'),
        object: next,
        ...(old === undefined ? {} : { old, operation: 'UPDATE' }),
        ...requestFields,
      }),
    )
  return { fixture, object, change }
}

const owner = (ownerFields: object = {}) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'u', ...ownerFields })
const blocking = { blockOwnerDeletion: true }

test('OwnerReferencesPermissionEnforcement: changing owners requires delete permission, except on create', async () => {
  const denied = await ownerFixture()
  assert.equal(await denied.change(denied.object(owner())), '')
  assert.match(await denied.change(denied.object(owner()), denied.object()), /cannot set an ownerRef on a resource you can't delete/)
  assert.match(await denied.change(denied.object(), denied.object(owner())), /can't delete/)
  assert.equal(await denied.change(denied.object(owner()), denied.object(owner())), '')
  const pods = { resource: denied.fixture.find('pods'), subresource: 'status' }
  assert.equal(await denied.change(denied.object(owner()), denied.object(), pods), '')
  const permitted = await ownerFixture({ verb: 'delete', resource: 'configmaps', namespace: 'a', name: 'x' })
  assert.equal(await permitted.change(permitted.object(owner()), permitted.object()), '')
})

test('OwnerReferencesPermissionEnforcement: blockOwnerDeletion requires permission to update finalizers of the owner', async () => {
  const denied = await ownerFixture({ verb: 'delete' })
  assert.match(await denied.change(denied.object(owner(blocking))), /a resource you can't set finalizers on/)
  assert.match(
    await denied.change(denied.object(owner({ ...blocking, kind: 'Thing' }))),
    /no matches for kind "Thing" in version "apps\/v1"/,
  )
  assert.equal(await denied.change(denied.object(owner()), denied.object(owner(blocking))), '')
  const permitted = await ownerFixture({
    verb: 'update',
    group: 'apps',
    resource: 'deployments',
    subresource: 'finalizers',
    name: 'd',
    namespace: 'a',
  })
  assert.equal(await permitted.change(permitted.object(owner(blocking))), '')
  const permittedForAll = await ownerFixture({ verb: 'update', group: '*', resource: '*', subresource: 'finalizers', name: '*' })
  assert.equal(await permittedForAll.change(permittedForAll.object(owner({ ...blocking, kind: 'Thing' }))), '')
  const nodes = await ownerFixture({ verb: 'update', resource: 'nodes', namespace: '' })
  assert.equal(await nodes.change(nodes.object(owner({ ...blocking, apiVersion: 'v1', kind: 'Node' }))), '')
})

const signingRequest = (signerName: string, status: object = {}) => ({ metadata: { name: 'x' }, spec: { signerName }, status })

function certificateFixture(fixture: AdmissionFixture, verb: string, name: string) {
  const checkPermission = async (_: unknown, permission: Permission) =>
    permission.verb === verb && permission.resource === 'signers' && permission.name === name ? allow : noOpinion
  const resource = fixture.find('certificatesigningrequests', 'certificates.k8s.io')
  const approve = certificateApproval(checkPermission, resource.collection)
  const sign = certificateSigning(checkPermission, resource.collection)
  const input = (subresource: string, object: object, old: object) =>
    fixture.request({ resource, operation: 'UPDATE', subresource, object, old })
  return { approve, sign, input }
}

test('CertificateApproval: requires approve permission for the signer, by name or domain', async () => {
  const fixture = await admissionFixture()
  for (const [name, isAllowed] of [
    ['example.com/a', true],
    ['example.com/*', true],
    ['example.com/b', false],
  ] as const) {
    const { approve, input } = certificateFixture(fixture, 'approve', name)
    const refusal = await refusalOf(approve, input('approval', signingRequest('example.com/a'), signingRequest('example.com/a')))
    assert.equal(refusal === '', isAllowed, name)
    if (!isAllowed) assert.match(refusal, /user not permitted to approve requests with signerName "example.com\/a"/)
  }
})

test('CertificateSigning: requires sign permission when certificate or conditions change', async () => {
  const fixture = await admissionFixture()
  const denied = certificateFixture(fixture, 'sign', 'example.com/b')
  const [old, next] = [signingRequest('example.com/a'), signingRequest('example.com/a', { certificate: 'YQ==' })]
  assert.match(await refusalOf(denied.sign, denied.input('status', next, old)), /user not permitted to sign requests/)
  assert.equal(await refusalOf(denied.sign, denied.input('status', next, next)), '')
  const prepared = signingRequest('example.com/a', { certificate: '', conditions: [] })
  assert.equal(await refusalOf(denied.sign, denied.input('status', prepared, old)), '', 'an empty list equals an absent one')
  const permitted = certificateFixture(fixture, 'sign', 'example.com/a')
  assert.equal(await refusalOf(permitted.sign, permitted.input('status', next, old)), '')
})

test('CertificateSubjectRestriction: rejects system:masters and requests that cannot be parsed', async () => {
  const fixture = await admissionFixture()
  const resource = fixture.find('certificatesigningrequests', 'certificates.k8s.io')
  const admit = (signerName: string, encodedRequest: string) =>
    refusalOf(
      certificateSubjectRestriction(resource.collection),
      fixture.request({ resource, object: { metadata: { name: 'x' }, spec: { signerName, request: encodedRequest } } }),
    )
  const clientSigner = 'kubernetes.io/kube-apiserver-client'
  assert.match(
    await admit(clientSigner, mastersRequest),
    /use of kubernetes.io\/kube-apiserver-client signer with system:masters group is not allowed/,
  )
  assert.match(await admit(clientSigner, 'bm8='), /unable to parse csr/)
  assert.equal(await admit(clientSigner, devsRequest), '')
  assert.equal(await admit('example.com/a', mastersRequest), '')
})
