// Upstream connections: servers that send bytes without a request, and certificate checks by name instead of address.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { until } from '@cluster-apiserver/api/base/testing/until.fixture.js'
import { issueCertificate } from '../tls/issue-certificate.js'
import { authority, cleanups, sendRequest, startProxy, startTcp } from './proxy.fixture.js'
import { Upstream } from './upstream.js'

const responseOf = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`

test('an idle connection is closed when its server sends without a request', async () => {
  const sockets: Socket[] = []
  const url = await startTcp((socket) => {
    sockets.push(socket)
    socket.on('data', () => socket.write(responseOf('ok')))
  })
  const { port } = await startProxy(url)
  assert.equal((await sendRequest(port, '/')).body, 'ok')
  assert.equal((await sendRequest(port, '/')).body, 'ok')
  const [first] = sockets as [Socket]
  assert.equal(sockets.length, 1, 'the connection is reused')
  first.write(responseOf('surplus'))
  await until(() => first.destroyed)
  assert.equal((await sendRequest(port, '/')).body, 'ok')
  assert.equal(sockets.length, 2)
})

test('with neverReusesConnections a second response reaches no other request', async () => {
  let connections = 0
  const url = await startTcp((socket) => {
    connections++
    socket.once('data', (head: Buffer) => {
      if (!head.includes('/first')) {
        socket.write(responseOf('own'))
        return
      }
      socket.write(responseOf('ok'))
      setImmediate(() => socket.write(responseOf('surplus')))
    })
  })
  const { port } = await startProxy(url, { tls: { neverReusesConnections: true } })
  for (let i = 1; i <= 5; i++) {
    assert.equal((await sendRequest(port, '/first')).body, 'ok')
    assert.equal((await sendRequest(port, '/second')).body, 'own')
    assert.equal(connections, 2 * i)
  }
})

test('serverName is checked instead of the address and the Host header', async () => {
  const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
  const pair = issueCertificate({ commonName: 'node', hosts: ['node.example'], use: 'server', ...validity }, authority)
  const server = createServer({ cert: pair.cert, key: pair.key }, (_request, response) => response.end('ok'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  cleanups.push(() => server.close())
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const upstream = new Upstream({ ca: authority.cert, neverReusesConnections: true })
  cleanups.push(() => upstream.close())
  const statusFor = async (serverName: string | undefined, host: string): Promise<number | undefined> => {
    const request = upstream.request({ url, method: 'GET', headers: ['Host', host], serverName })
    request.end()
    const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]
    response.resume()
    return response.statusCode
  }
  assert.equal(await statusFor('node.example', 'x'), 200)
  for (const name of [undefined, 'other.example'])
    await assert.rejects(statusFor(name, 'node.example'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, name)
})
