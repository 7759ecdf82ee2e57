// Plugins on other objects than pods: services, events, namespaces, volumes, owners, certificates.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alreadyExists, invalid } from '../../api/api-error.js'
import { allow, noOpinion } from '../../auth/authorize.js'
import { request as devsRequest, mastersRequest } from '../../resources/certificates/requests.fixture.js'
import type { Right } from '../access.js'
import type { EventRateLimit } from '../config/event-rate-limits.js'
import { ownersIn } from '../owner-kinds.js'
import { mutatedBy, refusalOf, type Stage, stageOf } from '../stage.fixture.js'
import { certificateApproval, certificateSigning } from './certificate-access.js'
import { certificateSubjectRestriction } from './certificate-subject-restriction.js'
import { denyServiceExternalIPs } from './deny-service-external-ips.js'
import { eventBuckets, eventRateLimit } from './event-rate-limit.js'
import { namespaceAutoProvision } from './namespace-auto-provision.js'
import { namespaceExists } from './namespace-exists.js'
import { ownerReferencesPermissionEnforcement } from './owner-references.js'
import { persistentVolumeLabel } from './persistent-volume-label.js'

const named = { metadata: { name: 'x', namespace: 'a' } }

test('DenyServiceExternalIPs: none comes, and those that are there may stay or go', async () => {
  const stage = await stageOf()
  const service = (...externalIPs: readonly string[]) => ({ ...named, spec: { externalIPs } })
  const ask = (object: object, old?: object) =>
    refusalOf(
      denyServiceExternalIPs,
      stage.attempt({ resource: stage.find('services'), object, ...(old === undefined ? {} : { old, operation: 'UPDATE' }) }),
    )
  assert.equal(await ask(service('1.2.3.4')), 'services "x" is forbidden: Use of external IPs is denied by admission control')
  assert.equal(await ask(service()), '')
  assert.equal(await ask(service('1.2.3.4'), service('1.2.3.4', '1.2.3.5')), '')
  assert.notEqual(await ask(service('1.2.3.4', '1.2.3.6'), service('1.2.3.4')), '')
})

const limitOf = (type: EventRateLimit['type'], more: Partial<EventRateLimit> = {}): EventRateLimit => ({
  type,
  qps: 1,
  burst: 1,
  cacheSize: 10,
  ...more,
})

async function events(...limits: readonly EventRateLimit[]) {
  const stage = await stageOf()
  let now = 0
  const buckets = eventBuckets(limits, () => now)
  const plugin = eventRateLimit(limits, buckets.take)
  const send = (event: object = {}, more: object = {}) =>
    refusalOf(plugin, stage.attempt({ resource: stage.find('events'), object: { ...named, ...event }, ...more }))
  return {
    stage,
    send,
    forget: buckets.forget,
    wait: (ms: number) => {
      now += ms
    },
  }
}

test('EventRateLimit: so many at once, and then so many a second', async () => {
  const { send, wait } = await events(limitOf('Server', { qps: 2, burst: 3 }))
  for (let i = 0; i < 3; i++) assert.equal(await send(), '')
  assert.equal(await send(), 'Too many requests: limit reached on type Server for key ')
  wait(500)
  assert.equal(await send(), '')
  assert.notEqual(await send(), '')
})

test('EventRateLimit: each namespace, user, source and object by itself', async () => {
  const rows: readonly [EventRateLimit['type'], object, object, object, object][] = [
    ['Namespace', {}, {}, {}, { namespace: 'b' }],
    ['User', {}, {}, {}, { user: { name: 'other' } }],
    ['SourceAndObject', { source: { component: 'c' } }, {}, { source: { component: 'd' } }, {}],
    ['SourceAndObject', { involvedObject: { name: 'o' } }, {}, { involvedObject: { name: 'p' } }, {}],
  ]
  for (const [type, event, more, otherEvent, otherMore] of rows) {
    const { send } = await events(limitOf(type))
    assert.equal(await send(event, more), '')
    assert.match(await send(event, more), /limit reached on type/)
    assert.equal(await send(otherEvent, otherMore), '')
  }
})

test('EventRateLimit: all limits that are reached are told, dry runs are free, other kinds too', async () => {
  const { stage, send, forget } = await events(limitOf('User'), limitOf('Namespace'))
  assert.equal(await send({}, { options: { dryRun: ['All'] } }), '')
  assert.equal(await send(), '')
  assert.equal(await send(), 'Too many requests: [limit reached on type User for key somebody, limit reached on type Namespace for key a]')
  forget()
  assert.equal(await send(), '')
  const limits = [limitOf('Server')]
  const plugin = eventRateLimit(limits, eventBuckets(limits, () => 0).take)
  for (let i = 0; i < 3; i++)
    for (const resource of [stage.find('configmaps'), stage.find('events', 'events.k8s.io')])
      assert.equal(await refusalOf(plugin, stage.attempt({ resource, object: named })), '')
})

test('EventRateLimit: long names are told apart as well', async () => {
  const { send } = await events(limitOf('SourceAndObject', { burst: 1 }))
  const about = (end: string) => ({ involvedObject: { name: `${'x'.repeat(5000)}${end}` } })
  assert.equal(await send(about('a')), '')
  assert.equal(await send(about('b')), '')
  assert.match(await send(about('a')), /limit reached/)
})

test('EventRateLimit: of too many the one that was not heard of for longest is forgotten', async () => {
  const { send } = await events(limitOf('User', { cacheSize: 2 }))
  const by = (name: string) => send({}, { user: { name } })
  assert.equal(await by('a'), '')
  assert.equal(await by('b'), '')
  assert.notEqual(await by('a'), '')
  assert.equal(await by('c'), '')
  assert.equal(await by('b'), '')
  assert.notEqual(await by('c'), '')
})

test('NamespaceExists: writes in a namespace that is not there are refused', async () => {
  const stage = await stageOf()
  await stage.put(stage.find('namespaces'), { metadata: { name: 'a' } })
  const plugin = namespaceExists(stage.store, stage.find('namespaces'))
  const ask = (namespace: string, more: object = {}) =>
    refusalOf(plugin, stage.attempt({ resource: stage.find('configmaps'), object: named, namespace, ...more }))
  assert.equal(await ask('a'), '')
  assert.equal(await ask('b'), 'namespaces "b" not found')
  assert.equal(await ask('b', { operation: 'DELETE' }), 'namespaces "b" not found')
  assert.equal(await ask('', { resource: stage.find('nodes') }), '')
})

test('NamespaceAutoProvision: the first object makes it, a dry run does not, and a bad name is refused', async () => {
  const stage = await stageOf()
  const namespaces = stage.find('namespaces')
  await stage.put(namespaces, { metadata: { name: 'a' } })
  const made: string[] = []
  const createNamespace = async (name: string): Promise<void> => {
    if (name === 'Bad') throw invalid({ group: '', kind: 'Namespace' }, name, [])
    if (name === 'race') throw alreadyExists({ group: '', resource: 'namespaces', kind: '' }, name)
    made.push(name)
  }
  const plugin = namespaceAutoProvision({ store: stage.store, namespaces, createNamespace })
  const ask = (namespace: string, more: object = {}) =>
    refusalOf(plugin, stage.attempt({ resource: stage.find('configmaps'), object: named, namespace, ...more }))
  assert.equal(await ask('a'), '')
  assert.equal(await ask('b', { options: { dryRun: ['All'] } }), '')
  assert.equal(await ask('b', { operation: 'UPDATE' }), '')
  assert.equal(await ask('race'), '')
  assert.deepEqual(made, [])
  assert.equal(await ask('b'), '')
  assert.deepEqual(made, ['b'])
  assert.match(await ask('Bad'), /^configmaps "x" is forbidden: Namespace "Bad" is invalid/)
})

test('PersistentVolumeLabel: labels of a volume that a program made become a rule for nodes', async () => {
  const stage = await stageOf()
  const labels = { 'topology.kubernetes.io/zone': 'a__b', 'topology.kubernetes.io/region': 'r' }
  const volume = (annotations: object) => ({ metadata: { name: 'v', labels, annotations } })
  const ask = (object: object) =>
    mutatedBy<{ spec?: { nodeAffinity?: object } }>(
      persistentVolumeLabel,
      stage.attempt({ resource: stage.find('persistentvolumes'), object }),
    )
  const matchExpressions = [
    { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a', 'b'] },
    { key: 'topology.kubernetes.io/region', operator: 'In', values: ['r'] },
  ]
  const made = await ask(volume({ 'pv.kubernetes.io/provisioned-by': 'p' }))
  assert.deepEqual(made.spec?.nodeAffinity, { required: { nodeSelectorTerms: [{ matchExpressions }] } })
  assert.equal((await ask(volume({}))).spec, undefined)
})

async function owners(...rights: readonly Partial<Right>[]) {
  const stage = await stageOf()
  const ask = (_: unknown, right: Right) =>
    rights.some((each) => Object.entries(each).every(([name, value]) => right[name as keyof Right] === value)) ? allow : noOpinion
  const plugin = ownerReferencesPermissionEnforcement({ ask, findOwners: (apiVersion, kind) => ownersIn(stage.catalog, apiVersion, kind) })
  const object = (...ownerReferences: readonly object[]) => ({ metadata: { ...named.metadata, ownerReferences } })
  const change = (next: object, old?: object, more: object = {}) =>
    refusalOf(
      plugin,
      stage.attempt({
        resource: stage.find('configmaps'),
        object: next,
        ...(old === undefined ? {} : { old, operation: 'UPDATE' }),
        ...more,
      }),
    )
  return { stage, object, change }
}

const owner = (more: object = {}) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'u', ...more })
const blocking = { blockOwnerDeletion: true }

test('OwnerReferencesPermissionEnforcement: owners are changed by whoever may delete, and set by whoever makes', async () => {
  const nobody = await owners()
  assert.equal(await nobody.change(nobody.object(owner())), '')
  assert.match(await nobody.change(nobody.object(owner()), nobody.object()), /cannot set an ownerRef on a resource you can't delete/)
  assert.match(await nobody.change(nobody.object(), nobody.object(owner())), /can't delete/)
  assert.equal(await nobody.change(nobody.object(owner()), nobody.object(owner())), '')
  const pods = { resource: nobody.stage.find('pods'), subresource: 'status' }
  assert.equal(await nobody.change(nobody.object(owner()), nobody.object(), pods), '')
  const somebody = await owners({ verb: 'delete', resource: 'configmaps', namespace: 'a', name: 'x' })
  assert.equal(await somebody.change(somebody.object(owner()), somebody.object()), '')
})

test('OwnerReferencesPermissionEnforcement: owners wait for whom those say who may finalize them', async () => {
  const nobody = await owners({ verb: 'delete' })
  assert.match(await nobody.change(nobody.object(owner(blocking))), /a resource you can't set finalizers on/)
  assert.match(
    await nobody.change(nobody.object(owner({ ...blocking, kind: 'Thing' }))),
    /no matches for kind "Thing" in version "apps\/v1"/,
  )
  assert.equal(await nobody.change(nobody.object(owner()), nobody.object(owner(blocking))), '')
  const somebody = await owners({
    verb: 'update',
    group: 'apps',
    resource: 'deployments',
    subresource: 'finalizers',
    name: 'd',
    namespace: 'a',
  })
  assert.equal(await somebody.change(somebody.object(owner(blocking))), '')
  const everybodys = await owners({ verb: 'update', group: '*', resource: '*', subresource: 'finalizers', name: '*' })
  assert.equal(await everybodys.change(everybodys.object(owner({ ...blocking, kind: 'Thing' }))), '')
  const nodes = await owners({ verb: 'update', resource: 'nodes', namespace: '' })
  assert.equal(await nodes.change(nodes.object(owner({ ...blocking, apiVersion: 'v1', kind: 'Node' }))), '')
})

const request = (signerName: string, status: object = {}) => ({ metadata: { name: 'x' }, spec: { signerName }, status })

function certificates(stage: Stage, verb: string, name: string) {
  const ask = (_: unknown, right: Right) => (right.verb === verb && right.resource === 'signers' && right.name === name ? allow : noOpinion)
  const resource = stage.find('certificatesigningrequests', 'certificates.k8s.io')
  const approve = certificateApproval(ask, resource.collection)
  const sign = certificateSigning(ask, resource.collection)
  const attempt = (subresource: string, object: object, old: object) =>
    stage.attempt({ resource, operation: 'UPDATE', subresource, object, old })
  return { approve, sign, attempt }
}

test('CertificateApproval: who may approve for the signer, by name or by domain', async () => {
  const stage = await stageOf()
  for (const [name, isAllowed] of [
    ['example.com/a', true],
    ['example.com/*', true],
    ['example.com/b', false],
  ] as const) {
    const { approve, attempt } = certificates(stage, 'approve', name)
    const refusal = await refusalOf(approve, attempt('approval', request('example.com/a'), request('example.com/a')))
    assert.equal(refusal === '', isAllowed, name)
    if (!isAllowed) assert.match(refusal, /user not permitted to approve requests with signerName "example.com\/a"/)
  }
})

test('CertificateSigning: who may sign for it, where something is signed', async () => {
  const stage = await stageOf()
  const nobody = certificates(stage, 'sign', 'example.com/b')
  const [old, next] = [request('example.com/a'), request('example.com/a', { certificate: 'YQ==' })]
  assert.match(await refusalOf(nobody.sign, nobody.attempt('status', next, old)), /user not permitted to sign requests/)
  assert.equal(await refusalOf(nobody.sign, nobody.attempt('status', next, next)), '')
  const somebody = certificates(stage, 'sign', 'example.com/a')
  assert.equal(await refusalOf(somebody.sign, somebody.attempt('status', next, old)), '')
})

test('CertificateSubjectRestriction: no master by a certificate for clients, and what cannot be read is not let through', async () => {
  const stage = await stageOf()
  const resource = stage.find('certificatesigningrequests', 'certificates.k8s.io')
  const ask = (signerName: string, sent: string) =>
    refusalOf(
      certificateSubjectRestriction(resource.collection),
      stage.attempt({ resource, object: { metadata: { name: 'x' }, spec: { signerName, request: sent } } }),
    )
  const clients = 'kubernetes.io/kube-apiserver-client'
  assert.match(
    await ask(clients, mastersRequest),
    /use of kubernetes.io\/kube-apiserver-client signer with system:masters group is not allowed/,
  )
  assert.match(await ask(clients, 'bm8='), /unable to parse csr/)
  assert.equal(await ask(clients, devsRequest), '')
  assert.equal(await ask('example.com/a', mastersRequest), '')
})
