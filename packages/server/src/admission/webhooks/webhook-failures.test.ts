// Hooks that refuse, fail, answer nonsense or too much: what the client is told, and what the failure policy forgives.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiError } from '../../api/api-error.js'
import type { HookReply } from './hook-server.fixture.js'
import { type Reply, refused, worldOf } from './hook-world.fixture.js'

const denials: readonly (readonly [string, object, Partial<ApiError['status']>])[] = [
  ['nothing', {}, { code: 400, message: 'admission webhook "v.example.com" denied the request without explanation' }],
  [
    'a reason',
    { status: { reason: 'why' } },
    { code: 400, reason: 'why', message: 'admission webhook "v.example.com" denied the request: why' },
  ],
  [
    'a success',
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
  test(`a refusal that says ${title}`, async () => {
    const world = await worldOf(() => ({ allowed: false, ...response }))
    await world.configure('validating', 'c', world.hook('v', { failurePolicy: 'Ignore' }))
    assert.deepEqual(await refused(world.admit()), status)
    assert.deepEqual(
      Array.from(world.tallies.rejections(), ({ labels }) => labels),
      [['no_error', 'v.example.com', 'CREATE', String(status.code), 'validating']],
    )
  })
}

const raw =
  (text: string, status = 200, type = 'application/json'): Reply =>
  () =>
  (response) =>
    void response.writeHead(status, { 'content-type': type }).end(text)
const bad: readonly (readonly [string, Reply, RegExp])[] = [
  [
    'an error',
    raw('oh no', 500),
    /failed to call webhook: an error on the server \("unknown"\) has prevented the request from succeeding$/,
  ],
  ['an error in words', raw(' oh no\n', 500, 'text/plain'), /an error on the server \("oh no"\)/],
  ['a Status', raw('{"kind":"Status","status":"Failure","message":"go away"}', 403), /failed to call webhook: go away$/],
  [
    'a redirect',
    () => (response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
    /the server responded with the status code 307 but/,
  ],
  ['no JSON', raw('hello'), /failed to call webhook: .*json parse error/],
  ['nothing', raw(''), /failed to call webhook: the answer has no body/],
  ['no response', raw('{}'), /received invalid webhook response: webhook response was absent$/],
  ['another uid', () => ({ uid: 'x' }), /received invalid webhook response: expected response\.uid="uid-0", got "x"$/],
  [
    'a response without a type',
    () =>
      (response, { request }) =>
        void response.end(JSON.stringify({ response: { uid: request.uid, allowed: true } })),
    /expected webhook response of admission\.k8s\.io\/v1, Kind=AdmissionReview, got \/, Kind=$/,
  ],
  ['another kind', raw('{"kind":"Other","apiVersion":"admission.k8s.io/v1"}'), /failed to call webhook: the answer is a Other/],
  ['a field of another type', () => ({ allowed: 'yes' }), /failed to call webhook: .*allowed/],
  ['a patch that it may not make', () => ({ patch: [] }), /validating webhook may not return response\.patch$/],
  [
    'an answer that breaks off',
    () => (response) => void response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy()),
    /failed to call webhook: Post "http/,
  ],
  ['an answer without end', () => endless, /failed to call webhook: Post .*: (the answer is longer than|context deadline exceeded)/],
  [
    'an answer that drips',
    () => drips,
    /failed to call webhook: Post "http:\/\/127\.0\.0\.1:\d+\/v\?timeout=1s": context deadline exceeded$/,
  ],
]

const endless: Extract<HookReply, (...args: never[]) => void> = (response) => {
  const more = (): void => void response.write(Buffer.alloc(1 << 16, ' '), (error) => error ?? setImmediate(more))
  more()
}
const drips: Extract<HookReply, (...args: never[]) => void> = (response) => {
  const timer = setInterval(() => response.write(' '), 100)
  response.on('close', () => clearInterval(timer))
}

for (const [title, reply, says] of bad) {
  test(`a hook that answers with ${title} fails as its policy says`, async () => {
    const world = await worldOf(reply)
    await world.configure('validating', 'c', world.hook('v', { timeoutSeconds: 1 }))
    const status = await refused(world.admit())
    assert.deepEqual([status.code, status.reason], [500, 'InternalError'])
    assert.match(status.message, says)
    assert.match(status.message, /^Internal error occurred: failed calling webhook "v\.example\.com": /)
    await world.configure('validating', 'c', world.hook('v', { timeoutSeconds: 1, failurePolicy: 'Ignore' }))
    await world.admit()
    assert.deepEqual([...world.remarks], [['failed-open.validating.webhook.admission.k8s.io/round_0_index_0', 'v.example.com']])
    assert.deepEqual(
      Array.from(world.tallies.opened(), ({ labels, count }) => [...labels, count]),
      [['v.example.com', 'validating', 1]],
    )
    const [{ labels: [cause] = [] } = {}] = [...world.tallies.rejections()]
    assert.equal(cause, 'calling_webhook_error')
  })
}

const patches: readonly (readonly [string, unknown, RegExp])[] = [
  [
    'a test that fails',
    [{ op: 'test', path: '/data/k', value: 'x' }],
    /^Internal error occurred: testing value \/data\/k failed: test failed$/,
  ],
  [
    'a place that is not there',
    [{ op: 'remove', path: '/data/x' }],
    /error in remove for path: '\/data\/x': Unable to remove nonexistent key: x/,
  ],
  ['another kind', [{ op: 'replace', path: '/kind', value: 'Secret' }], /the patch leaves no ConfigMap of v1/],
  ['a value of another type', [{ op: 'replace', path: '/data', value: 'text' }], /data/],
  [
    'an object that is too large',
    [{ op: 'add', path: '/data/x', value: 'x'.repeat(3 << 20) }],
    /made the object longer than 1540096 bytes/,
  ],
  ['no list', { op: 'add' }, /must be a list of operations/],
  [
    'copies of a great many values',
    [{ op: 'add', path: '/a', value: [] }, ...Array.from({ length: 19 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }))],
    /the copies of the patch hold too many values/,
  ],
]

for (const [title, patch, says] of patches) {
  test(`a patch with ${title} ends the request, whatever the policy`, async () => {
    const world = await worldOf(() => ({ patch }))
    await world.configure('mutating', 'c', world.hook('m', { failurePolicy: 'Ignore' }))
    const status = await refused(world.admit())
    assert.equal(status.code, 500)
    assert.match(status.message, says)
    assert.deepEqual(
      Array.from(world.tallies.rejections(), ({ labels: [cause] }) => cause),
      ['apiserver_internal_error'],
    )
  })
}

test('the operations of a patch are counted before it is parsed', async () => {
  const patch = Buffer.from(`[${'0,'.repeat(40_000)}no JSON]`).toString('base64')
  const world = await worldOf(
    () =>
      (response, { request, ...review }) =>
        void response.end(JSON.stringify({ ...review, response: { uid: request.uid, allowed: true, patchType: 'JSONPatch', patch } })),
  )
  await world.configure('mutating', 'c', world.hook('m'))
  assert.match((await refused(world.admit())).message, /The allowed maximum operations in a JSON patch is 10000, got 40001$/)
})

test('of the remarks for the audit log only the first hundred are looked at', async () => {
  const auditAnnotations = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, 'v']))
  const world = await worldOf(() => ({ auditAnnotations }))
  await world.configure('validating', 'c', world.hook('v'))
  await world.admit()
  const keys = [...world.remarks.keys()]
  assert.deepEqual([keys.length, keys[0], keys.at(-1)], [100, 'v.example.com/k0', 'v.example.com/k99'])
})

test('a URL that is none is a matter of the failure policy', async () => {
  const world = await worldOf(() => ({}))
  await world.configure('validating', 'c', world.hook('v', { clientConfig: { url: 'https://[::' } }))
  assert.match((await refused(world.admit())).message, /failed calling webhook "v\.example\.com": could not get REST client: /)
  await world.configure('validating', 'c', world.hook('v', { clientConfig: { url: 'https://[::' }, failurePolicy: 'Ignore' }))
  await world.admit()
})

const later =
  (status: number, seconds: string): HookReply =>
  (response) =>
    void response.writeHead(status, { 'retry-after': seconds }).end('later')

test('a hook that wants to be asked later is asked again, within its time and not without end', async () => {
  const replies: HookReply[] = []
  const world = await worldOf(() => replies.shift() ?? {})
  await world.configure('validating', 'c', world.hook('v'))
  replies.push(later(429, '0'), later(503, '0'))
  await world.admit()
  assert.equal(world.calls.length, 3)
  assert.deepEqual(
    Array.from(world.tallies.requests(), ({ labels, count }) => [labels[0], count]),
    [['200', 1]],
  )
  replies.push(later(503, '3600'))
  assert.match((await refused(world.admit())).message ?? '', /failed to call webhook: Post ".*": context deadline exceeded$/)
  assert.equal(world.calls.length, 4)
  // What is no number of seconds, or no matter of time, counts as it is.
  replies.push(later(503, 'soon'), later(400, '0'))
  for (const why of [/unable to handle the request/, /rejected our request/])
    assert.match((await refused(world.admit())).message ?? '', why)
  assert.equal(world.calls.length, 6)
  replies.push(...Array.from({ length: 20 }, () => later(429, '0')))
  assert.match((await refused(world.admit())).message ?? '', /too many requests/)
  assert.equal(world.calls.length, 17)
})
