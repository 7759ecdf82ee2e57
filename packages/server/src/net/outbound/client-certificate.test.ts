// The certificate that is shown to others may change: connections that are made later show the new one.

import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { issueCertificate, type KeyPair } from './issue-certificate.js'
import { JsonEndpoint } from './json-endpoint.js'
import { authority, certificate } from './proxy.fixture.js'
import { Upstream } from './upstream.js'

const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 }
const pairOf = (commonName: string): KeyPair => issueCertificate({ commonName, use: 'client', ...times }, authority)

describe('a server that says whose certificate it was shown', () => {
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

  test('an endpoint asks for the pair with each connection, and takes up no session of another one', async () => {
    let shown = pairOf('old')
    const endpoint = new JsonEndpoint({ url: `${url}/once`, ca: authority.cert, clientPair: () => shown }, { timeoutMs: 60_000 })
    const ask = async (): Promise<unknown> => JSON.parse((await endpoint.post({})).body.toString())
    assert.deepEqual([await ask(), await ask()], ['old', 'old'])
    shown = pairOf('renewed')
    assert.deepEqual([await ask(), await ask()], ['renewed', 'renewed'])
    endpoint.close()
  })

  test('an upstream is told of another pair, and uses no connection again that was made with the one before', async () => {
    const upstream = new Upstream({ ca: authority.cert, ...pairOf('old') })
    const ask = (): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const sent = upstream.request({ url: new URL(url), method: 'GET', headers: ['Host', 'x'] })
        sent.on('error', reject)
        sent.on('response', (answer) => {
          let text = ''
          answer.on('data', (part) => {
            text += part
          })
          answer.on('end', () => resolve(JSON.parse(text)))
        })
        sent.end()
      })
    assert.deepEqual([await ask(), await ask()], ['old', 'old'])
    upstream.showCertificate(pairOf('renewed'))
    assert.deepEqual([await ask(), await ask()], ['renewed', 'renewed'])
    upstream.close()
  })
})
