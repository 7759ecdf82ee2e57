// The flags about serving: certificates by name, headers for browsers, the address that is told, the way down.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { startServer } from 'cluster-apiserver'
import { until } from './kit/fixtures.js'
import { makeWithOpenssl } from './kit/openssl-request.js'
import { runInside } from './kit/run-inside.js'
import { newFolder, ServerProcess } from './kit/server-process.js'

/** The common name in the certificate that is shown to whoever asks for a name. */
async function shownTo(port: number, servername: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { subject } = socket.getPeerCertificate()
  socket.destroy()
  return String(subject.CN)
}

function makePair(folder: string, name: string, names: string): string {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)]
  makeWithOpenssl({ keyFile: key, outFile: cert, subject: `/CN=${name}`, hosts: names, selfSignedDays: 2 })
  return `${cert},${key}`
}

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

async function ask(server: ServerProcess, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> {
  const request = httpsRequest({ host: '127.0.0.1', port: server.port, path, method, headers, rejectUnauthorized: false, agent: false })
  request.end()
  const [response] = await once(request, 'response')
  response.resume()
  return { status: response.statusCode ?? 0, headers: response.headers }
}

test('each name has its certificate, patterns included, and new files are shown to new connections', async () => {
  const folder = newFolder()
  const flags = [
    `--tls-sni-cert-key=${makePair(folder, 'first', 'DNS:first.example.com')}`,
    `--tls-sni-cert-key=${makePair(folder, 'second', 'DNS:ignored.example.com')}:*.second.example.com,second.example.com`,
  ]
  const server = await ServerProcess.start({ flags })
  assert.equal(await shownTo(server.port, 'first.example.com'), 'first')
  assert.equal(await shownTo(server.port, 'FIRST.example.com'), 'first')
  assert.equal(await shownTo(server.port, 'second.example.com'), 'second')
  assert.equal(await shownTo(server.port, 'a.second.example.com'), 'second')
  for (const other of ['a.b.second.example.com', 'ignored.example.com', 'example.com', 'localhost'])
    assert.equal(await shownTo(server.port, other), 'cluster-apiserver')
  makePair(folder, 'newer', 'DNS:first.example.com')
  execFileSync('sh', ['-c', `cp ${folder}/newer.key ${folder}/first.key && cp ${folder}/newer.crt ${folder}/first.crt`])
  for (let tries = 0; (await shownTo(server.port, 'first.example.com')) !== 'newer'; tries++) {
    assert.ok(tries < 150)
    await sleep(100)
  }
  await server.stop()
})

test('origins that match get the headers, preflights an answer, others nothing; transport security is told to all', async () => {
  const server = await ServerProcess.start({
    flags: [
      '--cors-allowed-origins=^https://app\\.example\\.com$,//other',
      '--strict-transport-security-directives=max-age=60,includeSubDomains',
    ],
  })
  const allowed = await ask(server, '/livez', { origin: 'https://app.example.com' })
  assert.equal(allowed.headers['access-control-allow-origin'], 'https://app.example.com')
  assert.equal(allowed.headers['access-control-allow-credentials'], 'true')
  assert.equal(allowed.headers['strict-transport-security'], 'max-age=60; includeSubDomains')
  assert.equal((await ask(server, '/livez', { origin: 'http://other' })).headers['access-control-allow-origin'], 'http://other')
  const preflight = await ask(server, '/api/v1/namespaces', { origin: 'https://app.example.com' }, 'OPTIONS')
  assert.equal(preflight.status, 204)
  assert.match(String(preflight.headers['access-control-allow-methods']), /PATCH/)
  for (const origin of ['https://app.example.com.evil.org', 'https://appxexample.com', 'null']) {
    const refused = await ask(server, '/livez', { origin })
    assert.equal(refused.headers['access-control-allow-origin'], undefined, origin)
    assert.equal(refused.headers['strict-transport-security'], 'max-age=60; includeSubDomains')
  }
  assert.equal((await ask(server, '/api/v1/namespaces', { origin: 'https://evil.org' }, 'OPTIONS')).status, 403)
  await server.stop()
})

test('the external name is in discovery and in the certificate', async () => {
  const server = await ServerProcess.start({ flags: ['--external-hostname=api.example.com'] })
  const { json } = await server.client.get('/api')
  assert.deepEqual((json as unknown as { serverAddressByClientCIDRs: object[] }).serverAddressByClientCIDRs, [
    { clientCIDR: '0.0.0.0/0', serverAddress: `api.example.com:${server.port}` },
  ])
  const socket = connect({ host: '127.0.0.1', port: server.port, servername: 'api.example.com', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  assert.match(String(socket.getPeerCertificate().subjectaltname), /DNS:api\.example\.com/)
  socket.destroy()
  await server.stop()
})

test('certificates are made where --cert-dir says, and used again', async () => {
  const [dataDir, certDir] = [newFolder(), join(newFolder(), 'certificates')]
  const authorities: string[] = []
  for (let round = 0; round < 2; round++) {
    const server = await startServer({ dataDir, flags: [`--cert-dir=${certDir}`] })
    authorities.push(server.caPem)
    await server.close()
  }
  assert.equal(readFileSync(join(certDir, 'ca.crt'), 'utf8'), authorities[0])
  assert.equal(authorities[1], authorities[0])
  assert.ok(!existsSync(join(dataDir, 'pki', 'ca.crt')))
})

test('while it shuts down new requests are asked to come later, and probes are answered', async () => {
  const server = await ServerProcess.start({ flags: ['--shutdown-send-retry-after', '--shutdown-delay-duration=300s'] })
  assert.equal((await ask(server, '/version')).status, 200)
  server.signal('SIGTERM')
  const late = await until(
    () => ask(server, '/version'),
    ({ status }) => status !== 200,
  )
  assert.deepEqual([late.status, late.headers['retry-after'], late.headers['connection']], [429, '5', 'close'])
  assert.equal((await ask(server, '/livez')).status, 200)
  await server.kill()
})

for (const { flag, says } of [
  { flag: '--tls-sni-cert-key=only-one', says: /--tls-sni-cert-key: "only-one" is not written cert,key/ },
  { flag: '--tls-sni-cert-key=/no/such.crt,/no/such.key', says: /--tls-sni-cert-key: .*no\/such\.crt/ },
  { flag: '--tls-sni-cert-key=a,b:no_name', says: /"no_name" is neither a host name nor a pattern/ },
  { flag: '--cors-allowed-origins=(', says: /--cors-allowed-origins: / },
  { flag: '--strict-transport-security-directives=includeSubDomains', says: /needs max-age=<seconds>/ },
  { flag: '--strict-transport-security-directives=forever', says: /"forever" is none of/ },
  { flag: '--external-hostname=a b', says: /--external-hostname: "a b" is not a host name/ },
  ...(Number(process.versions.node.split('.')[0]) < 23
    ? [{ flag: '--permit-port-sharing', says: /--permit-port-sharing: needs Node\.js 23\.1/ }]
    : []),
])
  test(`refused: ${flag}`, async () => {
    const { code, stderr } = await runInside([flag, `--data-dir=${newFolder()}`, '--secure-port=0'])
    assert.equal(code, 1)
    assert.match(stderr, says)
  })
