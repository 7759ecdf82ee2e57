// A hook that shows a certificate without names is not asked, and the audit log says why, so that its owner is found.

import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { issueCertificate } from '../../net/issue-certificate.js'
import { worldOf } from './hook-world.fixture.js'

const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'authority', use: 'authority', ...times }), commonName: 'authority' }
const nameless = issueCertificate({ commonName: 'localhost', use: 'server', ...times }, authority)

test('what is wrong with its certificate is in the audit log, with the name of the host', async (t) => {
  const server = createServer(nameless, (_request, response) => response.end('{}')).listen(0)
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const world = await worldOf(() => ({ allowed: true }))
  const url = `https://localhost:${(server.address() as AddressInfo).port}/hook`
  const clientConfig = { url, caBundle: Buffer.from(authority.cert).toString('base64') }
  await world.configure('validating', 'nameless', world.hook('nameless', { clientConfig, failurePolicy: 'Ignore' }))
  await world.admit()
  assert.deepEqual(Object.fromEntries(world.remarks), {
    'missing-san.invalid-cert.kubernetes.io/localhost':
      'relies on a legacy Common Name field instead of the SAN extension for subject validation',
    'failed-open.validating.webhook.admission.k8s.io/round_0_index_0': 'nameless.example.com',
  })
})
