// Connections to etcd: the trusted certificate may be that of the server itself.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createServer } from 'node:tls'
import { issueCertificate } from '../../net/tls/issue-certificate.js'
import { connectSocket, parseEndpoint } from './etcd-endpoint.js'

test('the server certificate itself is a sufficient caFile', async (t) => {
  const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
  const authority = { ...issueCertificate({ commonName: 'ca', use: 'authority', ...validity }), commonName: 'ca' }
  const [serving, other] = [1, 2].map(() =>
    issueCertificate({ commonName: 'etcd', hosts: ['127.0.0.1'], use: 'server', ...validity }, authority),
  )
  const server = createServer({ ...serving, ALPNProtocols: ['h2'] }, (socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const folder = mkdtempSync(join(tmpdir(), 'etcd-endpoint-'))
  t.after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  const endpoint = parseEndpoint(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const connect = (ca = '') => {
    const caFile = join(folder, 'ca.crt')
    writeFileSync(caFile, ca)
    return connectSocket(endpoint, { tls: { caFile }, timeoutMs: 60_000 })
  }
  const socket = await connect(serving?.cert)
  socket.destroy()
  await assert.rejects(connect(other?.cert), /untrusted authority/)
})
