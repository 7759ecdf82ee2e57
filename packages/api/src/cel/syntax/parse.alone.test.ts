// Tests of the nesting limit of the CEL parser, in a process of its own: interpreted code uses more stack per level than compiled code.

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

/** The expression itself counts as one level. */
const maxLevels = 249

const nest = ([open, close]: readonly [string, string], levels: number): string => `${open.repeat(levels)}1${close.repeat(levels)}`

const isTooDeep = (thrown: unknown): boolean =>
  thrown instanceof CelSyntaxError && /expression recursion limit exceeded: 250$/.test(thrown.message)

test('249 nested levels parse, 250 exceed the recursion limit', () => {
  for (const pair of pairs) {
    parseExpression(nest(pair, maxLevels))
    assert.throws(() => parseExpression(nest(pair, maxLevels + 1)), isTooDeep, pair[0])
  }
})

test('the right operand of an operator counts as a level', () => {
  for (const pair of [
    ['1+(', ')'],
    ['1*(', ')'],
    ['1<(', ')'],
  ] as const) {
    parseExpression(nest(pair, 124))
    assert.throws(() => parseExpression(nest(pair, 125)), isTooDeep, pair[0])
  }
})

test('the limit holds for chained operators, except && and ||', () => {
  const chain = (operator: string, count: number): string => Array(count).fill('a').join(operator)
  for (const operator of ['+', '*', '<', '.']) {
    parseExpression(chain(operator, 251))
    assert.throws(() => parseExpression(chain(operator, 300)), isTooDeep, operator)
  }
  for (const operator of ['&&', '||']) parseExpression(chain(operator, 5000))
})

test('a fresh process parses the deepest expression', () => {
  const script = `const { parseExpression } = await import(process.argv[1]); for (const text of JSON.parse(process.argv[2])) parseExpression(text)`
  const parser = new URL('./parse.js', import.meta.url).href
  // Map entries use the most stack per level.
  execFileSync(process.execPath, ['--input-type=module', '-e', script, parser, JSON.stringify([nest(['{1:', '}'], maxLevels)])], {
    stdio: 'pipe',
  })
})
