// Work is linear in the bytes received: sixteen times the input takes at most sixty times as long, for every shape of the corpus. What is
// quadratic takes 256 times as long, so that a busy machine does not matter. `npm run linear` looks more closely.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { corpus } from './corpus.js'
import { growthOf, Probe } from './measure.js'
import { randomShapes } from './random-shapes.js'
import type { Shape } from './shape.js'

const seed = 20_261_115
const smallBytes = 5 * 1024
const mostFactor = 60
const sampleMs = 0.5
/** What is quicker than this for the large input cannot be measured well. */
const leastMs = 5

function check(shapes: readonly Shape[]): void {
  const findings = shapes.flatMap((shape) => {
    const largest = Math.min((shape.settledBytes ?? smallBytes) * 16, shape.maxBytes)
    const from = new Probe(shape, largest / 16, seed, sampleMs)
    const to = new Probe(shape, largest, seed, sampleMs)
    const factor = growthOf({ from, to }, mostFactor)
    return factor > mostFactor && to.ms > leastMs ? [`${shape.subject}: ${shape.name}: ${from.ms} ms, ${to.ms} ms, factor ${factor}`] : []
  })
  assert.deepEqual(findings, [])
}

for (const subject of new Set(corpus.map((shape) => shape.subject)))
  test(`linear: ${subject}`, () => check(corpus.filter((shape) => shape.subject === subject)))

test('linear: random shapes', () => check(randomShapes(seed, 6)))

test('what is quadratic is found', () => {
  const quadratic: Shape = {
    subject: 'test',
    name: 'quadratic',
    maxBytes: 1 << 20,
    prepare: (bytes) => () => {
      let sum = 0
      for (let i = 0; i < bytes / 16; i++) for (let j = 0; j < bytes / 16; j++) sum += i ^ j
      return sum
    },
  }
  assert.throws(() => check([quadratic]), /factor/)
})
