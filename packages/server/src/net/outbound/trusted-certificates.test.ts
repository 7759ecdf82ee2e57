// Outbound TLS: an intermediate CA or the server certificate itself may be trusted; the host name is checked.
// Also: normalization of URL paths in outbound requests.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Upstream } from '../proxy/upstream.js'
import { issueCertificate } from '../tls/issue-certificate.js'
import { getDocument } from './http-client.js'
import { dialThrough } from './http-connect-tunnel.js'
import { JsonEndpoint } from './json-endpoint.js'
import { cleanPathOf, type UpstreamTls } from './open-socket.js'

const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const root = { ...issueCertificate({ commonName: 'root', use: 'authority', ...validity }), commonName: 'root' }
const intermediate = {
  ...issueCertificate({ commonName: 'intermediate', use: 'authority', ...validity }, root),
  commonName: 'intermediate',
}
const newServer = () =>
  issueCertificate({ commonName: 'server', hosts: ['127.0.0.1', 'named.test'], use: 'server', ...validity }, intermediate)
const serving = newServer()
const client = issueCertificate({ commonName: 'client', use: 'client', ...validity }, root)

const cases: readonly { readonly title: string; readonly tls: UpstreamTls; readonly refusal?: RegExp }[] = [
  { title: 'the server certificate', tls: { ca: serving.cert } },
  {
    title: 'the server certificate for another name',
    tls: { ca: serving.cert, serverName: 'other.test' },
    refusal: /other\.test|not valid for/,
  },
  { title: 'its intermediate CA', tls: { ca: intermediate.cert } },
  { title: 'another certificate of the same CA', tls: { ca: newServer().cert }, refusal: /certificate|x509/ },
]

describe('trusted certificates of outbound connections', () => {
  const server = createServer(serving, (_request, response) => response.end('{}'))
  server.on('connect', (_request, socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
  before(() => once(server.listen(0, '127.0.0.1'), 'listening'))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const port = (): number => (server.address() as AddressInfo).port
  const url = (): string => `https://127.0.0.1:${port()}/`

  const clients: { readonly [name: string]: (tls: UpstreamTls) => Promise<unknown> } = {
    webhook: async (tls) => {
      const endpoint = new JsonEndpoint({ url: url(), ...tls }, { timeoutMs: 60_000 })
      await endpoint.post({}).finally(() => endpoint.close())
    },
    document: (tls) => getDocument({ url: url(), timeoutMs: 60_000, maxBytes: 100, ...tls }),
    proxy: async (tls) => {
      const upstream = new Upstream(tls)
      const sent = upstream.request({ url: new URL(url()), method: 'GET', headers: [], serverName: tls.serverName }).end()
      const [response] = await once(sent, 'response').finally(() => upstream.close())
      response.resume()
    },
  }
  for (const [clientName, connect] of Object.entries(clients))
    for (const { title, tls, refusal } of cases)
      test(`${clientName}: trusting ${title} is ${refusal === undefined ? 'enough' : 'refused'}`, async () => {
        if (refusal === undefined) await connect(tls)
        else await assert.rejects(connect(tls), refusal)
      })

  test('egress proxy: trusting its own certificate is enough', async () => {
    const tls = { ca: serving.cert, cert: client.cert, key: client.key }
    const socket = await dialThrough({ kind: 'tcp', host: '127.0.0.1', port: port(), tls })('any.test', 443)
    socket.destroy()
  })
})

const paths: readonly (readonly [written: string, sent: string])[] = [
  ['', '/'],
  ['/', '/'],
  ['//mutate', '/mutate'],
  ['/validate/', '/validate'],
  ['/a//b/./c/', '/a/b/c'],
  ['/a/%2e%2e/b', '/b'],
  ['/a%2Fb/%2F', '/a/b'],
  ['/a%20b/é/(x)', '/a%20b/%C3%A9/%28x%29'],
  ['/%ff%25', '/%FF%25'],
  ['/a:b;c=d,e@f+g&$~', '/a:b;c=d,e@f+g&$~'],
]
for (const [written, sent] of paths)
  test(`the path ${JSON.stringify(written)} is sent as ${sent}`, () => assert.equal(cleanPathOf(new URL(`https://h${written}`)), sent))
