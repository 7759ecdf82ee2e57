// `npm run linear`: twice the input takes at most two and a half times as long, from 1 KB to the largest there is, for every shape of the
// corpus and for random ones. `-- --only YAML`, `-- --random 50`, `-- --seed 7`.

import { parseArgs } from 'node:util'
import { newSeed } from '../kit/seeded-random.js'
import { corpus } from './corpus.js'
import { type Growth, growthOf, Probe, showGrowth } from './measure.js'
import { randomShapes } from './random-shapes.js'
import type { Shape } from './shape.js'

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    random: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(newSeed()) },
    verbose: { type: 'boolean', default: false },
  },
})

const smallest = 1024
const mostFactor = 2.5
/** Times below this are noise, whatever their ratio. */
const leastMs = 0.05
const sampling = { leastMs: 3, samples: 2 }
const seed = Number(values.seed)

/** One step beyond the rule is a cache that is full or a table that grows; two in a row, or a great one, are what the rule forbids. */
const greatFactor = 5

/** The doubling that breaks the rule, if one does. */
function broken(shape: Shape): Growth | undefined {
  let from = new Probe(shape, smallest, seed)
  let wasBeyond = false
  for (let bytes = smallest * 2; bytes <= shape.maxBytes; bytes *= 2) {
    const to = new Probe(shape, bytes, seed)
    const growth = growthOf(shape, { from, to }, mostFactor, sampling)
    if (values.verbose) console.log(showGrowth(growth))
    const isBeyond = growth.factor > mostFactor && to.ms > leastMs
    if (isBeyond && (wasBeyond || growth.factor > greatFactor)) return growth
    wasBeyond = isBeyond
    from = to
  }
  console.log(`${shape.subject}: ${shape.name}: ${(from.ms / (from.bytes / 2 ** 20)).toFixed(1)} ms/MiB`)
  return undefined
}

console.log(`seed ${seed}`)
const shapes = [...corpus, ...randomShapes(seed, Number(values.random))].filter(({ subject, name }) =>
  `${subject}: ${name}`.includes(values.only),
)
const findings = shapes.flatMap((shape) => {
  const growth = broken(shape)
  if (growth !== undefined) console.log(`NOT LINEAR ${showGrowth(growth)}`)
  return growth ?? []
})
console.log(`${shapes.length} shapes, ${findings.length} not linear`)
for (const finding of findings) console.log(showGrowth(finding))
process.exitCode = findings.length === 0 ? 0 : 1
