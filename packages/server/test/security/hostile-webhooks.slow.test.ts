// Hostile token and authorization webhooks: wrong, slow, redirecting and endless responses admit nobody and delay no other client.

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { configMaps, expectStatus, until } from '../../../../test/kit/fixtures.js'
import { FlagFiles } from './make-pki.js'

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly spec: { readonly token?: string; readonly user?: string }
}

type Misbehaviour = (response: ServerResponse, review: Review, admittingBody: string) => void

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const endless = (response: ServerResponse): void => {
  const more = (): void => {
    if (response.destroyed) return
    if (response.write(Buffer.alloc(1 << 16, ' '))) setImmediate(more)
    else response.once('drain', more)
  }
  more()
}

const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`

/** Each function sends a wrong response; `admittingBody` is the body that would admit the caller. */
const misbehaviours: { readonly [name: string]: Misbehaviour } = {
  endless,
  garbage: (response) => void response.end(Buffer.from([0xff, 0xfe, 0, 0x7b])),
  truncated: (response, _review, admittingBody) => void response.end(admittingBody.slice(0, -1)),
  nested: (response, _review, admittingBody) => void response.end(`${admittingBody.slice(0, -1)},"metadata":{"x":${deep}}}`),
  compressed: (response, _review, admittingBody) =>
    void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(admittingBody)),
  'a gzip bomb': (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 << 20))),
  'too long': (response, _review, admittingBody) => void response.end(`${admittingBody}${' '.repeat(600_000)}`),
  'two lengths': (response, _review, admittingBody) => {
    response.socket?.end(
      `HTTP/1.1 200 OK\r\ncontent-length: ${admittingBody.length}\r\ntransfer-encoding: chunked\r\n\r\n${admittingBody.length.toString(16)}\r\n${admittingBody}\r\n0\r\n\r\n`,
    )
  },
  'another kind': (response, { kind }, admittingBody) => void response.end(admittingBody.replace(kind, 'Status')),
  'another version': (response, _review, admittingBody) => void response.end(admittingBody.replace('/v1', '/v2')),
  'a list': (response, _review, admittingBody) => void response.end(`[${admittingBody}]`),
  'true as a string': (response, _review, admittingBody) => void response.end(admittingBody.replace(':true', ':"true"')),
  'a status that is a string': (response, { kind, apiVersion }) =>
    void response.end(JSON.stringify({ kind, apiVersion, status: 'allowed' })),
  'an admitting body with status 403': (response, _review, admittingBody) => void response.writeHead(403).end(admittingBody),
}

const nameOf = (index: number): string => `misbehaving-${index}`
const titles = [...Object.keys(misbehaviours), 'redirects']

describe('hostile authentication and authorization webhooks', () => {
  const files = new FlagFiles()
  const redirected: IncomingMessage[] = []
  const other = createServer((request, response) => {
    redirected.push(request)
    response.end()
  })
  const pending: (() => void)[] = []
  let otherUrl = ''
  let running: Embedded

  const service = createServer((request, response) => {
    let text = ''
    request.on('data', (part) => {
      text += part
    })
    request.on('end', () => {
      const review = JSON.parse(text) as Review
      const { kind, apiVersion, spec } = review
      const name = spec.token ?? spec.user ?? ''
      const status =
        spec.token === undefined ? { allowed: true } : { authenticated: true, user: { username: name, groups: ['system:masters'] } }
      const admittingBody = JSON.stringify({ kind, apiVersion, status })
      const title = titles[Number(/^misbehaving-(\d+)$/.exec(name)?.[1])] ?? ''
      if (name.startsWith('hangs')) pending.push(() => response.end(JSON.stringify({ kind, apiVersion, status: {} })))
      else if (title === 'redirects') response.writeHead(307, { location: `${otherUrl}/steal` }).end()
      else if (misbehaviours[title] !== undefined) misbehaviours[title](response, review, admittingBody)
      else response.end(JSON.stringify({ kind, apiVersion, status: spec.token === undefined ? { allowed: name === 'ann' } : {} }))
    })
  })

  before(async () => {
    otherUrl = await listen(other)
    const url = await listen(service)
    const users = ['ann', 'hangs', ...titles.map((_, i) => nameOf(i))]
    const config = (name: string): string =>
      files.write(
        name,
        `kind: Config\nclusters: [{name: h, cluster: {server: "${url}/${name}"}}]\nusers: [{name: u, user: {token: hook-secret}}]\n`,
      )
    running = await startEmbedded('memory', [
      '--authorization-mode=Webhook,RBAC',
      `--authorization-webhook-config-file=${config('authorize')}`,
      '--authorization-webhook-version=v1',
      `--authentication-token-webhook-config-file=${config('tokens')}`,
      '--authentication-token-webhook-version=v1',
      `--token-auth-file=${files.write('tokens.csv', users.map((user) => `of-${user},${user},${user}\n`).join(''))}`,
    ])
  })
  after(async () => {
    await running.close()
    for (const server of [service, other]) {
      server.closeAllConnections()
      server.close()
    }
    files.remove()
  })

  const withToken = async (token: string): Promise<number> => {
    const client = new ApiClient({ url: running.server.url, ca: running.server.caPem, token })
    try {
      return (await client.get(configMaps('default'))).status
    } finally {
      client.close()
    }
  }

  for (const [index, title] of titles.entries()) {
    test(`a response that is wrong (${title}) authenticates and allows no user`, async () => {
      assert.equal(await withToken(nameOf(index)), 401)
      const status = await withToken(`of-${nameOf(index)}`)
      assert.ok(status === 403 || status === 500, String(status))
      assert.equal(await withToken('of-ann'), 200)
      assert.deepEqual(redirected.length, 0)
    })
  }

  test('while both hang, requests that do not need them are served', async () => {
    const hanging = [...Array.from({ length: 20 }, (_, i) => withToken(`hangs-${i}`)), withToken('of-hangs')]
    await until(
      async () => pending.length,
      (count) => count === hanging.length,
    )
    expectStatus(await running.client.get(configMaps('default')), 200)
    assert.equal(await withToken('of-ann'), 200)
    for (const respond of pending) respond()
    const statuses = await Promise.all(hanging)
    assert.deepEqual(new Set(statuses.slice(0, -1)), new Set([401]))
    assert.equal(statuses.at(-1), 403)
  })
})
