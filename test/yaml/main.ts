// `npm run fuzz:yaml`: compares our YAML parser with the `yaml` package on random documents. Options: `-- --seconds 600`, `-- --seed 7`.

import { parseArgs } from 'node:util'
import { newSeed } from '../kit/seeded-random.js'
import { fuzzYaml } from './fuzz.js'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string', default: String(newSeed()) } },
})
const end = performance.now() + Number(values.seconds) * 1000
console.log(`seed ${values.seed}`)
const { documents, counts, differences } = fuzzYaml(Number(values.seed), () => performance.now() < end)
for (const [reason, count] of [...counts].sort(([, a], [, b]) => b - a)) console.log(`${count}\t${reason}`)
for (const difference of differences) console.log(`DIFFERENT ${difference}`)
console.log(`${documents} documents and words, ${differences.length} differences`)
process.exitCode = differences.length === 0 ? 0 : 1
