// ImagePolicyWebhook: ImageReviews sent, cache times, retries, failures.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointResponse } from '../../net/outbound/json-endpoint.js'
import { type AdmissionFixture, admissionFixture, type RequestInput, refusalOf } from '../admission.fixture.js'
import { type ImagePolicyParts, imagePolicyWebhook } from './image-policy-webhook.js'

type Reply = Partial<EndpointResponse> & { readonly json?: unknown; readonly error?: Error }

interface Setup {
  readonly fixture: AdmissionFixture
  readonly sent: { readonly spec: unknown; readonly [field: string]: unknown }[]
  nowMs: number
  check(input?: Partial<RequestInput>): Promise<string>
}

async function setUp(replies: Reply | readonly Reply[], settings: Partial<ImagePolicyParts['settings']> = {}): Promise<Setup> {
  const fixture = await admissionFixture('cluster')
  const sent: Setup['sent'] = []
  const queue = [replies].flat()
  const setup: Setup = {
    fixture,
    sent,
    nowMs: 0,
    check: (input = {}) =>
      refusalOf(
        plugin,
        fixture.request({ resource: fixture.find('pods'), object: pod('one', 'two'), name: 'p', namespace: 'n', ...input }),
      ),
  }
  const plugin = imagePolicyWebhook({
    settings: { allowTtlMs: 1000, denyTtlMs: 100, retryBackoffMs: 1, defaultAllow: false, ...settings },
    now: () => setup.nowMs,
    post: async (text) => {
      sent.push(JSON.parse(text))
      const { json, error, ...reply } = (queue.length > 1 ? queue.shift() : queue[0]) ?? {}
      if (error !== undefined) throw error
      return { status: 200, body: Buffer.from(JSON.stringify(json ?? {})), retryAfter: undefined, ...reply }
    },
  })
  return setup
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

test('an ImageReview has all images of the pod and the annotations for the webhook', async () => {
  const setup = await setUp(allowed)
  assert.equal(await setup.check(), '')
  assert.deepEqual(setup.sent, [
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
  assert.deepEqual([...setup.fixture.annotations], [['imagepolicywebhook.image-policy.cluster.io/a', 'b']])
  const debug = { ...pod(), spec: { ephemeralContainers: [{ name: 'd', image: 'debug' }] } }
  await setup.check({ operation: 'UPDATE', subresource: 'ephemeralcontainers', object: debug })
  assert.deepEqual(Object.entries(setup.sent[1]?.spec ?? {})[0], ['containers', [{ image: 'debug' }]])
  await setup.check({ operation: 'UPDATE', subresource: 'status' })
  await setup.check({ operation: 'DELETE' })
  assert.equal(setup.sent.length, 2)
})

test('allowed and denied reviews are cached for their own times', async () => {
  const setup = await setUp([allowed, denied, allowed])
  await setup.check()
  setup.nowMs = 999
  await setup.check()
  assert.equal(setup.sent.length, 1)
  setup.nowMs = 1000
  const refusal = 'pods "p" is forbidden: image policy webhook backend denied one or more images: old'
  assert.equal(await setup.check(), refusal)
  setup.nowMs = 1099
  assert.equal(await setup.check(), refusal)
  setup.nowMs = 1100
  assert.equal(await setup.check(), '')
  assert.equal(setup.sent.length, 3)
  const uncached = await setUp(allowed, { allowTtlMs: 0 })
  await uncached.check()
  await uncached.check()
  assert.equal(uncached.sent.length, 2)
})

const failures: readonly (readonly [string, Reply, string, number])[] = [
  ['no status', { json: {} }, 'pods "p" is forbidden: one or more images rejected by webhook backend', 1],
  [
    'a temporary error',
    { status: 500, body: Buffer.from('x'), contentType: 'application/json' },
    'pods "p" is forbidden: an error on the server ("unknown") has prevented the request from succeeding',
    5,
  ],
  [
    'a connection reset',
    { error: Object.assign(new Error('read'), { code: 'ECONNRESET' }) },
    'pods "p" is forbidden: read: connection reset by peer',
    5,
  ],
  [
    'a refused connection',
    { error: Object.assign(new Error('c'), { code: 'ECONNREFUSED' }) },
    'pods "p" is forbidden: connect: connection refused',
    1,
  ],
  [
    'a Status with reason Forbidden',
    { status: 403, body: Buffer.from('{"reason":"Forbidden","status":"Failure","message":"go"}') },
    'go',
    1,
  ],
  [
    'another kind',
    { json: { kind: 'Other' } },
    'pods "p" is forbidden: the response is a Other of , not a ImageReview of imagepolicy.cluster.io/v1alpha1',
    1,
  ],
  ['no JSON', { body: Buffer.from('{') }, 'pods "p" is forbidden: the response is not JSON', 1],
]

for (const [title, reply, message, times] of failures) {
  test(`a webhook that responds with ${title} is called ${times} times`, async () => {
    const setup = await setUp(reply)
    assert.equal(await setup.check(), message)
    assert.equal(setup.sent.length, times)
  })
}

test('defaultAllow admits pods when the webhook fails, with an audit annotation', async () => {
  const setup = await setUp({ error: new Error('gone') }, { defaultAllow: true })
  assert.equal(await setup.check(), '')
  assert.deepEqual([...setup.fixture.annotations], [['imagepolicywebhook.image-policy.cluster.io/failed-open', 'true']])
})

for (const status of [{ allowed: 'true' }, { allowed: 1 }, 'allowed', [true]]) {
  test(`a response with the status ${JSON.stringify(status)} allows nothing`, async () => {
    const setup = await setUp({ json: { status } })
    assert.match(await setup.check(), /is forbidden/)
  })
}
