// SNI certificates: client certificates are verified under every name, also after a reload.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { listen } from '../listen/listen.js'
import { issueCertificate } from './issue-certificate.js'
import { SniCertificates } from './sni-certificates.js'

const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'ca', use: 'authority', ...validity }), commonName: 'ca' }
const issueFor = (commonName: string) =>
  issueCertificate({ commonName, hosts: ['named.example.com', 'localhost'], use: 'server', ...validity }, authority)
const client = issueCertificate({ commonName: 'jane', organizations: ['devs'], use: 'client', ...validity }, authority)

async function get(port: number, servername: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, servername, ca: authority.cert, ...client })
  await once(socket, 'secureConnect')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  let text = ''
  socket.on('data', (chunk) => (text += chunk))
  if (!socket.closed) await once(socket, 'close')
  return text.slice(text.indexOf('\r\n\r\n')).trim()
}

test('client certificates are verified under every SNI name, also after new files', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'named-'))
  const files = { certFile: join(folder, 'cert'), keyFile: join(folder, 'key') }
  const write = ({ cert, key }: { readonly cert: string; readonly key: string }): void => {
    writeFileSync(files.certFile, cert)
    writeFileSync(files.keyFile, key)
  }
  write(issueFor('named'))
  const clientCa = authority.cert
  const sniCertificates = new SniCertificates([{ files, names: ['named.example.com'] }], { logger: silentLogger, clientCa, pollMs: 10 })
  const listener = await listen(
    {
      host: '127.0.0.1',
      port: 0,
      certificate: issueFor('default'),
      clientCa,
      namedCertificate: (name) => sniCertificates.find(name),
    },
    (request, response) => void response.end(`verified: ${(request.socket as TLSSocket).authorized}`),
  )
  t.after(async () => {
    await listener.close()
    sniCertificates.close()
    rmSync(folder, { recursive: true })
  })
  for (const name of ['localhost', 'named.example.com']) assert.match(await get(listener.port, name), /verified: true/, name)
  const before = sniCertificates.find('named.example.com')
  write(issueFor('newer'))
  for (let tries = 0; sniCertificates.find('named.example.com') === before; tries++) {
    assert.ok(tries < 6000)
    await sleep(10)
  }
  assert.match(await get(listener.port, 'named.example.com'), /verified: true/)
})
