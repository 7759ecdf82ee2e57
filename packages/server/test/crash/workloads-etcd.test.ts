// Three replicas on etcd: the leader, which runs the controllers, is killed in the middle of a rollout, a Job and the scaling of a
// StatefulSet. CRASH_SEED repeats the random choices of a run, but not its timing.

import { rmSync } from 'node:fs'
import { test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { sleep } from '../../../../test/kit/fixtures.js'
import { seededRandom } from '../../../../test/kit/seeded-random.js'
import { newFolder } from '../../../../test/kit/server-process.js'
import { Replica } from '../../../../test/robustness/replica.js'
import { EtcdCluster, whyNoEtcd } from '../etcd/etcd-cluster.js'
import { runWorkloads, workloadFlags } from './workload-run.js'

const rounds = 3
const killsPerRound = 2

const isLeader = async (client: ApiClient | undefined): Promise<boolean> =>
  client !== undefined && /^leader_election_master_status\{.*\} 1$/m.test((await client.get('/metrics')).text)

/** Waits until one of the replicas leads. */
async function leaderOf(replicas: readonly Replica[]): Promise<Replica> {
  for (;;) {
    for (const replica of replicas) if (await isLeader(replica.client).catch(() => false)) return replica
    await sleep(50)
  }
}

test('the leader is killed in a rollout, a Job and a StatefulSet', { skip: whyNoEtcd ?? false, timeout: 390_000 }, async (context) => {
  const random = seededRandom('CRASH_SEED')
  context.diagnostic(`CRASH_SEED=${random.seed}`)
  const cluster = await EtcdCluster.start({ members: 1 })
  const flags = [...workloadFlags, '--storage-backend=etcd', `--etcd-servers=${cluster.endpoints.join(',')}`]
  const folders = Array.from({ length: 3 }, () => newFolder())
  const replicas = folders.map((dataDir, i) => new Replica({ name: `r${i}`, dataDir, flags }))
  context.after(async () => {
    await Promise.all(replicas.map((replica) => replica.close()))
    await cluster.stop()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  for (const replica of replicas) await replica.start()
  await leaderOf(replicas)
  const leaders: string[] = []
  const changes = await runWorkloads({
    clients: () => replicas.flatMap(({ client }) => (client === undefined ? [] : [client])),
    rounds,
    kill: async () => {
      for (let i = 0; i < killsPerRound; i++) {
        await sleep(random.below(2000))
        const leader = await leaderOf(replicas)
        leaders.push(leader.name)
        // Mostly another replica takes over; a leader that is back before its Lease expires continues.
        await leader.crash(random.below(4) === 0 ? 0 : 20_000)
      }
    },
  })
  context.diagnostic(`killed leaders: ${leaders.join(' ')}; ${changes} changes`)
})
