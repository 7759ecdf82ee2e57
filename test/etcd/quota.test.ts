// A quota under fire on two servers on one etcd: never above it and nothing lost, also when they are killed.

import { after, before, describe, test } from 'node:test'
import { fillUp, makeAndDelete, makeQuota } from '../admission/quota-play.js'
import { newNamespace, sleep } from '../kit/fixtures.js'
import { seededRandom } from '../kit/seeded-random.js'
import { ServerProcess } from '../kit/server-process.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix } from './open-replica.js'
import { Replicas } from './start-replicas.js'

const playMs = Number(process.env['QUOTA_SECONDS'] ?? 1) * 1000

describe('a quota on two servers', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
  })
  after(() => cluster?.stop())

  test('64 clients make and delete on both', async () => {
    const replicas = await Replicas.start({ servers: cluster.endpoints, prefix: newPrefix(), count: 2 })
    const namespace = await newNamespace(replicas.next)
    await makeQuota(replicas.client(0), namespace)
    await makeAndDelete({ client: () => replicas.next, namespace, random: seededRandom('QUOTA_SEED'), untilMs: Date.now() + playMs })
    await fillUp(replicas.client(1), namespace)
    await replicas.close()
  })

  test('64 clients make and delete on both, which are killed in turns', async () => {
    const random = seededRandom('QUOTA_SEED')
    const flags = [`--etcd-servers=${cluster.endpoints.join(',')}`, `--etcd-prefix=${newPrefix()}`]
    const start = (): Promise<ServerProcess> => ServerProcess.start({ flags })
    const servers = await Promise.all([start(), start()])
    const serverAt = (i: number): ServerProcess => servers[i % 2] as ServerProcess
    const namespace = await newNamespace(serverAt(0).client)
    await makeQuota(serverAt(0).client, namespace)
    let turn = 0
    const untilMs = Date.now() + 2 * playMs
    const play = makeAndDelete({ client: () => serverAt(++turn).client, namespace, random, untilMs })
    for (let killed = 0; Date.now() < untilMs; killed++) {
      await sleep(250 + random.below(500))
      await serverAt(killed).kill()
      servers[killed % 2] = await start()
    }
    await play
    await fillUp(serverAt(0).client, namespace)
    for (const server of servers) await server.kill()
  })
})
