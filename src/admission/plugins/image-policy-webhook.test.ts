// Who judges images: what is asked, for how long an answer counts, and what is done when there is none.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointAnswer } from '../../net/json-endpoint.js'
import { type Attempt, refusalOf, type Stage, stageOf } from '../stage.fixture.js'
import { type ImagePolicyParts, imagePolicyWebhook } from './image-policy-webhook.js'

type Answer = Partial<EndpointAnswer> & { readonly json?: unknown; readonly error?: Error }

interface World {
  readonly stage: Stage
  readonly sent: { readonly spec: unknown; readonly [field: string]: unknown }[]
  nowMs: number
  check(attempt?: Partial<Attempt>): Promise<string>
}

async function worldOf(answers: Answer | readonly Answer[], settings: Partial<ImagePolicyParts['settings']> = {}): Promise<World> {
  const stage = await stageOf('cluster')
  const sent: World['sent'] = []
  const queue = [answers].flat()
  const world: World = {
    stage,
    sent,
    nowMs: 0,
    check: (more = {}) =>
      refusalOf(plugin, stage.attempt({ resource: stage.find('pods'), object: pod('one', 'two'), name: 'p', namespace: 'n', ...more })),
  }
  const plugin = imagePolicyWebhook({
    settings: { allowTtlMs: 1000, denyTtlMs: 100, retryBackoffMs: 1, defaultAllow: false, ...settings },
    now: () => world.nowMs,
    post: async (text) => {
      sent.push(JSON.parse(text))
      const { json, error, ...answer } = (queue.length > 1 ? queue.shift() : queue[0]) ?? {}
      if (error !== undefined) throw error
      return { status: 200, body: Buffer.from(JSON.stringify(json ?? {})), retryAfter: undefined, ...answer }
    },
  })
  return world
}

const pod = (...images: readonly string[]) => ({
  metadata: {
    name: 'p',
    annotations: { 'a.image-policy.cluster.io/ticket': '1', 'image-policy.cluster.io/x': '2', other: '3' },
  },
  spec: { containers: images.map((image) => ({ name: image, image })), initContainers: [{ name: 'i', image: 'init' }] },
})
const allowed = { json: { status: { allowed: true, auditAnnotations: { a: 'b' } } } }
const denied = { json: { kind: 'ImageReview', status: { allowed: false, reason: 'old' } } }

test('all images of a pod are asked about, with the annotations that are meant for it', async () => {
  const world = await worldOf(allowed)
  assert.equal(await world.check(), '')
  assert.deepEqual(world.sent, [
    {
      kind: 'ImageReview',
      apiVersion: 'imagepolicy.cluster.io/v1alpha1',
      metadata: { creationTimestamp: null },
      spec: {
        containers: [{ image: 'one' }, { image: 'two' }, { image: 'init' }],
        annotations: { 'a.image-policy.cluster.io/ticket': '1' },
        namespace: 'n',
      },
      status: { allowed: false },
    },
  ])
  assert.deepEqual([...world.stage.remarks], [['imagepolicywebhook.image-policy.cluster.io/a', 'b']])
  const debug = { ...pod(), spec: { ephemeralContainers: [{ name: 'd', image: 'debug' }] } }
  await world.check({ operation: 'UPDATE', subresource: 'ephemeralcontainers', object: debug })
  assert.deepEqual(Object.entries(world.sent[1]?.spec ?? {})[0], ['containers', [{ image: 'debug' }]])
  await world.check({ operation: 'UPDATE', subresource: 'status' })
  await world.check({ operation: 'DELETE' })
  assert.equal(world.sent.length, 2)
})

test('an answer counts for a while, a refusal for its own', async () => {
  const world = await worldOf([allowed, denied, allowed])
  await world.check()
  world.nowMs = 999
  await world.check()
  assert.equal(world.sent.length, 1)
  world.nowMs = 1000
  const refusal = 'pods "p" is forbidden: image policy webhook backend denied one or more images: old'
  assert.equal(await world.check(), refusal)
  world.nowMs = 1099
  assert.equal(await world.check(), refusal)
  world.nowMs = 1100
  assert.equal(await world.check(), '')
  assert.equal(world.sent.length, 3)
  const forgetful = await worldOf(allowed, { allowTtlMs: 0 })
  await forgetful.check()
  await forgetful.check()
  assert.equal(forgetful.sent.length, 2)
})

const failures: readonly (readonly [string, Answer, string, number])[] = [
  ['no status', { json: {} }, 'pods "p" is forbidden: one or more images rejected by webhook backend', 1],
  [
    'an error that may pass',
    { status: 500, body: Buffer.from('x'), contentType: 'application/json' },
    'pods "p" is forbidden: an error on the server ("unknown") has prevented the request from succeeding',
    5,
  ],
  [
    'a reset',
    { error: Object.assign(new Error('read'), { code: 'ECONNRESET' }) },
    'pods "p" is forbidden: read: connection reset by peer',
    5,
  ],
  ['nobody', { error: Object.assign(new Error('c'), { code: 'ECONNREFUSED' }) }, 'pods "p" is forbidden: connect: connection refused', 1],
  ['a word for those who may not', { status: 403, body: Buffer.from('{"reason":"Forbidden","status":"Failure","message":"go"}') }, 'go', 1],
  [
    'another kind',
    { json: { kind: 'Other' } },
    'pods "p" is forbidden: the answer is a Other of , not a ImageReview of imagepolicy.cluster.io/v1alpha1',
    1,
  ],
  ['no JSON', { body: Buffer.from('{') }, 'pods "p" is forbidden: the answer is not JSON', 1],
]

for (const [title, answer, says, times] of failures) {
  test(`who answers with ${title} is asked ${times} times`, async () => {
    const world = await worldOf(answer)
    assert.equal(await world.check(), says)
    assert.equal(world.sent.length, times)
  })
}

test('where nobody answers, pods pass if that is wanted, and the audit log says so', async () => {
  const world = await worldOf({ error: new Error('gone') }, { defaultAllow: true })
  assert.equal(await world.check(), '')
  assert.deepEqual([...world.stage.remarks], [['imagepolicywebhook.image-policy.cluster.io/failed-open', 'true']])
})

test('a response that is very long is not remembered, and says no more to the audit log than a few annotations', async () => {
  const auditAnnotations = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, 'x'.repeat(1000)]))
  const world = await worldOf({ json: { status: { allowed: true, auditAnnotations: { 'no name\n': 'x', ...auditAnnotations } } } })
  for (const _ of ['once', 'again']) assert.equal(await world.check(), '')
  assert.equal(world.sent.length, 2)
  const names = [...world.stage.remarks.keys()]
  assert.ok(names.length > 0 && names.length <= 100, `${names.length} annotations`)
  assert.ok(!names.some((name) => name.includes('no name')))
})

for (const status of [{ allowed: 'true' }, { allowed: 1 }, 'allowed', [true]]) {
  test(`an answer with the status ${JSON.stringify(status)} allows nothing`, async () => {
    const world = await worldOf({ json: { status } })
    assert.match(await world.check(), /is forbidden/)
  })
}
