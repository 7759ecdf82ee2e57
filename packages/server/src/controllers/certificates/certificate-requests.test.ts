// Requests of node agents are approved where they may be, and requests that are of no use any more go.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../../api/catalog.js'
import type { AccessRequest } from '../../auth/authorize.js'
import { silentLogger } from '../../base/logger.js'
import { certificate, nodeRequest, request } from '../../resources/certificates/requests.fixture.js'
import type { CertificateSigningRequest } from '../../resources/certificates/v1.schema.js'
import { stageOf } from '../engine.fixture.js'
import { FakeTimers, flushTurns } from '../kit/timers.fixture.js'
import { RawObjects } from '../raw-objects.fixture.js'
import { certificateApproval } from './approve-requests.js'
import { certificateCleaner } from './clean-requests.js'

const beginMs = Date.parse('2026-01-01T00:00:00Z')
const hour = 3600
const signerName = 'cluster.io/cluster-apiserver-client-kubelet'
const usages = ['digital signature', 'key encipherment', 'client auth']

async function setUp() {
  const timers = new FakeTimers()
  const stage = await stageOf('cluster', { now: () => beginMs + timers.now() })
  const resource = stage.catalog.find('certificates.cluster.io', 'v1', 'certificatesigningrequests') as Resource
  return { timers, stage, requests: new RawObjects(stage, resource), parts: { ...stage, logger: silentLogger, timers } }
}

for (const { title, spec, may, message } of [
  {
    title: 'a node agent asks for its own',
    spec: { request: nodeRequest, username: 'system:node:n1' },
    may: ['selfnodeclient'],
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  },
  {
    title: 'somebody asks for that of a node',
    spec: { request: nodeRequest, username: 'system:bootstrap:abcdef' },
    may: ['nodeclient'],
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
  },
  {
    title: 'who may only have the own',
    spec: { request: nodeRequest, username: 'system:node:n2' },
    may: ['selfnodeclient'],
    message: undefined,
  },
  { title: 'who may have none', spec: { request: nodeRequest, username: 'system:node:n1' }, may: [], message: undefined },
  { title: 'no name of a node', spec: { request, username: 'dave' }, may: ['selfnodeclient', 'nodeclient'], message: undefined },
  {
    title: 'another signer',
    spec: { request: nodeRequest, username: 'system:node:n1', signerName: 'cluster.io/cluster-apiserver-client' },
    may: ['selfnodeclient', 'nodeclient'],
    message: undefined,
  },
  {
    title: 'for other uses',
    spec: { request: nodeRequest, username: 'system:node:n1', usages: ['server auth'] },
    may: ['selfnodeclient', 'nodeclient'],
    message: undefined,
  },
]) {
  test(`approved or not: ${title}`, async () => {
    const { timers, stage, requests, parts } = await setUp()
    const asked: AccessRequest[] = []
    const authorize = (access: AccessRequest) => {
      asked.push(access)
      return may.includes(access.info.subresource)
        ? ({ verdict: 'allow', reason: '' } as const)
        : ({ verdict: 'no-opinion', reason: '' } as const)
    }
    Object.assign(stage.engine, { access: { authenticators: [], authorizers: [{ name: 'test', authorize }] } })
    const loop = certificateApproval(parts)
    await requests.put({ metadata: { name: 'r' }, spec: { signerName, usages, groups: ['g'], ...spec } })
    await timers.advance(1000)
    await flushTurns()
    const { conditions = [] } = requests.read<CertificateSigningRequest>('r')?.status ?? {}
    const found = conditions.map((each) => [each.type, each.status, each.reason, each.message])
    assert.deepEqual(found, message === undefined ? [] : [['Approved', 'True', 'AutoApproved', message]])
    for (const { user, info } of asked)
      assert.deepEqual([user.name, user.groups, info.verb, info.group], [spec.username, ['g'], 'create', 'certificates.cluster.io'])
    await loop.close()
  })
}

test('whoever is given the right later need not ask again', async () => {
  const { timers, stage, requests, parts } = await setUp()
  let may = false
  const authorize = () => (may ? ({ verdict: 'allow', reason: '' } as const) : ({ verdict: 'no-opinion', reason: '' } as const))
  Object.assign(stage.engine, { access: { authenticators: [], authorizers: [{ name: 'test', authorize }] } })
  const loop = certificateApproval(parts)
  await requests.put({ metadata: { name: 'r' }, spec: { signerName, usages, request: nodeRequest, username: 'system:node:n1' } })
  await timers.advance(5000)
  may = true
  await timers.advance(20_000)
  assert.equal(requests.read<CertificateSigningRequest>('r')?.status?.conditions?.length, 1)
  await loop.close()
})

const decided = (type: string) => [
  { type, status: 'True', lastUpdateTime: '2026-01-01T00:00:00Z', lastTransitionTime: '2026-01-01T00:00:00Z' },
]

for (const { title, status, staysFor } of [
  { title: 'answered', status: { conditions: decided('Approved'), certificate }, staysFor: hour },
  { title: 'denied', status: { conditions: decided('Denied') }, staysFor: hour },
  { title: 'failed', status: { conditions: [...decided('Approved'), ...decided('Failed')] }, staysFor: hour },
  { title: 'not decided', status: {}, staysFor: 24 * hour },
  { title: 'approved, and not answered yet', status: { conditions: decided('Approved') }, staysFor: Number.POSITIVE_INFINITY },
]) {
  test(`how long a request stays: ${title}`, async () => {
    const { timers, requests, parts } = await setUp()
    const loop = certificateCleaner(parts)
    await requests.put({ metadata: { name: 'r' }, spec: { request, signerName, usages }, status })
    const isForEver = staysFor === Number.POSITIVE_INFINITY
    await timers.advance((isForEver ? 48 * hour : staysFor - 2) * 1000)
    assert.notEqual(requests.read('r'), undefined)
    await timers.advance(4000)
    assert.equal(requests.read('r') !== undefined, isForEver)
    await loop.close()
  })
}

test('a request whose certificate has ended goes, however new it is', async () => {
  const { timers, requests, parts } = await setUp()
  timers.spend(Date.parse('2130-01-01T00:00:00Z') - beginMs)
  const loop = certificateCleaner(parts)
  const lastUpdateTime = '2130-01-01T00:00:00Z'
  const conditions = [{ type: 'Approved', status: 'True', lastUpdateTime, lastTransitionTime: lastUpdateTime }]
  await requests.put({ metadata: { name: 'r' }, spec: { request, signerName, usages }, status: { conditions, certificate } })
  await timers.advance(1000)
  assert.equal(requests.read('r'), undefined)
  await loop.close()
})
