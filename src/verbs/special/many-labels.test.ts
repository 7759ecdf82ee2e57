// Actions and connections look at objects without what anybody can hang on them, such as thousands of labels, and at many of them in pieces.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { systemClock } from '../../base/clock.js'
import { whileCounting } from '../../base/turn-count.fixture.js'
import { stageOf } from '../../controllers/engine.fixture.js'
import { ownCall } from '../../controllers/own-call.js'
import { decodedWhole } from '../../objects/decoded-whole.fixture.js'
import { perform } from '../act.js'
import type { Engine } from '../engine.js'
import { evict } from './eviction.js'
import { issueToken } from './issue-token.js'
import { agentOf } from './node-agent.js'
import type { Way } from './signatures.js'

const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`label-${i}`, 'x']))

async function setUp(t: TestContext) {
  const { engine, catalog } = await stageOf('cluster', systemClock)
  const find = (group: string, plural: string): Resource => catalog.find(group, 'v1', plural) as Resource
  const put = async (resource: Resource, name: string, { metadata, ...object }: ApiObject): Promise<void> => {
    const namespace = resource.namespaced ? 'n' : ''
    const place = namespace === '' ? {} : { namespace }
    const whole = { metadata: { name, ...place, uid: `uid-${name}`, creationTimestamp: '2020-01-01T00:00:00Z', ...metadata }, ...object }
    await engine.store.put({ resource, namespace, name }, engine.store.encode(resource, whole as ApiObject), { expect: 0 })
  }
  const evictPod = () => {
    const call = ownCall(engine, { resource: find('', 'pods'), namespace: 'n', name: 'p', subresource: 'eviction' })
    return perform(engine, call, { act: evict, body: { metadata: { name: 'p' } }, catalog })
  }
  const putPod = () =>
    put(find('', 'pods'), 'p', {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
      status: { phase: 'Running' },
    } as ApiObject)
  return { engine, catalog, find, put, putPod, evictPod, decoded: decodedWhole(t) }
}

const budgetOf = (selector: object): ApiObject => ({ spec: { minAvailable: 0, selector } }) as ApiObject

test('an eviction passes over the labels of budgets', async (t) => {
  const { find, put, putPod, evictPod, decoded, engine } = await setUp(t)
  await putPod()
  for (let i = 0; i < 3; i++)
    await put(find('policy', 'poddisruptionbudgets'), `${i}-large`, { metadata: { labels }, ...budgetOf({ matchLabels: { a: 'other' } }) })
  await evictPod()
  assert.equal(engine.store.read({ resource: find('', 'pods'), namespace: 'n', name: 'p' }), undefined)
  assert.deepEqual(decoded, [])
})

test('an eviction looks at many budgets in several turns of the event loop', async (t) => {
  const { engine, find, put, putPod, evictPod } = await setUp(t)
  await putPod()
  for (let i = 0; i < 100; i++) await put(find('policy', 'poddisruptionbudgets'), `b${i}`, budgetOf({ matchLabels: { a: `${i}` } }))
  const { look } = engine.store
  engine.store.look = function* (query) {
    for (const stored of look.call(engine.store, query)) {
      for (const until = performance.now() + 0.5; performance.now() < until; );
      yield stored
    }
  }
  await whileCounting(async (count) => {
    await evictPod()
    assert.ok(count.turn > 10, `${count.turn} turns for 50 ms`)
  })
})

test('a token is issued without a look at the labels of its account, nor of the pod that it is bound to', async (t) => {
  const { engine: plain, catalog, find, put, decoded } = await setUp(t)
  await put(find('', 'serviceaccounts'), 'large', { metadata: { labels } })
  await put(find('', 'pods'), 'large', { metadata: { labels }, spec: { serviceAccountName: 'large', containers: [] } } as ApiObject)
  const issued: unknown[] = []
  const issuer = {
    options: { audiences: ['a'], maxSeconds: 0, extends: false },
    issue: async ({ account }: { readonly account: unknown }) => {
      issued.push(account)
      return 'token'
    },
  } as unknown as NonNullable<Engine['issuer']>
  const engine = { ...plain, issuer }
  const call = ownCall(engine, { resource: find('', 'serviceaccounts'), namespace: 'n', name: 'large', subresource: 'token' })
  const body = { spec: { audiences: [], expirationSeconds: 3600, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'large' } } }
  await perform(engine, call, { act: issueToken, body: body as ApiObject, catalog })
  const reference = { name: 'large', uid: 'uid-large' }
  assert.deepEqual(issued, [{ namespace: 'n', serviceaccount: reference, pod: reference }])
  assert.deepEqual(decoded, [])
})

test('the agent of a node is found without the labels of the node', async (t) => {
  const { engine, catalog, find, put, decoded } = await setUp(t)
  const status = { addresses: [{ type: 'Hostname', address: 'there' }] }
  await put(find('', 'nodes'), 'large', { metadata: { labels }, status } as ApiObject)
  const call = ownCall(engine, { resource: find('', 'nodes'), name: 'large', subresource: 'proxy' })
  assert.equal(agentOf({ engine, catalog, call } as unknown as Way, 'large').host, 'there')
  assert.deepEqual(decoded, [])
})
