// APIServices on two servers that share an etcd: the leader checks availability, both proxy requests.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { expectStatus, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { conditionOf, ExtensionServer, register, waitFor } from '../aggregation/extension-server.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix } from './open-replica.js'
import { Replicas } from './start-replicas.js'

describe('APIServices on several servers', { skip: whyNoEtcd ?? false }, () => {
  test('one server checks availability, all proxy requests', { timeout: 300_000 }, async (context) => {
    const cluster = await EtcdCluster.start({ members: 1 })
    const replicas = await Replicas.start({ servers: cluster.endpoints, prefix: newPrefix(), count: 2 })
    const extension = await ExtensionServer.start('shared.example')
    context.after(async () => {
      extension.close()
      await replicas.close()
      await cluster.stop()
    })
    const [first, second] = replicas.all.map(({ client }) => client)
    assert.ok(first !== undefined && second !== undefined)
    const path = await register(first, { server: extension })
    for (const client of [first, second]) {
      await untilStatus(() => client.get('/apis/shared.example/v1/gadgets'), 200)
      await until(
        () => client.get('/openapi/v2'),
        ({ text }) => text.includes('A gadget of an extension API server.'),
      )
      assert.equal((await conditionOf(client, path))?.reason, 'Passed')
    }
    extension.close()
    await second.patch(path, 'application/merge-patch+json', { spec: { versionPriority: 3 } })
    await waitFor(first, path, 'FailedDiscoveryCheck')
    for (const client of [first, second])
      await until(
        () => client.get('/apis/shared.example/v1/gadgets'),
        ({ text }) => text === 'service unavailable\n',
      )
    expectStatus(await first.delete(path), 200)
    await untilStatus(() => second.get('/apis/shared.example'), 404)
  })
})
