// Leader election of the controllers on several servers.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import type { Embedded } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectStatus, newNamespace, until } from '../../../../test/kit/fixtures.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix } from './open-replica.js'
import { startReplica } from './start-replicas.js'

const leasePath = '/apis/coordination.cluster.io/v1/namespaces/cluster-system/leases/cluster-apiserver-loops'

const holderOf = async (client: ApiClient): Promise<string> => {
  const response = await client.get(leasePath)
  return response.status === 200 ? ((response.json['spec'] as { holderIdentity?: string }).holderIdentity ?? '') : ''
}

describe('leader election', { skip: whyNoEtcd ?? false }, () => {
  test('a stopped leader hands over, a killed leader is replaced', { timeout: 200_000 }, async (context) => {
    const cluster = await EtcdCluster.start({ members: 1 })
    const prefix = newPrefix()
    const flags = [`--etcd-servers=${cluster.endpoints.join(',')}`, `--etcd-prefix=${prefix}`]
    const first = await ServerProcess.start({ flags })
    let third: Embedded | undefined
    context.after(async () => {
      await third?.close()
      await cluster.stop()
    })
    const name = await until(() => holderOf(first.client), Boolean)
    const second = await ServerProcess.start({ flags })
    assert.equal(await holderOf(second.client), name)

    await first.stop()
    await until(
      () => holderOf(second.client),
      (holder) => holder !== '' && holder !== name,
    )

    third = await startReplica({ servers: cluster.endpoints, prefix })
    const survivor = third.client
    const namespace = await newNamespace(survivor)
    expectStatus(await survivor.post(configMaps(namespace), configMapOf('left')), 201)
    await second.kill()
    expectStatus(await survivor.delete(`/api/v1/namespaces/${namespace}`), 200)
    await until(
      () => survivor.get(`/api/v1/namespaces/${namespace}`),
      ({ status }) => status === 404,
      60_000,
    )
  })
})
