// Metrics as text: escapes, buckets, values that are allowed, and text that is made again only for what changed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram } from '../../base/histogram.js'
import { type AllowedValues, Exposition, type Family } from './exposition.js'

function textOf(families: readonly Family[], exposition = new Exposition()): string {
  const steps = exposition.write(families)
  for (;;) {
    const step = steps.next()
    if (step.done) return Buffer.concat(step.value).toString()
  }
}

const counter = (rows: Family['rows']): Family => ({ name: 'a_total', type: 'counter', help: 'A\\b\nc.', labels: ['x', 'y'], rows })

test('what would end a label or a line is escaped', () => {
  assert.equal(
    textOf([counter([{ labels: ['q"', 'b\\\nn'], value: 2 }])]),
    '# HELP a_total A\\\\b\\nc.\n# TYPE a_total counter\na_total{x="q\\"",y="b\\\\\\nn"} 2\n',
  )
})

const histogram = (bounds: readonly number[], values: readonly number[]): Histogram => {
  const made = new Histogram(bounds)
  for (const value of values) made.add(value)
  return made
}

const family = (value: Histogram): Family => ({ name: 'd', type: 'histogram', help: 'D.', labels: [], rows: [{ labels: [], value }] })

test('buckets add up, and a value on a bound is below it', () => {
  assert.equal(
    textOf([family(histogram([1e-5, 0.5, 1e6], [0.5, 0.25, 2, 1e7]))]),
    `# HELP d D.
# TYPE d histogram
d_bucket{le="1e-05"} 0
d_bucket{le="0.5"} 2
d_bucket{le="1e+06"} 3
d_bucket{le="+Inf"} 4
d_sum 10000002.75
d_count 4
`,
  )
})

test('what has changed since the last time is shown', () => {
  const exposition = new Exposition()
  const value = histogram([1], [0.5])
  assert.match(textOf([family(value)], exposition), /d_count 1\n/)
  value.add(0.5, 3)
  assert.match(textOf([family(value)], exposition), /d_count 4\n/)
})

test('values that are not allowed are one row', () => {
  const allowed: AllowedValues = new Map([
    ['a_total', new Map([['x', new Set(['1'])]])],
    ['e', new Map([['x', new Set<string>()]])],
  ])
  const counts = counter(['1', '2', '3'].map((x) => ({ labels: [x, 'y'], value: 5 })))
  const durations: Family = {
    ...family(histogram([1], [])),
    name: 'e',
    labels: ['x'],
    rows: ['1', '2'].map((x) => ({ labels: [x], value: histogram([1], [0.5]) })),
  }
  const text = textOf([counts, durations], new Exposition(allowed))
  assert.match(text, /a_total\{x="1",y="y"\} 5\na_total\{x="unexpected",y="y"\} 10\n/)
  assert.match(text, /e_count\{x="unexpected"\} 2\n$/)
})

test('it is made in short pieces, row by row', () => {
  const exposition = new Exposition()
  const many: Family = { ...counter([]), rows: Array.from({ length: 5000 }, (_, i) => ({ labels: [`x${i}`, 'y'], value: i })) }
  const wide: Family = {
    ...family(histogram([1], [])),
    rows: Array.from({ length: 100 }, () => ({ labels: [], value: histogram([1, 2], [1]) })),
  }
  const steps = exposition.write([many, wide])
  let count = 0
  let step = steps.next()
  for (; !step.done; step = steps.next()) count++
  assert.equal(count, 5100)
  assert.ok(step.value.length > 100)
  assert.deepEqual(
    step.value.filter(({ length }) => length > 10_000),
    [],
  )
})
