// `npm run linear`: doubling the input of a parser or patch takes at most 2.5 times as long, up to its maximum. Inputs are hand-written and
// random shapes. Options: `--only YAML,apply`, `--random 50`, `--seed 7`, `--list` (names for --only), `--verbose`.

import { parseArgs } from 'node:util'
import { newSeed } from '../kit/seeded-random.js'
import { corpus } from './corpus.js'
import { Probe } from './measure.js'
import { randomShapes } from './random-shapes.js'
import { judge, sizesUpTo, type Verdict } from './rule.js'
import type { Shape } from './shape.js'

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    random: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(newSeed()) },
    list: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
})

const minBytes = 1024
const seed = Number(values.seed)
const nameOf = ({ subject, name }: Shape): string => `${subject}: ${name}`
const secondsSince = (begun: number): string => `${((performance.now() - begun) / 1000).toFixed(1)} s`

const parts = values.only.split(',')
const shapes = [...corpus, ...randomShapes(seed, Number(values.random))].filter((shape) =>
  parts.some((part) => nameOf(shape).includes(part)),
)

function measure(shape: Shape): Verdict {
  const sizes = sizesUpTo(shape.maxBytes, shape.settledBytes ?? minBytes)
  return judge(sizes, (bytes) => new Probe(shape, bytes, seed))
}

function describe({ times, worst, broken }: Verdict): string {
  const largest = times.at(-1)
  const took = largest === undefined ? '' : `${largest.bytes} bytes ${largest.ms.toFixed(2)} ms, worst doubling ${worst.toFixed(2)}`
  if (broken === undefined) return took
  const { from, to, factor } = broken
  return `NOT LINEAR ${took}; ${from.bytes} bytes ${from.ms.toFixed(3)} ms, ${to.bytes} bytes ${to.ms.toFixed(3)} ms, factor ${factor.toFixed(1)}`
}

function run(): void {
  console.log(`seed ${seed}, ${shapes.length} shapes`)
  const begun = performance.now()
  const verdicts = shapes.map((shape, index) => {
    const since = performance.now()
    const verdict = measure(shape)
    console.log(`${index + 1}/${shapes.length} ${nameOf(shape)}: ${describe(verdict)} (${secondsSince(since)})`)
    if (values.verbose) console.log(verdict.times.map(({ bytes, ms }) => `  ${bytes} bytes ${ms.toFixed(3)} ms`).join('\n'))
    return { shape, verdict }
  })
  const findings = verdicts.filter(({ verdict }) => verdict.broken !== undefined)
  const worst = verdicts.reduce((most, each) => (each.verdict.worst > most.verdict.worst ? each : most))
  console.log(
    `${shapes.length} shapes in ${secondsSince(begun)}, ${findings.length} not linear; worst ${worst.verdict.worst.toFixed(2)}: ${nameOf(worst.shape)}`,
  )
  for (const { shape, verdict } of findings) console.log(`${nameOf(shape)}: ${describe(verdict)}`)
  process.exitCode = findings.length === 0 ? 0 : 1
}

/** Number of shapes per name of `--only`. */
function list(): void {
  for (const subject of new Set(shapes.map((shape) => shape.subject)))
    console.log(`${subject}: ${shapes.filter((shape) => shape.subject === subject).length}`)
}

if (shapes.length === 0) throw new Error(`no shape matches ${values.only}; --list prints the names`)
if (values.list) list()
else run()
