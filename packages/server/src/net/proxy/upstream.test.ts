// Connections to backends that send bytes without a request, and certificate checks against a name instead of the address.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { issueCertificate } from './issue-certificate.js'
import { ask, authority, closing, eventually, startProxy, startTcp } from './proxy.fixture.js'
import { Upstream } from './upstream.js'

const answer = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`

test('an idle connection is closed when its server sends without a request', async () => {
  const sockets: Socket[] = []
  const url = await startTcp((socket) => {
    sockets.push(socket)
    socket.on('data', () => socket.write(answer('ok')))
  })
  const { port } = await startProxy(url)
  assert.equal((await ask(port, '/')).body, 'ok')
  assert.equal((await ask(port, '/')).body, 'ok')
  const [first] = sockets as [Socket]
  assert.equal(sockets.length, 1, 'the connection is reused')
  first.write(answer('unasked'))
  await eventually(() => first.destroyed, 'the connection is closed')
  assert.equal((await ask(port, '/')).body, 'ok')
  assert.equal(sockets.length, 2)
})

test('a server that sends a second response reaches no other request where connections are never reused', async () => {
  let connections = 0
  const url = await startTcp((socket) => {
    connections++
    socket.once('data', (head: Buffer) => {
      if (!head.includes('/first')) {
        socket.write(answer('own'))
        return
      }
      socket.write(answer('ok'))
      setImmediate(() => socket.write(answer('unasked')))
    })
  })
  const { port } = await startProxy(url, { tls: { neverReuses: true } })
  for (let i = 1; i <= 5; i++) {
    assert.equal((await ask(port, '/first')).body, 'ok')
    assert.equal((await ask(port, '/second')).body, 'own')
    assert.equal(connections, 2 * i)
  }
})

test('a certificate is checked for the given name, whatever address and Host header a request has', async () => {
  const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
  const pair = issueCertificate({ commonName: 'node', hosts: ['node.example'], use: 'server', ...times }, authority)
  const server = createServer({ cert: pair.cert, key: pair.key }, (_request, response) => response.end('ok'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => server.close())
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const upstream = new Upstream({ ca: authority.cert, neverReuses: true })
  closing.push(() => upstream.close())
  const statusFor = async (serverName: string | undefined, host: string): Promise<number | undefined> => {
    const sent = upstream.request({ url, method: 'GET', headers: ['Host', host], serverName })
    sent.end()
    const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage]
    response.resume()
    return response.statusCode
  }
  assert.equal(await statusFor('node.example', 'x'), 200)
  for (const name of [undefined, 'other.example'])
    await assert.rejects(statusFor(name, 'node.example'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, name)
})
