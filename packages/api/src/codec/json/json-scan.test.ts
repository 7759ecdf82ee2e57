// Tests of countItems, which counts the items of a JSON list before parsing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countItems } from './json.js'

const counts: readonly (readonly [string, number])[] = [
  ['[]', 1],
  [' [1, 2 ,3]', 3],
  ['[{"a":1,"b":[1,2]},[3,4],"x,y"]', 3],
  ['["\\",",","]', 2],
  ['["a\\\\",{}]', 2],
  ['{"a":1,"b":2}', 0],
  ['"a,b"', 0],
  ['null', 0],
  ['', 0],
  ['[1,2', 2],
]

for (const [text, count] of counts)
  test(`countItems of ${text} is ${count}`, () => assert.equal(countItems(new TextEncoder().encode(text)), count))
