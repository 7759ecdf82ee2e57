// `npm run hostile`: what held the server for seconds once is done again, and the longest turn of its event loop is measured, in processor time.
// Each thrice, and the median is to be at most 20 ms; no answer to an error has more than 1 MiB. `-- --only JSON`, `-- --rounds 5`,
// `-- --profile FOLDER` (writes a profile of the server there).

import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ApiClient } from '../kit/api-client.js'
import { sleep } from '../kit/fixtures.js'
import { takeTurn, turnWatchFlags } from '../kit/longest-turn.js'
import { ServerProcess } from '../kit/server-process.js'
import { type Attack, largestError, type Outcome, type Target } from './attack.js'
import { bodyAttacks } from './body-attacks.js'
import { connectionAttacks } from './connection-attacks.js'
import { fillWithEvents, listAttacks } from './list-attacks.js'
import { partAttacks } from './part-attacks.js'

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, rounds: { type: 'string', default: '3' }, profile: { type: 'string' } },
})
const mostMs = 20
/** By then a server has noticed that clients have gone. */
const tidyMs = 1000

const labelOf = ({ finding, name }: Attack): string => `${finding}. ${name}`

async function replay(attack: Attack, target: Target): Promise<boolean> {
  await attack.prepare?.(target)
  const turns: number[] = []
  let outcome: Outcome = { status: 0, bytes: 0 }
  for (let round = 0; round < Number(values.rounds); round++) {
    await takeTurn(target.server)
    outcome = await attack.run(target, round)
    turns.push(await takeTurn(target.server))
    if (outcome.tidy === undefined) continue
    outcome.tidy()
    await sleep(tidyMs)
  }
  const median = [...turns].sort((a, b) => a - b)[Math.floor(turns.length / 2)] ?? 0
  const isGood = median <= mostMs && (outcome.status < 400 || outcome.bytes <= largestError) && outcome.status !== 500
  const shown = turns.map((ms) => ms.toFixed(1)).join(', ')
  console.log(`${isGood ? 'ok ' : 'BAD'} ${labelOf(attack)}: turns ${shown} ms; ${outcome.status}, ${outcome.bytes} bytes`)
  return isGood
}

async function replayAll(server: ServerProcess, attacks: readonly Attack[]): Promise<number> {
  const { token: _, ...access } = server.access
  const target = { server, anonymous: new ApiClient(access) }
  let bad = 0
  try {
    for (const attack of attacks) if (!(await replay(attack, target))) bad++
  } finally {
    target.anonymous.close()
    await server.stop()
  }
  return bad
}

const wanted = (attacks: readonly Attack[]): readonly Attack[] => attacks.filter((attack) => labelOf(attack).includes(values.only))
const nodeFlags = [
  ...turnWatchFlags,
  ...(values.profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-interval=500', `--cpu-prof-dir=${values.profile}`]),
]
const [small, large] = [wanted([...connectionAttacks, ...bodyAttacks, ...partAttacks]), wanted(listAttacks)]
let bad = 0
if (small.length > 0) bad += await replayAll(await ServerProcess.start({ nodeFlags }), small)
if (large.length > 0) {
  const dataDir = await fillWithEvents(53_000)
  bad += await replayAll(await ServerProcess.start({ nodeFlags, dataDir }), large)
  rmSync(dataDir, { recursive: true })
}
console.log(`${small.length + large.length} attacks, ${bad} hold the server or are answered too long`)
process.exitCode = bad === 0 ? 0 : 1
