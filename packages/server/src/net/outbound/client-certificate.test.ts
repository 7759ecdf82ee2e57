// Renewed client certificates: new outbound connections use the new one.

import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { authority, certificate } from '../proxy/proxy.fixture.js'
import { Upstream } from '../proxy/upstream.js'
import { issueCertificate, type KeyPair } from '../tls/issue-certificate.js'
import { JsonEndpoint } from './json-endpoint.js'

const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 }
const pairOf = (commonName: string): KeyPair => issueCertificate({ commonName, use: 'client', ...validity }, authority)

describe('a server that returns the common name of the client certificate', () => {
  const server = createServer({ ...certificate, ca: authority.cert, requestCert: true }, (request, response) => {
    request.resume()
    if (request.url === '/once') response.setHeader('Connection', 'close')
    response.end(JSON.stringify((request.socket as TLSSocket).getPeerCertificate().subject?.CN ?? ''))
  })
  let url = ''
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  test('JsonEndpoint reads the certificate for each connection, and resumes no TLS session of another one', async () => {
    let current = pairOf('old')
    const endpoint = new JsonEndpoint({ url: `${url}/once`, ca: authority.cert, clientPair: () => current }, { timeoutMs: 60_000 })
    const send = async (): Promise<unknown> => JSON.parse((await endpoint.post({})).body.toString())
    assert.deepEqual([await send(), await send()], ['old', 'old'])
    current = pairOf('renewed')
    assert.deepEqual([await send(), await send()], ['renewed', 'renewed'])
    endpoint.close()
  })

  test('Upstream does not reuse connections with the previous certificate', async () => {
    const upstream = new Upstream({ ca: authority.cert, ...pairOf('old') })
    const send = (): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const request = upstream.request({ url: new URL(url), method: 'GET', headers: ['Host', 'x'] })
        request.on('error', reject)
        request.on('response', (response) => {
          let text = ''
          response.on('data', (chunk) => {
            text += chunk
          })
          response.on('end', () => resolve(JSON.parse(text)))
        })
        request.end()
      })
    assert.deepEqual([await send(), await send()], ['old', 'old'])
    upstream.setClientCertificate(pairOf('renewed'))
    assert.deepEqual([await send(), await send()], ['renewed', 'renewed'])
    upstream.close()
  })
})
