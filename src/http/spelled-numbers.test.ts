// Which tests of a patch can still hold when numbers are compared as they are spelled.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withSpelledTests } from './spelled-numbers.js'

const spelled = (text: string): readonly unknown[] => withSpelledTests(JSON.parse(text) as readonly unknown[], Buffer.from(text))

const rows = [
  { title: 'an integer', value: '1', isSame: true },
  { title: 'a negative one', value: '-12', isSame: true },
  { title: 'a fraction', value: '0.5', isSame: true },
  { title: 'a fraction of nothing', value: '1.0', isSame: false },
  { title: 'an exponent', value: '1e3', isSame: false },
  { title: 'less than nothing', value: '-0', isSame: false },
  { title: 'within', value: '{"a":[1,{"b":1.0}]}', isSame: false },
  { title: 'a text that looks like one', value: '"1.0 \\" 2.0"', isSame: true },
]
for (const { title, value, isSame } of rows)
  test(`numbers in tests: ${title}`, () => {
    const text = `[{"op":"test","path":"/x","value":${value}},{"op":"add","path":"/y","value":${value}}]`
    const plain = JSON.parse(text) as readonly unknown[]
    const [tested, added] = spelled(text)
    assert.deepEqual(added, plain[1], 'what is added is a number')
    if (isSame) assert.deepEqual(tested, plain[0])
    else assert.notDeepEqual(tested, plain[0])
  })
