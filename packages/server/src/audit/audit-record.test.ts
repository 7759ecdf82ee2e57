// Audit events of a request: fields and stages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequest } from '@cluster-apiserver/api/api/request-info.js'
import { AuditRecord, type StageInput } from './audit-record.js'

const user = (name: string) => ({ name, uid: '', groups: ['system:authenticated'], extra: {} })
const [alice, bob] = [user('alice'), user('bob')]
const loopback: readonly string[] = ['127.0.0.1']
const path = '/api/v1/namespaces/shop/configmaps/prices'

interface RequestOptions {
  readonly method?: string
  readonly uri?: string
  readonly user?: typeof alice
  readonly sourceIps?: readonly string[]
  readonly userAgent?: string
  readonly name?: string
}

function recordOf({
  method = 'GET',
  uri = path,
  sourceIps = loopback,
  userAgent = 'test/1',
  name = 'prices',
  user: sender = alice,
}: RequestOptions): AuditRecord {
  const info = parseRequest(method, uri)
  const request = { info, name, verb: info.verb, uri, auditId: 'id', userAgent, sourceIps, user: sender, receivedMs: 0 }
  const decision = { level: 'Metadata', omitStages: new Set<never>(), omitManagedFields: false } as const
  return new AuditRecord(request, { decision, apiVersion: 'audit.example.com/v1' })
}

const complete: StageInput = { stage: 'ResponseComplete', nowMs: 0, code: 200, effectiveUser: undefined, annotations: [] }

const eventOf = (record: AuditRecord, input: Partial<StageInput> = {}) => JSON.parse(record.event({ ...complete, ...input }).text)

test('an event has user, verb, object reference and status', () => {
  const first = eventOf(recordOf({}))
  assert.deepEqual(first, {
    kind: 'Event',
    apiVersion: 'audit.example.com/v1',
    level: 'Metadata',
    auditID: 'id',
    stage: 'ResponseComplete',
    requestURI: path,
    verb: 'get',
    user: { username: 'alice', groups: ['system:authenticated'] },
    sourceIPs: ['127.0.0.1'],
    userAgent: 'test/1',
    objectRef: { resource: 'configmaps', namespace: 'shop', name: 'prices', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 200 },
    requestReceivedTimestamp: '1970-01-01T00:00:00.000000Z',
    stageTimestamp: '1970-01-01T00:00:00.000000Z',
  })
})

test('metadata of the body completes objectRef, and impersonatedUser is set', () => {
  const creation = recordOf({ method: 'POST', uri: '/api/v1/namespaces/shop/configmaps', name: '' })
  assert.equal(eventOf(creation, { stage: 'RequestReceived', code: undefined }).objectRef.name, undefined)
  creation.setMetadata({ name: 'made "1"', uid: 'u' })
  assert.equal(eventOf(creation).objectRef.name, 'made "1"')
  assert.equal(eventOf(creation, { effectiveUser: bob }).impersonatedUser.username, 'bob')
  assert.equal(eventOf(creation).impersonatedUser, undefined)
})
