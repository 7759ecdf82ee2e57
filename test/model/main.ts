// `npm run model`: random requests against a server and an executable model of the API's rules. Options: `--sequences 200`, `--length 20`,
// `--seed 7`, `--failures 3` (ends after so many).

import { parseArgs } from 'node:util'
import { startEmbedded } from '../kit/embedded.js'
import { newSeed } from '../kit/seeded-random.js'
import { failureOf, prepare } from './run.js'

const { values } = parseArgs({
  options: {
    sequences: { type: 'string', default: '200' },
    length: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(newSeed()) },
    failures: { type: 'string', default: '3' },
  },
})

const firstSeed = Number(values.seed)
const { client, close } = await startEmbedded('memory')
await prepare(client)
let failures = 0
for (let i = 0; i < Number(values.sequences) && failures < Number(values.failures); i++) {
  const failure = await failureOf(client, firstSeed + i, Number(values.length))
  if (failure === undefined) continue
  failures++
  console.log(failure)
}
await close()
console.log(`seed ${firstSeed}: ${failures} failing sequences`)
process.exitCode = failures > 0 ? 1 : 0
