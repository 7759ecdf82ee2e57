// Approval of kubelet CSRs, and deletion of old CSRs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { certificate, nodeRequest, request } from '@cluster-apiserver/api/resources/certificates/certificate-signing-request.fixture.js'
import type { CertificateSigningRequest } from '@cluster-apiserver/api/resources/certificates/v1.schema.js'
import type { AccessRequest } from '../../auth/authorize.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { RawObjects } from '../framework/raw-objects.fixture.js'
import { FakeTimers, flushTurns } from '../framework/timers.fixture.js'
import { certificateApproval } from './certificate-approval.js'
import { certificateCleaner } from './certificate-cleaner.js'

const startMs = Date.parse('2026-01-01T00:00:00Z')
const hour = 3600
const signerName = 'cluster.io/cluster-apiserver-client-kubelet'
const usages = ['digital signature', 'key encipherment', 'client auth']

async function setUp() {
  const timers = new FakeTimers()
  const testEngine = await createTestEngine('cluster', { now: () => startMs + timers.now() })
  const resource = testEngine.catalog.find('certificates.cluster.io', 'v1', 'certificatesigningrequests') as Resource
  return { timers, testEngine, requests: new RawObjects(testEngine, resource), parts: { ...testEngine, logger: silentLogger, timers } }
}

for (const { title, spec, permissions, message } of [
  {
    title: 'a kubelet requests its own certificate',
    spec: { request: nodeRequest, username: 'system:node:n1' },
    permissions: ['selfnodeclient'],
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  },
  {
    title: 'a bootstrap user requests the certificate of a node',
    spec: { request: nodeRequest, username: 'system:bootstrap:abcdef' },
    permissions: ['nodeclient'],
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
  },
  {
    title: 'selfnodeclient does not allow another node',
    spec: { request: nodeRequest, username: 'system:node:n2' },
    permissions: ['selfnodeclient'],
    message: undefined,
  },
  { title: 'no permission', spec: { request: nodeRequest, username: 'system:node:n1' }, permissions: [], message: undefined },
  {
    title: 'subject is not a node',
    spec: { request, username: 'dave' },
    permissions: ['selfnodeclient', 'nodeclient'],
    message: undefined,
  },
  {
    title: 'another signer',
    spec: { request: nodeRequest, username: 'system:node:n1', signerName: 'cluster.io/cluster-apiserver-client' },
    permissions: ['selfnodeclient', 'nodeclient'],
    message: undefined,
  },
  {
    title: 'other usages',
    spec: { request: nodeRequest, username: 'system:node:n1', usages: ['server auth'] },
    permissions: ['selfnodeclient', 'nodeclient'],
    message: undefined,
  },
]) {
  test(`approval: ${title}`, async () => {
    const { timers, testEngine, requests, parts } = await setUp()
    const accessRequests: AccessRequest[] = []
    const authorize = (access: AccessRequest) => {
      accessRequests.push(access)
      return permissions.includes(access.info.subresource)
        ? ({ verdict: 'allow', reason: '' } as const)
        : ({ verdict: 'no-opinion', reason: '' } as const)
    }
    Object.assign(testEngine.engine, { access: { authenticators: [], authorizers: [{ name: 'test', authorize }] } })
    const controller = certificateApproval(parts)
    await requests.put({ metadata: { name: 'r' }, spec: { signerName, usages, groups: ['g'], ...spec } })
    await timers.advance(1000)
    await flushTurns()
    const { conditions = [] } = requests.read<CertificateSigningRequest>('r')?.status ?? {}
    const found = conditions.map((each) => [each.type, each.status, each.reason, each.message])
    assert.deepEqual(found, message === undefined ? [] : [['Approved', 'True', 'AutoApproved', message]])
    for (const { user, info } of accessRequests)
      assert.deepEqual([user.name, user.groups, info.verb, info.group], [spec.username, ['g'], 'create', 'certificates.cluster.io'])
    await controller.close()
  })
}

test('a request is approved after the permission is granted', async () => {
  const { timers, testEngine, requests, parts } = await setUp()
  let permissions = false
  const authorize = () => (permissions ? ({ verdict: 'allow', reason: '' } as const) : ({ verdict: 'no-opinion', reason: '' } as const))
  Object.assign(testEngine.engine, { access: { authenticators: [], authorizers: [{ name: 'test', authorize }] } })
  const controller = certificateApproval(parts)
  await requests.put({ metadata: { name: 'r' }, spec: { signerName, usages, request: nodeRequest, username: 'system:node:n1' } })
  await timers.advance(5000)
  permissions = true
  await timers.advance(20_000)
  assert.equal(requests.read<CertificateSigningRequest>('r')?.status?.conditions?.length, 1)
  await controller.close()
})

const decided = (type: string) => [
  { type, status: 'True', lastUpdateTime: '2026-01-01T00:00:00Z', lastTransitionTime: '2026-01-01T00:00:00Z' },
]

for (const { title, status, keptSeconds } of [
  { title: 'issued', status: { conditions: decided('Approved'), certificate }, keptSeconds: hour },
  { title: 'denied', status: { conditions: decided('Denied') }, keptSeconds: hour },
  { title: 'failed', status: { conditions: [...decided('Approved'), ...decided('Failed')] }, keptSeconds: hour },
  { title: 'pending', status: {}, keptSeconds: 24 * hour },
  { title: 'approved, not issued yet', status: { conditions: decided('Approved') }, keptSeconds: Number.POSITIVE_INFINITY },
]) {
  test(`a request is deleted after its time: ${title}`, async () => {
    const { timers, requests, parts } = await setUp()
    const controller = certificateCleaner(parts)
    await requests.put({ metadata: { name: 'r' }, spec: { request, signerName, usages }, status })
    const isKept = keptSeconds === Number.POSITIVE_INFINITY
    await timers.advance((isKept ? 48 * hour : keptSeconds - 2) * 1000)
    assert.notEqual(requests.read('r'), undefined)
    await timers.advance(4000)
    assert.equal(requests.read('r') !== undefined, isKept)
    await controller.close()
  })
}

test('a request with an expired certificate is deleted', async () => {
  const { timers, requests, parts } = await setUp()
  timers.spend(Date.parse('2130-01-01T00:00:00Z') - startMs)
  const controller = certificateCleaner(parts)
  const lastUpdateTime = '2130-01-01T00:00:00Z'
  const conditions = [{ type: 'Approved', status: 'True', lastUpdateTime, lastTransitionTime: lastUpdateTime }]
  await requests.put({ metadata: { name: 'r' }, spec: { request, signerName, usages }, status: { conditions, certificate } })
  await timers.advance(1000)
  assert.equal(requests.read('r'), undefined)
  await controller.close()
})
