// DNS rebinding: a node name that resolves to another address after the check still connects to the checked one.

import assert from 'node:assert/strict'
import dns from 'node:dns'
import dnsPromises from 'node:dns/promises'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { mock, test } from 'node:test'
import { startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus } from '../../../../test/kit/fixtures.js'
import { makeCertificates, needsAddress, ownAddress } from '../../../../test/kit/kubelet/kubelet-cluster.js'
import { skipWithWorkers } from '../../../../test/kit/server-process.js'
import { FlagFiles } from '../security/make-pki.js'

test('a node name that resolves to loopback at the second lookup connects to the first address', {
  skip: needsAddress.skip || skipWithWorkers('the test replaces the DNS lookup of its process'),
}, async (t) => {
  const files = new FlagFiles()
  t.after(() => files.remove())
  const name = 'rebinding.example'
  const certificates = makeCertificates([name])
  const lookups: string[] = []
  const listenOn = async (address: string, port: number): Promise<number> => {
    const server = createServer({ ...certificates.kubelet }, (_request, response) => {
      lookups.push(address)
      response.end(address)
    })
    t.after(() => server.close())
    t.after(() => server.closeAllConnections())
    await once(server.listen(port, address), 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await listenOn(ownAddress ?? '', 0)
  await listenOn('127.0.0.1', port)

  const running = await startEmbedded('memory', [`--kubelet-certificate-authority=${files.write('ca.crt', certificates.authority.cert)}`])
  t.after(() => running.close())
  const addresses = [{ type: 'Hostname', address: name }]
  const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } }
  expectStatus(await running.client.post('/api/v1/nodes', { metadata: { name: 'node' }, status }), 201)

  const lookup = dns.lookup as (host: string, options: { all?: boolean }, done: (...results: unknown[]) => void) => void
  mock.method(dns, 'lookup', (host: string, options: { all?: boolean }, done: (...results: unknown[]) => void) => {
    if (host !== name) lookup(host, options, done)
    else if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }])
    else done(null, '127.0.0.1', 4)
  })
  mock.method(dnsPromises, 'lookup', async () => [{ address: ownAddress, family: 4 }])
  syncBuiltinESMExports()
  t.after(() => {
    mock.restoreAll()
    syncBuiltinESMExports()
  })
  assert.equal(expectStatus(await running.client.get('/api/v1/nodes/node/proxy/healthz'), 200).text, ownAddress)
  assert.deepEqual(lookups, [ownAddress])
})
