// kill -9 of a server with the embedded store in the middle of a rollout, a Job and the scaling of a StatefulSet.
//
// CRASH_SEED repeats the random choices of a run, but not its timing.

import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { sleep } from '../../../../test/kit/fixtures.js'
import { seededRandom } from '../../../../test/kit/seeded-random.js'
import { newFolder } from '../../../../test/kit/server-process.js'
import { Replica } from '../../../../test/robustness/replica.js'
import { runWorkloads, workloadFlags } from './workload-run.js'

const rounds = 4
const kills = 3

test('kill -9 in a rollout, a Job and a StatefulSet: nothing is doubled or lost', { timeout: 390_000 }, async (context) => {
  const random = seededRandom('CRASH_SEED')
  context.diagnostic(`CRASH_SEED=${random.seed}`)
  const dataDir = newFolder()
  const server = new Replica({ name: 's0', dataDir, flags: workloadFlags })
  context.after(async () => {
    await server.close()
    rmSync(dataDir, { recursive: true, force: true })
  })
  await server.start()
  const changes = await runWorkloads({
    clients: () => (server.client === undefined ? [] : [server.client]),
    rounds,
    kill: async () => {
      for (let i = 0; i < kills; i++) {
        await sleep(random.below(1200))
        await server.crash(random.below(300), random.below(3) === 0 ? random.below(600) : undefined)
      }
    },
  })
  context.diagnostic(`${rounds * kills} kills, ${changes} changes`)
})
