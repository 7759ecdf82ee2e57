// `npm run hostile`: replays attacks that once blocked the server, `--rounds` (3) times each; `--only TEXT` selects by name. The median of
// the longest event-loop blocks must be within a limit, error responses within 1 MiB. `--profile FOLDER` writes CPU profiles.

import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ApiClient } from '../kit/api-client.js'
import { eventLoopProbeFlags, takeLongestBlockMs } from '../kit/event-loop-block.js'
import { sleep } from '../kit/fixtures.js'
import { ServerProcess } from '../kit/server-process.js'
import { type Attack, maxBlockMs, maxErrorBytes, type Outcome, type Target } from './attack.js'
import { bodyAttacks } from './body-attacks.js'
import { connectionAttacks } from './connection-attacks.js'
import { fillWithEvents, listAttacks } from './list-attacks.js'
import { smallChunkAttacks } from './small-chunk-attacks.js'

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, rounds: { type: 'string', default: '3' }, profile: { type: 'string' } },
})
/** Time for the server to notice closed connections. */
const tidyMs = 1000

const labelOf = ({ finding, name }: Attack): string => `${finding}. ${name}`

async function replay(attack: Attack, target: Target): Promise<boolean> {
  await attack.prepare?.(target)
  const blocksMs: number[] = []
  let outcome: Outcome = { status: 0, bytes: 0 }
  for (let round = 0; round < Number(values.rounds); round++) {
    await takeLongestBlockMs(target.server)
    outcome = await attack.run(target, round)
    blocksMs.push(await takeLongestBlockMs(target.server))
    if (outcome.tidy === undefined) continue
    outcome.tidy()
    await sleep(tidyMs)
  }
  const median = [...blocksMs].sort((a, b) => a - b)[Math.floor(blocksMs.length / 2)] ?? 0
  const hasPassed = median <= maxBlockMs[attack.limit] && (outcome.status < 400 || outcome.bytes <= maxErrorBytes) && outcome.status !== 500
  const blocks = blocksMs.map((ms) => ms.toFixed(1)).join(', ')
  console.log(
    `${hasPassed ? 'ok ' : 'BAD'} ${labelOf(attack)}: event-loop blocks ${blocks} ms (limit ${maxBlockMs[attack.limit]} ms); ${outcome.status}, ${outcome.bytes} bytes`,
  )
  return hasPassed
}

async function replayAll(server: ServerProcess, attacks: readonly Attack[]): Promise<number> {
  const { token: _, ...access } = server.access
  const target = { server, anonymous: new ApiClient(access) }
  let failures = 0
  try {
    for (const attack of attacks) if (!(await replay(attack, target))) failures++
  } finally {
    target.anonymous.close()
    await server.stop()
  }
  return failures
}

const selectAttacks = (attacks: readonly Attack[]): readonly Attack[] => attacks.filter((attack) => labelOf(attack).includes(values.only))
const nodeFlags = [
  ...eventLoopProbeFlags,
  ...(values.profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-interval=500', `--cpu-prof-dir=${values.profile}`]),
]
const [small, large] = [selectAttacks([...connectionAttacks, ...bodyAttacks, ...smallChunkAttacks]), selectAttacks(listAttacks)]
let failures = 0
if (small.length > 0) failures += await replayAll(await ServerProcess.start({ nodeFlags }), small)
if (large.length > 0) {
  const dataDir = await fillWithEvents(53_000)
  failures += await replayAll(await ServerProcess.start({ nodeFlags, dataDir }), large)
  rmSync(dataDir, { recursive: true })
}
console.log(`${small.length + large.length} attacks, ${failures} exceed their limit`)
process.exitCode = failures === 0 ? 0 : 1
