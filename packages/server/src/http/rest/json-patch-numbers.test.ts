// JSON patch: `test` operations compare numbers by their literals, as in kube-apiserver.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withLiteralTests } from './patch-body.js'

const parse = (text: string): readonly unknown[] => withLiteralTests(JSON.parse(text) as readonly unknown[], Buffer.from(text))

const rows = [
  { title: 'an integer', value: '1', isSame: true },
  { title: 'a negative integer', value: '-12', isSame: true },
  { title: 'a fraction', value: '0.5', isSame: true },
  { title: 'a zero fraction', value: '1.0', isSame: false },
  { title: 'an exponent', value: '1e3', isSame: false },
  { title: 'negative zero', value: '-0', isSame: false },
  { title: 'nested', value: '{"a":[1,{"b":1.0}]}', isSame: false },
  { title: 'a string with digits', value: '"1.0 \\" 2.0"', isSame: true },
]
for (const { title, value, isSame } of rows)
  test(`a test with ${title} ${isSame ? 'is unchanged' : 'always fails'}`, () => {
    const text = `[{"op":"test","path":"/x","value":${value}},{"op":"add","path":"/y","value":${value}}]`
    const parsed = JSON.parse(text) as readonly unknown[]
    const [tested, added] = parse(text)
    assert.deepEqual(added, parsed[1], 'an added value stays a number')
    if (isSame) assert.deepEqual(tested, parsed[0])
    else assert.notDeepEqual(tested, parsed[0])
  })
