// Webhooks that deny, fail, or send invalid responses: messages for the client, and the failure policy.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { WebhookReply } from './webhook-server.fixture.js'
import { type Reply, rejectionOf, webhookFixture } from './webhooks.fixture.js'

const denials: readonly (readonly [string, object, Partial<ApiError['status']>])[] = [
  ['no status', {}, { code: 400, message: 'admission webhook "v.example.com" denied the request without explanation' }],
  [
    'a reason',
    { status: { reason: 'why' } },
    { code: 400, reason: 'why', message: 'admission webhook "v.example.com" denied the request: why' },
  ],
  [
    'status Success',
    { status: { code: 200, status: 'Success', message: 'odd' } },
    { code: 400, message: 'admission webhook "v.example.com" denied the request: odd' },
  ],
  [
    'a code that HTTP does not have',
    { status: { code: 1234, message: 'm' } },
    { code: 500, message: 'admission webhook "v.example.com" denied the request: m' },
  ],
  [
    'details',
    { status: { code: 409, reason: 'Conflict', message: 'm', details: { name: 'x', causes: [{ field: 'f', message: 'bad' }] } } },
    {
      code: 409,
      reason: 'Conflict',
      message: 'admission webhook "v.example.com" denied the request: m',
      details: { name: 'x', causes: [{ field: 'f', message: 'bad' }] },
    },
  ],
]

for (const [title, response, status] of denials) {
  test(`a denial with ${title} returns ${status.code}`, async () => {
    const fixture = await webhookFixture(() => ({ allowed: false, ...response }))
    await fixture.configure('validating', 'c', fixture.webhook('v', { failurePolicy: 'Ignore' }))
    assert.deepEqual(await rejectionOf(fixture.admit()), status)
    assert.deepEqual(
      Array.from(fixture.counters.rejections(), ({ labels }) => labels),
      [['no_error', 'v.example.com', 'CREATE', String(status.code), 'validating']],
    )
  })
}

const rawReply =
  (text: string, status = 200, type = 'application/json'): Reply =>
  () =>
  (response) =>
    void response.writeHead(status, { 'content-type': type }).end(text)
const failures: readonly (readonly [string, Reply, RegExp])[] = [
  [
    'status 500',
    rawReply('oh no', 500),
    /failed to call webhook: an error on the server \("unknown"\) has prevented the request from succeeding$/,
  ],
  ['status 500 and a text body', rawReply(' oh no\n', 500, 'text/plain'), /an error on the server \("oh no"\)/],
  ['a Status', rawReply('{"kind":"Status","status":"Failure","message":"go away"}', 403), /failed to call webhook: go away$/],
  [
    'a redirect',
    () => (response) => void response.writeHead(307, { location: '/other' }).end(),
    /the server responded with the status code 307 but/,
  ],
  ['no JSON', rawReply('hello'), /failed to call webhook: .*json parse error/],
  ['an empty body', rawReply(''), /failed to call webhook: the response has no body/],
  ['no `response` field', rawReply('{}'), /received invalid webhook response: webhook response was absent$/],
  ['another uid', () => ({ uid: 'x' }), /received invalid webhook response: expected response\.uid="uid-0", got "x"$/],
  [
    'a response without kind and apiVersion',
    () =>
      (response, { request }) =>
        void response.end(JSON.stringify({ response: { uid: request.uid, allowed: true } })),
    /expected webhook response of admission\.k8s\.io\/v1, Kind=AdmissionReview, got \/, Kind=$/,
  ],
  ['another kind', rawReply('{"kind":"Other","apiVersion":"admission.k8s.io/v1"}'), /failed to call webhook: the response is a Other/],
  ['a field of another type', () => ({ allowed: 'yes' }), /failed to call webhook: .*allowed/],
  ['a patch of a validating webhook', () => ({ patch: [] }), /validating webhook may not return response\.patch$/],
  [
    'a truncated body',
    () => (response) => void response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy()),
    /failed to call webhook: Post "http/,
  ],
  ['an endless body', () => endless, /failed to call webhook: Post .*: (the response is longer than|context deadline exceeded)/],
  [
    'a body that arrives slowly',
    () => slow,
    /failed to call webhook: Post "http:\/\/127\.0\.0\.1:\d+\/v\?timeout=1s": context deadline exceeded$/,
  ],
]

const endless: Extract<WebhookReply, (...args: never[]) => void> = (response) => {
  const writeMore = (): void => void response.write(Buffer.alloc(1 << 16, ' '), (error) => error ?? setImmediate(writeMore))
  writeMore()
}
const slow: Extract<WebhookReply, (...args: never[]) => void> = (response) => {
  const timer = setInterval(() => response.write(' '), 100)
  response.on('close', () => clearInterval(timer))
}

for (const [title, reply, message] of failures) {
  test(`a response with ${title} is a failed call, subject to failurePolicy`, async () => {
    const fixture = await webhookFixture(reply)
    await fixture.configure('validating', 'c', fixture.webhook('v', { timeoutSeconds: 1 }))
    const status = await rejectionOf(fixture.admit())
    assert.deepEqual([status.code, status.reason], [500, 'InternalError'])
    assert.match(status.message, message)
    assert.match(status.message, /^Internal error occurred: failed calling webhook "v\.example\.com": /)
    await fixture.configure('validating', 'c', fixture.webhook('v', { timeoutSeconds: 1, failurePolicy: 'Ignore' }))
    await fixture.admit()
    assert.deepEqual([...fixture.annotations], [['failed-open.validating.webhook.admission.k8s.io/round_0_index_0', 'v.example.com']])
    assert.deepEqual(
      Array.from(fixture.counters.failOpenCounts(), ({ labels, count }) => [...labels, count]),
      [['v.example.com', 'validating', 1]],
    )
    const [{ labels: [cause] = [] } = {}] = [...fixture.counters.rejections()]
    assert.equal(cause, 'calling_webhook_error')
  })
}

const patches: readonly (readonly [string, unknown, RegExp])[] = [
  [
    'a failing test operation',
    [{ op: 'test', path: '/data/k', value: 'x' }],
    /^Internal error occurred: testing value \/data\/k failed: test failed$/,
  ],
  ['a missing path', [{ op: 'remove', path: '/data/x' }], /error in remove for path: '\/data\/x': Unable to remove nonexistent key: x/],
  ['another kind', [{ op: 'replace', path: '/kind', value: 'Secret' }], /the patched object is not a ConfigMap of v1/],
  ['a value of another type', [{ op: 'replace', path: '/data', value: 'text' }], /data/],
  [
    'an object that is too large',
    [{ op: 'add', path: '/data/x', value: 'x'.repeat(3 << 20) }],
    /made the object longer than 1540096 bytes/,
  ],
  ['an object instead of a list', { op: 'add' }, /must be a list of operations/],
  [
    'copies of too many values',
    [{ op: 'add', path: '/a', value: [] }, ...Array.from({ length: 19 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }))],
    /the copies of the patch hold too many values/,
  ],
]

for (const [title, patch, message] of patches) {
  test(`a patch with ${title} fails the request, whatever the failurePolicy is`, async () => {
    const fixture = await webhookFixture(() => ({ patch }))
    await fixture.configure('mutating', 'c', fixture.webhook('m', { failurePolicy: 'Ignore' }))
    const status = await rejectionOf(fixture.admit())
    assert.equal(status.code, 500)
    assert.match(status.message, message)
    assert.deepEqual(
      Array.from(fixture.counters.rejections(), ({ labels: [cause] }) => cause),
      ['apiserver_internal_error'],
    )
  })
}

test('the operations of a patch are counted before it is parsed', async () => {
  const patch = Buffer.from(`[${'0,'.repeat(40_000)}no JSON]`).toString('base64')
  const fixture = await webhookFixture(
    () =>
      (response, { request, ...review }) =>
        void response.end(JSON.stringify({ ...review, response: { uid: request.uid, allowed: true, patchType: 'JSONPatch', patch } })),
  )
  await fixture.configure('mutating', 'c', fixture.webhook('m'))
  assert.match((await rejectionOf(fixture.admit())).message, /The allowed maximum operations in a JSON patch is 10000, got 40001$/)
})

test('only the first hundred audit annotations of a response are used', async () => {
  const auditAnnotations = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, 'v']))
  const fixture = await webhookFixture(() => ({ auditAnnotations }))
  await fixture.configure('validating', 'c', fixture.webhook('v'))
  await fixture.admit()
  const keys = [...fixture.annotations.keys()]
  assert.deepEqual([keys.length, keys[0], keys.at(-1)], [100, 'v.example.com/k0', 'v.example.com/k99'])
})

test('an invalid URL is subject to failurePolicy', async () => {
  const fixture = await webhookFixture(() => ({}))
  await fixture.configure('validating', 'c', fixture.webhook('v', { clientConfig: { url: 'https://[::' } }))
  assert.match((await rejectionOf(fixture.admit())).message, /failed calling webhook "v\.example\.com": could not get REST client: /)
  await fixture.configure('validating', 'c', fixture.webhook('v', { clientConfig: { url: 'https://[::' }, failurePolicy: 'Ignore' }))
  await fixture.admit()
})

const retryAfterReply =
  (status: number, seconds: string): WebhookReply =>
  (response) =>
    void response.writeHead(status, { 'retry-after': seconds }).end('later')

test('Retry-After is honoured within the timeout, a limited number of times', async () => {
  const replies: WebhookReply[] = []
  const fixture = await webhookFixture(() => replies.shift() ?? {})
  await fixture.configure('validating', 'c', fixture.webhook('v'))
  replies.push(retryAfterReply(429, '0'), retryAfterReply(503, '0'))
  await fixture.admit()
  assert.equal(fixture.calls.length, 3)
  assert.deepEqual(
    Array.from(fixture.counters.requests(), ({ labels, count }) => [labels[0], count]),
    [['200', 1]],
  )
  replies.push(retryAfterReply(503, '3600'))
  assert.match((await rejectionOf(fixture.admit())).message ?? '', /failed to call webhook: Post ".*": context deadline exceeded$/)
  assert.equal(fixture.calls.length, 4)
  // Retry-After without whole seconds, or with another status, is not retried.
  replies.push(retryAfterReply(503, 'soon'), retryAfterReply(400, '0'))
  for (const message of [/unable to handle the request/, /rejected our request/])
    assert.match((await rejectionOf(fixture.admit())).message ?? '', message)
  assert.equal(fixture.calls.length, 6)
  replies.push(...Array.from({ length: 20 }, () => retryAfterReply(429, '0')))
  assert.match((await rejectionOf(fixture.admit())).message ?? '', /too many requests/)
  assert.equal(fixture.calls.length, 17)
})
