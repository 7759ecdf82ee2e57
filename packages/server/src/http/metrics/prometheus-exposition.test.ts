// The Prometheus text format: escapes, buckets, allowed label values, and cached histograms.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { type AllowedValues, Exposition, type Family } from './prometheus-exposition.js'

const textOf = async (families: readonly Family[], exposition = new Exposition()): Promise<string> =>
  Buffer.concat(await exposition.write(families, turnBudget)).toString()

const counter = (rows: Family['rows']): Family => ({ name: 'a_total', type: 'counter', help: 'A\\b\nc.', labels: ['x', 'y'], rows })

test('quotes, backslashes and newlines are escaped', async () => {
  assert.equal(
    await textOf([counter([{ labels: ['q"', 'b\\\nn'], value: 2 }])]),
    '# HELP a_total A\\\\b\\nc.\n# TYPE a_total counter\na_total{x="q\\"",y="b\\\\\\nn"} 2\n',
  )
})

const histogram = (bounds: readonly number[], values: readonly number[]): Histogram => {
  const filled = new Histogram(bounds)
  for (const value of values) filled.add(value)
  return filled
}

const family = (value: Histogram): Family => ({ name: 'd', type: 'histogram', help: 'D.', labels: [], rows: [{ labels: [], value }] })

test('buckets are cumulative, and bounds are inclusive', async () => {
  assert.equal(
    await textOf([family(histogram([1e-5, 0.5, 1e6], [0.5, 0.25, 2, 1e7]))]),
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

test('a changed histogram is encoded again', async () => {
  const exposition = new Exposition()
  const value = histogram([1], [0.5])
  assert.match(await textOf([family(value)], exposition), /d_count 1\n/)
  value.add(0.5, 3)
  assert.match(await textOf([family(value)], exposition), /d_count 4\n/)
})

test('label values that are not allowed are added up in one row', async () => {
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
  const text = await textOf([counts, durations], new Exposition(allowed))
  assert.match(text, /a_total\{x="1",y="y"\} 5\na_total\{x="unexpected",y="y"\} 10\n/)
  assert.match(text, /e_count\{x="unexpected"\} 2\n$/)
})
