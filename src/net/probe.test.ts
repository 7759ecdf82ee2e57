// A probe tells who answers well, who does not, who is not there and who takes too long.

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { issueCertificate } from './issue-certificate.js'
import { probe } from './probe.js'

let server: Server
let url = ''

before(async () => {
  const day = 86_400_000
  const pair = issueCertificate({ commonName: 'own', use: 'server', notBefore: Date.now() - day, notAfter: Date.now() + day })
  server = createServer(pair, (request, response) => {
    if (request.url === '/never') return
    if (request.url === '/endless') {
      response.write('x'.repeat(1 << 20))
      return
    }
    response.writeHead(request.url === '/ill' ? 500 : 200)
    response.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.closeAllConnections()
  server.close()
})

test('who is well says so', async () => assert.deepEqual(await probe(`${url}/healthz`, 2000), { isWell: true, message: 'ok' }))

test('who is not says so, too', async () =>
  assert.deepEqual(await probe(`${url}/ill`, 2000), { isWell: false, message: 'HTTP probe failed with statuscode: 500' }))

test('who takes too long is not waited for', async () => {
  const { isWell, message } = await probe(`${url}/never`, 50)
  assert.equal(isWell, false)
  assert.match(message, /no answer within 50 ms/)
})

test('who does not end is not listened to', async () => {
  const { isWell, message } = await probe(`${url}/endless`, 2000)
  assert.equal(isWell, true)
  assert.ok(message.length < 1 << 20)
})

test('who is not there', async () => {
  const { isWell, message } = await probe('https://127.0.0.1:1/healthz', 2000)
  assert.equal(isWell, false)
  assert.equal(message, 'Get "https://127.0.0.1:1/healthz": dial tcp 127.0.0.1:1: connect: connection refused')
})
