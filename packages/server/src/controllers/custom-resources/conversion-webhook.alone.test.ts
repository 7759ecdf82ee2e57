// Conversion webhooks: accepted changes, rejected responses, the URL, and unreachable webhooks.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { conversionWebhook } from './conversion-webhook.js'

type Review = { request: { uid: string; desiredAPIVersion: string; objects: { metadata: object; spec: { mode?: string } }[] } }

const parts = {
  reviewGroup: 'apiextensions.cluster.io',
  locate: () => {
    throw new Error('no services in this test')
  },
}

/** The mode of the first object selects the response. */
function respondTo({ request }: Review): unknown {
  const mode = request.objects[0]?.spec.mode
  const objects = request.objects.map((object) => ({
    ...object,
    apiVersion: mode === 'wrong apiVersion' ? 'g/v9' : request.desiredAPIVersion,
  }))
  const [first] = objects
  if (mode === 'changed name') Object.assign(first?.metadata ?? {}, { name: 'other' })
  if (mode === 'changed metadata') Object.assign(first?.metadata ?? {}, { labels: { l: 'x' }, generation: 99 })
  if (mode === 'invalid labels') Object.assign(first?.metadata ?? {}, { labels: { l: 'not a label' } })
  if (mode === 'convertedObjects is a string')
    return {
      apiVersion: 'apiextensions.cluster.io/v1',
      kind: 'ConversionReview',
      response: { uid: request.uid, convertedObjects: 'x', result: { status: 'Success' } },
    }
  if (mode === 'no response') return { apiVersion: 'apiextensions.cluster.io/v1', kind: 'ConversionReview' }
  if (mode === 'no kind') return {}
  if (mode === 'object with many more values') Object.assign(first ?? {}, { more: Array.from({ length: 60_000 }, (_, i) => ({ i })) })
  if (mode === 'uid is an object') Object.assign(first?.metadata ?? {}, { uid: { toString: 'none' } })
  if (mode === 'large extra field' || mode === 'large extra field and no objects')
    return {
      apiVersion: 'apiextensions.cluster.io/v1',
      kind: 'ConversionReview',
      more: Array.from({ length: 60_000 }, (_, i) => ({ i })),
      response: { uid: request.uid, ...(mode === 'large extra field' ? { convertedObjects: objects } : {}), result: { status: 'Success' } },
    }
  if (mode === 'long failure message')
    return {
      apiVersion: 'apiextensions.cluster.io/v1',
      kind: 'ConversionReview',
      response: { uid: request.uid, convertedObjects: [], result: { status: 'Failure', message: 'm'.repeat(50_000) } },
    }
  if (mode === 'request sent back')
    return {
      apiVersion: 'apiextensions.cluster.io/v1',
      kind: 'ConversionReview',
      request,
      response: { uid: request.uid, convertedObjects: objects, result: { status: 'Success' } },
    }
  if (mode === 'swapped objects') objects.reverse()
  if (mode === 'the first object twice') objects[1] = { ...objects[1], ...first } as (typeof objects)[number]
  if (mode === 'one too many') objects.push({ ...objects[0] } as (typeof objects)[number])
  if (mode === 'changed namespace') Object.assign(first?.metadata ?? {}, { namespace: 'kube-system' })
  if (mode === 'no uid') Object.assign(first?.metadata ?? {}, { uid: undefined })
  if (mode === 'another kind') Object.assign(first ?? {}, { kind: 'Secret' })
  if (mode === 'null instead of an object') Object.assign(objects, { 0: null })
  if (mode === 'long response') Object.assign(first ?? {}, { more: 'x'.repeat(2 << 20) })
  return {
    apiVersion: 'apiextensions.cluster.io/v1',
    kind: 'ConversionReview',
    response: {
      uid: mode === 'wrong uid' ? 'zzz' : request.uid,
      convertedObjects: mode === 'too few objects' ? [] : objects,
      ...(mode === 'no result' ? {} : { result: mode === 'result Failure' ? { status: 'Failure', message: 'no' } : { status: 'Success' } }),
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
    const body = mode === 'HTTP status 500' ? 'oh' : mode === 'not JSON' ? 'hello' : JSON.stringify(respondTo(review))
    response.writeHead(mode === 'HTTP status 500' ? 500 : 200).end(body)
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
  const converter = webhook(`http://127.0.0.1:${(server.address() as AddressInfo).port}/convert`)
  const object = { metadata: { name: 'a', uid: 'u', generation: 1, annotations: { old: '1' } }, spec: { mode } } as ApiObject
  try {
    return (await converter?.convert([object], { from: 'g/v1', to: 'g/v2' }))?.[0]
  } finally {
    converter?.close()
  }
}

test('a webhook can change labels and annotations and no other metadata', async () => {
  assert.deepEqual(await convert('changed metadata'), {
    metadata: { name: 'a', uid: 'u', generation: 1, labels: { l: 'x' }, annotations: { old: '1' } },
    spec: { mode: 'changed metadata' },
  })
})

const rejections = {
  'result Failure': 'failed: no',
  'too few objects': 'returned 0 objects, expected 1',
  'changed name': 'returned invalid object: must have the same name: a != other',
  'wrong apiVersion': 'returned invalid object at index 0: invalid groupVersion (expected g/v2, received g/v9)',
  'no result': "failed: response.result.status was '', not 'Success'",
  'no response': 'failed: no response provided',
  'no kind': 'failed: expected webhook response of apiextensions.cluster.io/v1, Kind=ConversionReview, got /, Kind=',
  'not JSON': "failed: couldn't get version/kind; json parse error: invalid character 'h' looking for beginning of value",
  'object with many more values': 'returned invalid object at index 0: it has far more parts than the object that was sent',
  'large extra field': 'failed: the answer is too long',
  'large extra field and no objects': 'failed: the answer is too long',
  'uid is an object': 'returned invalid object: must have the same UID: u != {…}',
  'long failure message': `failed: ${'m'.repeat(4096)}...`,
  'HTTP status 500': 'failed: an error on the server ("oh") has prevented the request from succeeding',
}
for (const [mode, problem] of Object.entries(rejections)) {
  test(`a response is rejected: ${mode}`, () =>
    assert.rejects(convert(mode), { message: `conversion webhook for g/v1, Kind=Box ${problem}` }))
}

const mismatches = {
  'swapped objects': 'returned invalid object: must have the same name: a != b',
  'the first object twice': 'returned invalid object: must have the same name: b != a',
  'one too many': 'returned 3 objects, expected 2',
  'changed namespace': 'returned invalid object: must have the same namespace: n != kube-system',
  'no uid': 'returned invalid object: must have the same UID: u !=',
  'another kind': 'returned invalid object at index 0: invalid kind (expected Box, received Secret)',
  'null instead of an object': 'returned invalid object: an object is expected',
}
for (const [mode, problem] of Object.entries(mismatches)) {
  test(`objects of a response must match those of the request: ${mode}`, async () => {
    const converter = webhook(`http://127.0.0.1:${(server.address() as AddressInfo).port}/convert`)
    const object = (name: string, uid: string) => ({ metadata: { name, namespace: 'n', uid }, spec: { mode } }) as ApiObject
    const converting = converter?.convert([object('a', 'u'), object('b', 'v')], { from: 'g/v1', to: 'g/v2' })
    await assert.rejects(converting ?? Promise.resolve(), ({ message }: Error) => message.includes(problem) || assert.fail(message))
    converter?.close()
  })
}

test('invalid labels are rejected', () =>
  assert.rejects(convert('invalid labels'), /returned invalid metadata: metadata\.labels: Invalid value: "not a label"/))

test('a response many times as long as the request is rejected', () =>
  assert.rejects(convert('long response'), /failed: the answer is too long$/))

test('a response with another uid is rejected', () =>
  assert.rejects(convert('wrong uid'), /failed: expected response\.uid=".{36}", got "zzz"/))

test('the path of a webhook URL is cleaned', () =>
  assert.rejects(
    async () => webhook('http://127.0.0.1:1//a/../convert/')?.convert([{ metadata: {} }], { from: 'g/v1', to: 'g/v2' }),
    /Post "http:\/\/127\.0\.0\.1:1\/convert\?timeout=30s": /,
  ))

test('an unreachable webhook is reported', () =>
  assert.rejects(
    async () => webhook('http://127.0.0.1:1/')?.convert([{ metadata: {} }], { from: 'g/v1', to: 'g/v2' }),
    /failed: Post "http:\/\/127\.0\.0\.1:1\/\?timeout=30s": dial tcp 127\.0\.0\.1:1: connect: connection refused/,
  ))

test('the strategy None needs no webhook', () => assert.equal(conversionWebhook({ spec: {} }, parts), undefined))

test('convertedObjects that is not a list counts as empty', async () => {
  await assert.rejects(convert('convertedObjects is a string'), {
    message: 'conversion webhook for g/v1, Kind=Box returned 0 objects, expected 1',
  })
})

test('a webhook may send back the request, however long it is', async () => {
  const converter = webhook(`http://127.0.0.1:${(server.address() as AddressInfo).port}/convert`)
  const spec = { mode: 'request sent back', items: Array.from({ length: 50 }, (_, i) => ({ i, text: '"\\,]}{['.repeat(4) })) }
  const objects = Array.from({ length: 100 }, (_, i) => ({ metadata: { name: `n${i}`, uid: `u${i}` }, spec }) as ApiObject)
  try {
    assert.deepEqual(await converter?.convert(objects, { from: 'g/v1', to: 'g/v2' }), objects)
  } finally {
    converter?.close()
  }
})
