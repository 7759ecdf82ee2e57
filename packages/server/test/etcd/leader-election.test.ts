// The loops of several servers: one runs them, and another one when it is gone.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ApiClient } from '../kit/api-client.js'
import type { Embedded } from '../kit/embedded.js'
import { configMapOf, configMaps, expectStatus, newNamespace, until } from '../kit/fixtures.js'
import { ServerProcess } from '../kit/server-process.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix } from './open-replica.js'
import { startReplica } from './start-replicas.js'

const leasePath = '/apis/coordination.cluster.io/v1/namespaces/cluster-system/leases/cluster-apiserver-loops'

const holderOf = async (client: ApiClient): Promise<string> => {
  const answer = await client.get(leasePath)
  return answer.status === 200 ? ((answer.json['spec'] as { holderIdentity?: string }).holderIdentity ?? '') : ''
}

describe('leadership', { skip: whyNoEtcd ?? false }, () => {
  test('a leader that ends hands over at once, one that is killed is replaced', { timeout: 200_000 }, async (context) => {
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

    const stoppedMs = performance.now()
    await first.stop()
    await until(
      () => holderOf(second.client),
      (holder) => holder !== '' && holder !== name,
    )
    assert.ok(performance.now() - stoppedMs < 8000, 'without waiting for the end of the lease')

    third = await startReplica({ servers: cluster.endpoints, prefix })
    const survivor = third.client
    const namespace = await newNamespace(survivor)
    expectStatus(await survivor.post(configMaps(namespace), configMapOf('left')), 201)
    await second.kill()
    expectStatus(await survivor.delete(`/api/v1/namespaces/${namespace}`), 200)
    const killedMs = performance.now()
    await until(
      () => survivor.get(`/api/v1/namespaces/${namespace}`),
      ({ status }) => status === 404,
      60_000,
    )
    context.diagnostic(`replaced after ${Math.round((performance.now() - killedMs) / 1000)} s`)
  })
})
