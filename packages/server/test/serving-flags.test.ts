// Serving flags: SNI certificates, CORS and HSTS, external hostname, --cert-dir, graceful shutdown.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { ApiClient } from '../../../test/kit/api-client.js'
import { startEmbedded } from '../../../test/kit/embedded.js'
import { until } from '../../../test/kit/fixtures.js'
import { makeWithOpenssl } from '../../../test/kit/openssl-request.js'
import { runInProcess } from '../../../test/kit/run-command.js'
import { newFolder, ServerProcess } from '../../../test/kit/server-process.js'
import { issueCertificate } from '../src/net/tls/issue-certificate.js'

/** Common name of the certificate that the server presents for an SNI name. */
async function certificateFor(port: number, servername: string): Promise<string> {
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

async function sendRequest(server: ServerProcess, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> {
  const request = httpsRequest({ host: '127.0.0.1', port: server.port, path, method, headers, rejectUnauthorized: false, agent: false })
  request.end()
  const [response] = await once(request, 'response')
  response.resume()
  return { status: response.statusCode ?? 0, headers: response.headers }
}

test('SNI selects the certificate, wildcards included; changed files are used for new connections', async () => {
  const folder = newFolder()
  const flags = [
    `--tls-sni-cert-key=${makePair(folder, 'first', 'DNS:first.example.com')}`,
    `--tls-sni-cert-key=${makePair(folder, 'second', 'DNS:ignored.example.com')}:*.second.example.com,second.example.com`,
  ]
  const server = await ServerProcess.start({ flags })
  assert.equal(await certificateFor(server.port, 'first.example.com'), 'first')
  assert.equal(await certificateFor(server.port, 'FIRST.example.com'), 'first')
  assert.equal(await certificateFor(server.port, 'second.example.com'), 'second')
  assert.equal(await certificateFor(server.port, 'a.second.example.com'), 'second')
  for (const other of ['a.b.second.example.com', 'ignored.example.com', 'example.com', 'localhost'])
    assert.equal(await certificateFor(server.port, other), 'cluster-apiserver')
  makePair(folder, 'newer', 'DNS:first.example.com')
  execFileSync('sh', ['-c', `cp ${folder}/newer.key ${folder}/first.key && cp ${folder}/newer.crt ${folder}/first.crt`])
  await until(
    () => certificateFor(server.port, 'first.example.com'),
    (name) => name === 'newer',
  )
  await server.stop()
})

test('CORS headers for matching origins, preflight requests, HSTS for all', async () => {
  const server = await ServerProcess.start({
    flags: [
      '--cors-allowed-origins=^https://app\\.example\\.com$,//other',
      '--strict-transport-security-directives=max-age=60,includeSubDomains',
    ],
  })
  const allowed = await sendRequest(server, '/livez', { origin: 'https://app.example.com' })
  assert.equal(allowed.headers['access-control-allow-origin'], 'https://app.example.com')
  assert.equal(allowed.headers['access-control-allow-credentials'], 'true')
  assert.equal(allowed.headers['strict-transport-security'], 'max-age=60; includeSubDomains')
  assert.equal((await sendRequest(server, '/livez', { origin: 'http://other' })).headers['access-control-allow-origin'], 'http://other')
  const preflight = await sendRequest(server, '/api/v1/namespaces', { origin: 'https://app.example.com' }, 'OPTIONS')
  assert.equal(preflight.status, 204)
  assert.match(String(preflight.headers['access-control-allow-methods']), /PATCH/)
  for (const origin of ['https://app.example.com.evil.org', 'https://appxexample.com', 'null']) {
    const refused = await sendRequest(server, '/livez', { origin })
    assert.equal(refused.headers['access-control-allow-origin'], undefined, origin)
    assert.equal(refused.headers['strict-transport-security'], 'max-age=60; includeSubDomains')
  }
  assert.equal((await sendRequest(server, '/api/v1/namespaces', { origin: 'https://evil.org' }, 'OPTIONS')).status, 403)
  await server.stop()
})

test('the external hostname is in discovery and in the certificate', async () => {
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

test('certificates are created in --cert-dir and reused', async () => {
  const [dataDir, certDir] = [newFolder(), join(newFolder(), 'certificates')]
  const authorities: string[] = []
  for (let round = 0; round < 2; round++) {
    const { server, close } = await startEmbedded('lmdb', [`--cert-dir=${certDir}`], dataDir)
    authorities.push(server.caPem)
    await close()
  }
  assert.equal(readFileSync(join(certDir, 'ca.crt'), 'utf8'), authorities[0])
  assert.equal(authorities[1], authorities[0])
  assert.ok(!existsSync(join(dataDir, 'pki', 'ca.crt')))
  for (const name of ['apiserver.crt', 'apiserver.key']) assert.ok(existsSync(join(certDir, name)), name)
})

test('apiserver.crt and apiserver.key in --cert-dir are served', async () => {
  const certDir = newFolder()
  const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
  const authority = { ...issueCertificate({ commonName: 'ca', use: 'authority', ...validity }), commonName: 'ca' }
  const provided = issueCertificate({ commonName: 'given', hosts: ['127.0.0.1'], use: 'server', ...validity }, authority)
  writeFileSync(join(certDir, 'apiserver.crt'), provided.cert)
  writeFileSync(join(certDir, 'apiserver.key'), provided.key)
  for (let round = 0; round < 2; round++) {
    const { server, close } = await startEmbedded('lmdb', [`--cert-dir=${certDir}`])
    const client = new ApiClient({ url: server.url, ca: authority.cert })
    assert.equal((await client.get('/version')).status, 200)
    client.close()
    await close()
  }
  assert.equal(readFileSync(join(certDir, 'apiserver.crt'), 'utf8'), provided.cert)
})

test('during shutdown new requests get Retry-After, and probes get a response', async () => {
  const server = await ServerProcess.start({ flags: ['--shutdown-send-retry-after', '--shutdown-delay-duration=300s'] })
  assert.equal((await sendRequest(server, '/version')).status, 200)
  server.signal('SIGTERM')
  const rejected = await until(
    () => sendRequest(server, '/version'),
    ({ status }) => status !== 200,
  )
  assert.deepEqual([rejected.status, rejected.headers['retry-after'], rejected.headers['connection']], [429, '5', 'close'])
  assert.equal((await sendRequest(server, '/livez')).status, 200)
  await server.kill()
})

for (const { flag, message } of [
  { flag: '--tls-sni-cert-key=only-one', message: /--tls-sni-cert-key: "only-one" must have the format cert,key/ },
  { flag: '--tls-sni-cert-key=/no/such.crt,/no/such.key', message: /--tls-sni-cert-key: .*no\/such\.crt/ },
  { flag: '--tls-sni-cert-key=a,b:no_name', message: /"no_name" is neither a host name nor a pattern/ },
  { flag: '--cors-allowed-origins=(', message: /--cors-allowed-origins: / },
  { flag: '--strict-transport-security-directives=includeSubDomains', message: /needs max-age=<seconds>/ },
  { flag: '--strict-transport-security-directives=forever', message: /"forever" is unknown/ },
  { flag: '--external-hostname=a b', message: /--external-hostname: "a b" is not a host name/ },
  ...(Number(process.versions.node.split('.')[0]) < 23
    ? [{ flag: '--permit-port-sharing', message: /--permit-port-sharing: needs Node\.js 23\.1/ }]
    : []),
])
  test(`rejected: ${flag}`, async () => {
    const { code, stderr } = await runInProcess([flag, `--data-dir=${newFolder()}`, '--secure-port=0'])
    assert.equal(code, 2)
    assert.match(stderr, message)
  })
