// Requests that look alike share the texts of their events, and only those that are alike in everything that the texts say.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequest } from '../api/request-info.js'
import { AuditRecord, type StageInput } from './record.js'

const user = (name: string) => ({ name, uid: '', groups: ['system:authenticated'], extra: {} })
const [alice, bob] = [user('alice'), user('bob')]
const here: readonly string[] = ['127.0.0.1']
const path = '/api/v1/namespaces/shop/configmaps/prices'

interface Asked {
  readonly method?: string
  readonly uri?: string
  readonly user?: typeof alice
  readonly sourceIps?: readonly string[]
  readonly userAgent?: string
  readonly name?: string
}

function recordOf({ method = 'GET', uri = path, sourceIps = here, userAgent = 'test/1', name = 'prices', ...asked }: Asked): AuditRecord {
  const info = parseRequest(method, uri)
  const request = { info, name, verb: info.verb, uri, auditId: 'id', userAgent, sourceIps, user: asked.user ?? alice, receivedMs: 0 }
  const ruling = { level: 'Metadata', omitStages: new Set<never>(), omitManagedFields: false } as const
  return new AuditRecord(request, { ruling, apiVersion: 'audit.example.com/v1' })
}

const complete: StageInput = { stage: 'ResponseComplete', nowMs: 0, code: 200, actsAs: undefined, annotations: [] }

const eventOf = (record: AuditRecord, input: Partial<StageInput> = {}) => JSON.parse(record.event({ ...complete, ...input }).text)

test('the same request again has the same events', () => {
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
  for (let i = 0; i < 3; i++) assert.deepEqual(eventOf(recordOf({})), first)
})

test('whatever differs is told as it is, in whichever order requests come', () => {
  for (let i = 0; i < 3; i++) {
    assert.equal(eventOf(recordOf({ user: bob })).user.username, 'bob')
    assert.equal(eventOf(recordOf({})).user.username, 'alice')
    assert.equal(eventOf(recordOf({ method: 'DELETE' })).verb, 'delete')
    assert.equal(eventOf(recordOf({ userAgent: 'other/1' })).userAgent, 'other/1')
    assert.deepEqual(eventOf(recordOf({ sourceIps: ['10.0.0.1'] })).sourceIPs, ['10.0.0.1'])
    assert.equal(eventOf(recordOf({ uri: `${path}/status` })).objectRef.subresource, 'status')
    assert.equal(eventOf(recordOf({ name: 'other' })).objectRef.name, 'other')
    assert.equal(eventOf(recordOf({})).objectRef.name, 'prices')
  }
})

test('what one request says of its object, or as whom it acts, is not told of the next', () => {
  const collection = '/api/v1/namespaces/shop/configmaps'
  for (let i = 0; i < 3; i++) {
    const creation = recordOf({ method: 'POST', uri: collection, name: '' })
    assert.equal(eventOf(creation, { stage: 'RequestReceived', code: undefined }).objectRef.name, undefined)
    creation.keepMetadata({ name: `made "${i}"`, uid: 'u' })
    assert.equal(eventOf(creation).objectRef.name, `made "${i}"`)
    assert.equal(eventOf(creation, { actsAs: bob }).impersonatedUser.username, 'bob')
    assert.equal(eventOf(creation).impersonatedUser, undefined)
  }
})

test('annotations are those of their event', () => {
  const pair = (decision: string, reason: string) => [['a/decision', decision] as const, ['a/reason', reason] as const]
  for (let i = 0; i < 3; i++) {
    const { annotations } = eventOf(recordOf({}), { annotations: pair('allow', 'because "x"') })
    assert.deepEqual(annotations, { 'a/decision': 'allow', 'a/reason': 'because "x"' })
    assert.deepEqual(eventOf(recordOf({}), { annotations: pair('forbid', 'because "x"') }).annotations['a/decision'], 'forbid')
    assert.deepEqual(eventOf(recordOf({}), { annotations: [['b', '1'] as const, ['c', 'because "x"'] as const] }).annotations, {
      b: '1',
      c: 'because "x"',
    })
  }
})
