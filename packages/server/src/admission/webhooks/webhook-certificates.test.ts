// Webhook connections: credentials by host, a serving certificate as caBundle, and the audit annotation of a certificate without SAN.

import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { issueCertificate } from '../../net/tls/issue-certificate.js'
import { WebhookClients } from './webhook-clients.js'
import { webhookFixture } from './webhooks.fixture.js'

const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'authority', use: 'authority', ...validity }), commonName: 'authority' }
const withoutSan = issueCertificate({ commonName: 'localhost', use: 'server', ...validity }, authority)

test('a flaw of the certificate is an audit annotation with the host name', async (t) => {
  const server = createServer(withoutSan, (_request, response) => response.end('{}')).listen(0)
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const fixture = await webhookFixture(() => ({ allowed: true }))
  const url = `https://localhost:${(server.address() as AddressInfo).port}/hook`
  const clientConfig = { url, caBundle: Buffer.from(authority.cert).toString('base64') }
  await fixture.configure('validating', 'nameless', fixture.webhook('nameless', { clientConfig, failurePolicy: 'Ignore' }))
  await fixture.admit()
  assert.deepEqual(Object.fromEntries(fixture.annotations), {
    'missing-san.invalid-cert.kubernetes.io/localhost':
      'relies on a legacy Common Name field instead of the SAN extension for subject validation',
    'failed-open.validating.webhook.admission.k8s.io/round_0_index_0': 'nameless.example.com',
  })
})

test('caBundle may be the serving certificate, and the path is cleaned', async (t) => {
  const serving = issueCertificate({ commonName: 'hook', hosts: ['localhost'], use: 'server', ...validity }, authority)
  const urls: string[] = []
  const server = createServer(serving, (request, response) => {
    urls.push(request.url ?? '')
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { kind, apiVersion, request: review } = JSON.parse(Buffer.concat(chunks).toString())
      response.end(JSON.stringify({ kind, apiVersion, response: { uid: review.uid, allowed: true } }))
    })
  }).listen(0)
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const fixture = await webhookFixture(() => ({ allowed: true }))
  const { port } = server.address() as AddressInfo
  const webhook = (path: string, host = 'localhost') => {
    const clientConfig = { url: `https://${host}:${port}${path}`, caBundle: Buffer.from(serving.cert).toString('base64') }
    return fixture.webhook('hook', { clientConfig })
  }
  await fixture.configure('mutating', 'a', webhook('//mutate'))
  await fixture.configure('validating', 'a', webhook('/validate/'))
  await fixture.admit()
  assert.deepEqual(urls, ['/mutate?timeout=5s', '/validate?timeout=5s'])
  await fixture.configure('mutating', 'a', webhook('//mutate', '127.0.0.1'))
  const refusal = /Post "https:\/\/127\.0\.0\.1:\d+\/mutate\?timeout=5s": x509: certificate is valid for localhost, not 127\.0\.0\.1$/
  await assert.rejects(fixture.admit(), refusal)
})

for (const [url, target] of [
  ['https://LocalHost:1/x', 'LocalHost:1'],
  ['https://LocalHost', 'LocalHost:443'],
  ['https://[::1]/x', '[::1]:443'],
  ['https://127.1:443/x', '127.1:443'],
  ['https://localhost\\.example.com/x', 'localhost:443'],
] as const)
  test(`credentials for ${url} are those of ${target}`, async (t) => {
    const clients = new WebhookClients({ userAgent: 'test' })
    t.after(() => clients.close())
    const targets: string[] = []
    const credentials = (host: string) => {
      targets.push(host)
      throw new Error('enough')
    }
    const services = { readService: () => undefined, readEndpoints: () => undefined }
    const post = clients.endpointOf({ url }, 1000).post({ name: 'w', text: '', timeoutMs: 1000, onAbort: undefined, credentials, services })
    await assert.rejects(post, /enough/)
    assert.deepEqual(targets, [target])
  })
