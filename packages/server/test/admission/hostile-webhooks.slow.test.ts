// Hostile webhooks: each request ends within its timeout, as failurePolicy says or with 500 for an invalid patch; the server recovers.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { configMapOf, configMaps, expectStatus, newNamespace } from '../../../../test/kit/fixtures.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'
import { configure, patchOf, type Review, sendReview, startWebhook, webhookEntry } from './tls-webhooks.js'

type Misbehaviour = (response: ServerResponse, review: Review) => void

const endless = (response: ServerResponse): void => {
  const more = (): void => {
    if (response.destroyed) return
    if (response.write(Buffer.alloc(1 << 16, ' '))) setImmediate(more)
    else response.once('drain', more)
  }
  more()
}

const operations = (count: number, value: string) => Array.from({ length: count }, (_, i) => ({ op: 'add', path: `/data/k${i}`, value }))

const misbehaviours: { readonly [name: string]: Misbehaviour } = {
  'no-response': () => undefined,
  endless,
  'slow-response': (response) => {
    const timer = setInterval(() => response.write(' '), 200)
    response.on('close', () => clearInterval(timer))
  },
  redirects: (response) => void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
  'redirects-in-circles': (response) => void response.writeHead(307, { location: '/redirects-in-circles' }).end(),
  garbage: (response) => void response.end(Buffer.from([0xff, 0xfe, 0x00, 0x7b, 0x22])),
  'deep-garbage': (response) => void response.end('['.repeat(1_000_000)),
  'wrong-content-type': (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>'),
  'resets-before': (response) => void response.destroy(),
  'resets-midway': (response) => void response.writeHead(200, { 'content-length': '1000' }).write('{', () => response.destroy()),
  'many-headers': (response) => {
    for (let i = 0; i < 2000; i++) response.setHeader(`x-${i}`, 'y'.repeat(20))
    response.end()
  },
  'grows-the-object': (response, review) => sendReview(response, review, patchOf(operations(1, 'x'.repeat(3 << 20)))),
  'copies-without-end': (response, review) =>
    sendReview(
      response,
      review,
      patchOf([
        { op: 'add', path: '/data', value: { a: 'x'.repeat(1000) } },
        ...Array.from({ length: 9000 }, (_, i) => ({ op: 'copy', from: '/data', path: `/metadata/x${i}` })),
      ]),
    ),
  'too-many-operations': (response, review) => sendReview(response, review, patchOf(operations(10_001, 'x'))),
}

const excessiveResponses: { readonly [name: string]: { readonly [field: string]: unknown } } = {
  'ten-thousand-warnings': { warnings: Array.from({ length: 10_000 }, (_, i) => `warning ${i} ${'x'.repeat(100)}`) },
  'ten-thousand-annotations': {
    auditAnnotations: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 'x'.repeat(100)])),
  },
  prototypes: patchOf([
    { op: 'add', path: '/__proto__', value: { polluted: true } },
    { op: 'add', path: '/metadata/__proto__', value: { polluted: true } },
    { op: 'add', path: '/constructor', value: { prototype: { polluted: true } } },
  ]),
}

/** failurePolicy does not cover invalid patches. */
const invalidPatches = new Set(['grows-the-object', 'copies-without-end', 'too-many-operations'])

const isResponse = (name: string): boolean => name in excessiveResponses || invalidPatches.has(name)

test('hostile webhooks', { timeout: 200_000 }, async (t) => {
  const server = await ServerProcess.start()
  t.after(() => server.stop())
  const { client } = server
  const webhook = await startWebhook((path) => misbehaviours[path.slice(1)] ?? excessiveResponses[path.slice(1)] ?? {})
  t.after(() => webhook.close())
  const wrongHost = await startWebhook(() => ({}), ['other.example.com'])
  t.after(() => wrongHost.close())
  const notTls = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
  })
  await new Promise<void>((resolve) => notTls.listen(0, '127.0.0.1', resolve))
  t.after(() => notTls.close())
  const urls: { readonly [name: string]: string } = {
    ...Object.fromEntries(Object.keys(misbehaviours).map((name) => [name, `${webhook.url}/${name}`])),
    'wrong-host-name': `${wrongHost.url}/wrong-host-name`,
    'no-tls': `https://127.0.0.1:${(notTls.address() as AddressInfo).port}/no-tls`,
    'connection-refused': 'https://127.0.0.1:1/connection-refused',
  }
  const namespace = await newNamespace(client)
  const entry = (name: string, url: string, policy: string) =>
    webhookEntry(url, {
      name: `${name}.${policy.toLowerCase()}.example.com`,
      timeoutSeconds: isResponse(name) ? 20 : 1,
      failurePolicy: policy,
      objectSelector: { matchLabels: { harm: name, policy } },
    })
  const entries = Object.entries(urls).flatMap(([name, url]) => [entry(name, url, 'Fail'), entry(name, url, 'Ignore')])
  const excessiveEntries = Object.keys(excessiveResponses).map((name) => entry(name, `${webhook.url}/${name}`, 'Fail'))
  await configure(client, 'mutating', 'harm', [...entries, ...excessiveEntries])

  const attempt = async (harm: string, policy: string): Promise<void> => {
    const isRejected = invalidPatches.has(harm) || (policy === 'Fail' && !(harm in excessiveResponses))
    const response = await client.post(`${configMaps(namespace)}?dryRun=All`, {
      ...configMapOf('x', { data: { k: 'v' } }),
      metadata: { name: 'x', labels: { harm, policy } },
    })
    assert.equal(response.status, isRejected ? 500 : 201, `${harm} ${policy}: ${response.text.slice(0, 300)}`)
    if (!isRejected) assert.deepEqual(response.json['data'], { k: 'v' })
    assert.ok(response.text.length < 20_000 && (response.headers['warning'] ?? '').length < 10_000)
  }
  const kinds = [
    ...Object.keys(urls).flatMap((harm) => [[harm, 'Fail'] as const, [harm, 'Ignore'] as const]),
    ...Object.keys(excessiveResponses).map((harm) => [harm, 'Fail'] as const),
  ]
  await Promise.all(kinds.map(([harm, policy]) => attempt(harm, policy)))
  expectStatus(await client.post(configMaps(namespace), configMapOf('y')), 201)
})
