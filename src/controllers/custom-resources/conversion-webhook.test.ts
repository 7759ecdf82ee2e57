// What a webhook that converts is sent, and every way in which its answer is refused.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { ApiObject } from '../../api/object.js'
import { conversionWebhook } from './conversion-webhook.js'

type Review = { request: { uid: string; desiredAPIVersion: string; objects: { metadata: object; spec: { mode?: string } }[] } }

const parts = {
  reviewGroup: 'apiextensions.cluster.io',
  locate: () => {
    throw new Error('there are no services here')
  },
}

/** Answers as the mode of the first object says. */
function answerTo({ request }: Review): unknown {
  const mode = request.objects[0]?.spec.mode
  const objects = request.objects.map((object) => ({ ...object, apiVersion: mode === 'version' ? 'g/v9' : request.desiredAPIVersion }))
  const [first] = objects
  if (mode === 'rename') Object.assign(first?.metadata ?? {}, { name: 'other' })
  if (mode === 'meta') Object.assign(first?.metadata ?? {}, { labels: { l: 'x' }, generation: 99 })
  if (mode === 'labels') Object.assign(first?.metadata ?? {}, { labels: { l: 'not a label' } })
  if (mode === 'none')
    return {
      apiVersion: 'apiextensions.cluster.io/v1',
      kind: 'ConversionReview',
      response: { uid: request.uid, convertedObjects: 'x', result: { status: 'Success' } },
    }
  if (mode === 'empty') return { apiVersion: 'apiextensions.cluster.io/v1', kind: 'ConversionReview' }
  if (mode === 'untyped') return {}
  if (mode === 'parts') Object.assign(first ?? {}, { more: Array.from({ length: 60_000 }, (_, i) => ({ i })) })
  if (mode === 'odd') Object.assign(first?.metadata ?? {}, { uid: { toString: 'none' } })
  if (mode === 'rest' || mode === 'unlisted')
    return {
      apiVersion: 'apiextensions.cluster.io/v1',
      kind: 'ConversionReview',
      more: Array.from({ length: 60_000 }, (_, i) => ({ i })),
      response: { uid: request.uid, ...(mode === 'rest' ? { convertedObjects: objects } : {}), result: { status: 'Success' } },
    }
  if (mode === 'chatter')
    return {
      apiVersion: 'apiextensions.cluster.io/v1',
      kind: 'ConversionReview',
      response: { uid: request.uid, convertedObjects: [], result: { status: 'Failure', message: 'm'.repeat(50_000) } },
    }
  if (mode === 'echo')
    return {
      apiVersion: 'apiextensions.cluster.io/v1',
      kind: 'ConversionReview',
      request,
      response: { uid: request.uid, convertedObjects: objects, result: { status: 'Success' } },
    }
  if (mode === 'swapped') objects.reverse()
  if (mode === 'one twice') objects[1] = { ...objects[1], ...first } as (typeof objects)[number]
  if (mode === 'one too many') objects.push({ ...objects[0] } as (typeof objects)[number])
  if (mode === 'moved') Object.assign(first?.metadata ?? {}, { namespace: 'kube-system' })
  if (mode === 'no uid') Object.assign(first?.metadata ?? {}, { uid: undefined })
  if (mode === 'another kind') Object.assign(first ?? {}, { kind: 'Secret' })
  if (mode === 'no object') Object.assign(objects, { 0: null })
  if (mode === 'flood') Object.assign(first ?? {}, { more: 'x'.repeat(2 << 20) })
  return {
    apiVersion: 'apiextensions.cluster.io/v1',
    kind: 'ConversionReview',
    response: {
      uid: mode === 'uid' ? 'zzz' : request.uid,
      convertedObjects: mode === 'short' ? [] : objects,
      ...(mode === 'silent' ? {} : { result: mode === 'refuse' ? { status: 'Failure', message: 'no' } : { status: 'Success' } }),
    },
  }
}

const server = createServer((request, response) => {
  let text = ''
  request.on('data', (part) => {
    text += part
  })
  request.on('end', () => {
    const review = JSON.parse(text) as Review
    const mode = review.request.objects[0]?.spec.mode
    const answer = mode === 'broken' ? 'oh' : mode === 'text' ? 'hello' : JSON.stringify(answerTo(review))
    response.writeHead(mode === 'broken' ? 500 : 200).end(answer)
  })
})
before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
after(() => {
  server.closeAllConnections()
  server.close()
})

const webhook = (url: string) =>
  conversionWebhook(
    {
      spec: {
        group: 'g',
        names: { kind: 'Box', plural: 'boxes' },
        conversion: { strategy: 'Webhook', webhook: { clientConfig: { url }, conversionReviewVersions: ['v9', 'v1'] } },
      },
    },
    parts,
  )

async function convert(mode: string): Promise<ApiObject | undefined> {
  const made = webhook(`http://127.0.0.1:${(server.address() as AddressInfo).port}/convert`)
  const object = { metadata: { name: 'a', uid: 'u', generation: 1, annotations: { old: '1' } }, spec: { mode } } as ApiObject
  try {
    return (await made?.convert([object], { from: 'g/v1', to: 'g/v2' }))?.[0]
  } finally {
    made?.close()
  }
}

test('objects come back without their type, and with no metadata changed but labels and annotations', async () => {
  assert.deepEqual(await convert('meta'), {
    metadata: { name: 'a', uid: 'u', generation: 1, labels: { l: 'x' }, annotations: { old: '1' } },
    spec: { mode: 'meta' },
  })
})

const refusals = {
  refuse: 'failed: no',
  short: 'returned 0 objects, expected 1',
  rename: 'returned invalid object: must have the same name: a != other',
  version: 'returned invalid object at index 0: invalid groupVersion (expected g/v2, received g/v9)',
  silent: "failed: response.result.status was '', not 'Success'",
  empty: 'failed: no response provided',
  untyped: 'failed: expected webhook response of apiextensions.cluster.io/v1, Kind=ConversionReview, got /, Kind=',
  text: "failed: couldn't get version/kind; json parse error: invalid character 'h' looking for beginning of value",
  parts: 'returned invalid object at index 0: it has far more parts than the object that was sent',
  rest: 'failed: the answer is too long',
  unlisted: 'failed: the answer is too long',
  odd: 'returned invalid object: must have the same UID: u != {…}',
  chatter: `failed: ${'m'.repeat(4096)}...`,
  broken: 'failed: an error on the server ("oh") has prevented the request from succeeding',
}
for (const [mode, why] of Object.entries(refusals)) {
  test(`an answer is refused: ${mode}`, () => assert.rejects(convert(mode), { message: `conversion webhook for g/v1, Kind=Box ${why}` }))
}

const confusions = {
  swapped: 'returned invalid object: must have the same name: a != b',
  'one twice': 'returned invalid object: must have the same name: b != a',
  'one too many': 'returned 3 objects, expected 2',
  moved: 'returned invalid object: must have the same namespace: n != kube-system',
  'no uid': 'returned invalid object: must have the same UID: u !=',
  'another kind': 'returned invalid object at index 0: invalid kind (expected Box, received Secret)',
  'no object': 'returned invalid object: an object is expected',
}
for (const [mode, why] of Object.entries(confusions)) {
  test(`of several objects none becomes another: ${mode}`, async () => {
    const made = webhook(`http://127.0.0.1:${(server.address() as AddressInfo).port}/convert`)
    const object = (name: string, uid: string) => ({ metadata: { name, namespace: 'n', uid }, spec: { mode } }) as ApiObject
    const converting = made?.convert([object('a', 'u'), object('b', 'v')], { from: 'g/v1', to: 'g/v2' })
    await assert.rejects(converting ?? Promise.resolve(), ({ message }: Error) => message.includes(why) || assert.fail(message))
    made?.close()
  })
}

test('labels that are none are refused', () =>
  assert.rejects(convert('labels'), /returned invalid metadata: metadata\.labels: Invalid value: "not a label"/))

test('an answer that is many times as long as the question is refused', () =>
  assert.rejects(convert('flood'), /failed: the answer is too long$/))

test('an answer to another review is refused', () => assert.rejects(convert('uid'), /failed: expected response\.uid=".{36}", got "zzz"/))

test('a webhook that is not there is told of', () =>
  assert.rejects(
    async () => webhook('http://127.0.0.1:1/')?.convert([{ metadata: {} }], { from: 'g/v1', to: 'g/v2' }),
    /failed: Post "http:\/\/127\.0\.0\.1:1\/\?timeout=30s": dial tcp 127\.0\.0\.1:1: connect: connection refused/,
  ))

test('kinds whose versions are the same need none', () => assert.equal(conversionWebhook({ spec: {} }, parts), undefined))

test('many objects come back in their order, in pieces that let others have their turn', async () => {
  const made = webhook(`http://127.0.0.1:${(server.address() as AddressInfo).port}/convert`)
  const padding = '"\\,]}{['.repeat(800)
  const objects = Array.from({ length: 500 }, (_, i) => ({ metadata: { name: `n${i}`, uid: `u${i}` }, spec: { padding } }) as ApiObject)
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 1)
  const converted = await made?.convert(objects, { from: 'g/v1', to: 'g/v2' })
  clearInterval(timer)
  made?.close()
  assert.deepEqual(converted, objects)
  assert.ok(turns > 0)
})

test('what is no list of objects holds none', async () => {
  await assert.rejects(convert('none'), { message: 'conversion webhook for g/v1, Kind=Box returned 0 objects, expected 1' })
})

test('a webhook may send the request back, however long it was', async () => {
  const made = webhook(`http://127.0.0.1:${(server.address() as AddressInfo).port}/convert`)
  const spec = { mode: 'echo', items: Array.from({ length: 50 }, (_, i) => ({ i, text: '"\\,]}{['.repeat(4) })) }
  const objects = Array.from({ length: 100 }, (_, i) => ({ metadata: { name: `n${i}`, uid: `u${i}` }, spec }) as ApiObject)
  try {
    assert.deepEqual(await made?.convert(objects, { from: 'g/v1', to: 'g/v2' }), objects)
  } finally {
    made?.close()
  }
})
