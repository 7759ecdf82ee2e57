// `npm run linear`: twice the input takes at most two and a half times as long, from 1 KB to the largest there is, for every shape of the
// corpus and for random ones. The young generation is made large and emptied before each sample: what the collector takes is not what the parser takes.
// `-- --only YAML`, `-- --random 50`, `-- --seed 7`.

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
/** A shape that seems to break the rule is measured anew so many times, and the median counts: a machine is disturbed now and again. */
const rounds = 7
/** Times below this are noise: what takes longer than that is compared with this. */
const leastMs = 0.05
const factorOf = (from: Probe, to: Probe): number => to.ms / Math.max(from.ms, leastMs)
const sampling = { leastMs: 3, samples: 2 }
const seed = Number(values.seed)

/** In one doubling more than that may be another way that is taken for long inputs, and has to be looked at, too. */
const mostStep = 5

/**
 * A few doublings alone are a step and no growth: a cache is full, or an object of the runtime becomes a table, with its thousandth member. So it
 * takes some in a row, and fewer where each is worse.
 */
const rows = [
  { inRow: 4, limit: mostFactor },
  { inRow: 2, limit: 3 },
] as const

/** The last of the doublings in a row that break the rule, if some do. */
function broken(shape: Shape): Growth | undefined {
  const first = shape.settledBytes ?? smallest
  let last = new Probe(shape, first, seed)
  last.sample(sampling)
  let suspects: Growth[] = []
  for (let bytes = first * 2; bytes <= shape.maxBytes; bytes *= 2) {
    const [from, to] = [last, new Probe(shape, bytes, seed)]
    last = to
    const growth = growthOf(shape, { from, to }, mostFactor, sampling)
    if (values.verbose) console.log(showGrowth(growth))
    const factor = factorOf(from, to)
    const isSuspect = factor > mostFactor
    if (factor > mostStep && isBroken(growth, mostStep)) return growth
    suspects = isSuspect ? [...suspects, growth] : []
    for (const { inRow, limit } of rows) {
      const last = suspects.slice(-inRow)
      if (last.length === inRow && last.every(({ factor }) => factor > limit) && last.every((each) => isBroken(each, limit))) return growth
    }
  }
  console.log(`${shape.subject}: ${shape.name}: ${(last.ms / (last.bytes / 2 ** 20)).toFixed(1)} ms/MiB`)
  return undefined
}

const isBroken = ({ shape, from, to }: Growth, limit: number): boolean => medianFactor(shape, { from: from.bytes, to: to.bytes }) > limit

/** What is measured side by side several times, each time with inputs of its own. */
function medianFactor(shape: Shape, sizes: { readonly from: number; readonly to: number }): number {
  const factors = Array.from({ length: rounds }, () => {
    const [from, to] = [new Probe(shape, sizes.from, seed), new Probe(shape, sizes.to, seed)]
    for (let i = 0; i < 3; i++) {
      from.sample({ ...sampling, samples: 4 })
      to.sample(sampling)
    }
    return factorOf(from, to)
  })
  return factors.sort((a, b) => a - b)[Math.floor(rounds / 2)] as number
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
