// What compares values to the bottom: lists in which one and the same list stands many times are as large as one likes, at no cost.

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { workOfCall } from './call-work.js'
import { compileExpression } from './compile.js'
import { valueOfJson } from './data.js'
import { policyEnvironment } from './policy.js'
import { CelError, CelList, type Value, ValueList } from './values.js'

const object = valueOfJson({ m: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, i])) })

function ask(expression: string): Value {
  const work = compileExpression(expression, policyEnvironment(false)).evaluateInPieces({ object }, 1_000_000)
  for (;;) {
    const step = work.next()
    if (step.done) return step.value.value
  }
}

/** Of twice as many parts with each level. */
const nested = (levels: number): string => `[[1]]${'.map(x, [x, x])'.repeat(levels)}`

it('values with too many parts are not compared', () => {
  assert.equal(ask(`${nested(8)} == ${nested(8)} && object.m == object.m`), true)
  assert.equal(ask(`${nested(15)} == ${nested(15)}`), true)
  const refused = ask(`${nested(30)} == ${nested(30)}`)
  assert.match(refused instanceof CelError ? refused.message : '', /cost limit exceeded/)
})

it('to count parts takes no longer than to compare: a rule may ask for each of many items', () => {
  let looks = 0
  class Long extends CelList {
    readonly size = 1000
    readonly item: Value
    constructor(item: Value) {
      super()
      this.item = item
    }
    at(): Value {
      looks += 1
      return this.item
    }
    add(): CelList {
      return this
    }
  }
  const long = new Long(new Long(1n))
  const map = valueOfJson({ a: {}, long: {} }) as object
  Object.assign(map, { find: () => long })
  for (const [name, values, most] of [
    ['_==_', [long, new ValueList([])], 0],
    ['_!=_', [long, null], 0],
    ['_==_', [long, new ValueList(new Array(1000).fill(1n))], 2000],
    ['@in', ['a', map as Value], 0],
    ['@in', [new ValueList([1n]), long], 0],
    ['indexOf', [long, 'a'], 0],
    ['_==_', [long, long], 100_000],
  ] as const) {
    looks = 0
    const work = workOfCall(name)(values)
    assert.ok(looks <= most, `${name}: ${looks}`)
    assert.equal(work > 5e6, most === 100_000)
  }
})
