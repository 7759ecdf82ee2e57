// A quota under fire on several servers on one etcd: never above it, and nothing lost.

import { after, before, describe, test } from 'node:test'
import { fillUp, makeAndDelete, makeQuota } from '../admission/quota-play.js'
import { newNamespace } from '../kit/fixtures.js'
import { seededRandom } from '../kit/seeded-random.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix } from './open-replica.js'
import { Replicas } from './start-replicas.js'

const playMs = Number(process.env['QUOTA_SECONDS'] ?? 5) * 1000

describe('a quota on two servers', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  let replicas: Replicas
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
    replicas = await Replicas.start({ servers: cluster.endpoints, prefix: newPrefix(), count: 2 })
  })
  after(async () => {
    await replicas?.close()
    await cluster?.stop()
  })

  test('64 clients make and delete on both', async () => {
    const namespace = await newNamespace(replicas.next)
    await makeQuota(replicas.client(0), namespace)
    await makeAndDelete({ client: () => replicas.next, namespace, random: seededRandom('QUOTA_SEED'), untilMs: Date.now() + playMs })
    await fillUp(replicas.client(1), namespace)
  })
})
