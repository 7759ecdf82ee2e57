// ResourceQuota with concurrent writers on two servers: never exceeded, and no usage is lost.

import { after, before, describe, test } from 'node:test'
import { newNamespace } from '../../../../test/kit/fixtures.js'
import { seededRandom } from '../../../../test/kit/seeded-random.js'
import { createAndDelete, fillUp, makeQuota } from '../admission/quota-scenario.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix } from './open-replica.js'
import { Replicas } from './start-replicas.js'

const durationMs = Number(process.env['QUOTA_SECONDS'] ?? 1) * 1000

describe('ResourceQuota on two servers', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
  })
  after(() => cluster?.stop())

  test('64 clients create and delete on both servers', async () => {
    const replicas = await Replicas.start({ servers: cluster.endpoints, prefix: newPrefix(), count: 2 })
    const namespace = await newNamespace(replicas.next)
    await makeQuota(replicas.client(0), namespace)
    await createAndDelete({ client: () => replicas.next, namespace, random: seededRandom('QUOTA_SEED'), untilMs: Date.now() + durationMs })
    await fillUp(replicas.client(1), namespace)
    await replicas.close()
  })
})
