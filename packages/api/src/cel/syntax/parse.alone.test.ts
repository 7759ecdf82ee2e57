// Expressions that nest deeply are read up to the limit of the reference and refused beyond it, also before the parser's code is compiled, when
// each level takes more of the stack.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { CelSyntaxError, parseExpression } from './parse.js'

const pairs = [
  ['(', ')'],
  ['[', ']'],
  ['{1:', '}'],
  ['a[', ']'],
  ['f(', ')'],
  ['a||b&&!(', ')'],
  ['a.exists(x, ', ')'],
] as const

/** The expression itself is one level. */
const deepest = 249

const nest = ([open, close]: readonly [string, string], levels: number): string => `${open.repeat(levels)}1${close.repeat(levels)}`

const isTooDeep = (thrown: unknown): boolean =>
  thrown instanceof CelSyntaxError && /expression recursion limit exceeded: 250$/.test(thrown.message)

test('what nests as deeply as it may is read, and what nests more deeply is refused', () => {
  for (const pair of pairs) {
    parseExpression(nest(pair, deepest))
    assert.throws(() => parseExpression(nest(pair, deepest + 1)), isTooDeep, pair[0])
  }
})

test('what stands on the right of an operator is a level of its own', () => {
  for (const pair of [
    ['1+(', ')'],
    ['1*(', ')'],
    ['1<(', ')'],
  ] as const) {
    parseExpression(nest(pair, 124))
    assert.throws(() => parseExpression(nest(pair, 125)), isTooDeep, pair[0])
  }
})

test('terms side by side are as many as the limit says, and those of logic more', () => {
  const side = (operator: string, count: number): string => Array(count).fill('a').join(operator)
  for (const operator of ['+', '*', '<', '.']) {
    parseExpression(side(operator, 251))
    assert.throws(() => parseExpression(side(operator, 300)), isTooDeep, operator)
  }
  for (const operator of ['&&', '||']) parseExpression(side(operator, 5000))
})

test('a process that has just begun reads them as well', () => {
  const script = `const { parseExpression } = await import(process.argv[1]); for (const text of JSON.parse(process.argv[2])) parseExpression(text)`
  const parser = new URL('./parse.js', import.meta.url).href
  // Entries of maps take the most of the stack.
  execFileSync(process.execPath, ['--input-type=module', '-e', script, parser, JSON.stringify([nest(['{1:', '}'], deepest)])], {
    stdio: 'pipe',
  })
})
