// Worst-case strings for CEL functions, and worst-case CEL expressions for the parser and the compiler.

import { compileExpression } from '../../packages/api/src/cel/compile.js'
import { policyEnvironment } from '../../packages/api/src/cel/policy-expression.js'
import { parseExpression } from '../../packages/api/src/cel/syntax/parse.js'
import { valueOfJson } from '../../packages/api/src/cel/values/json-values.js'
import { attempt, fill, maxBodyBytes, type Shape } from './shape.js'

type Texts = { readonly [name: string]: unknown }

const shape = (expression: string, name: string, make: (bytes: number) => Texts, settledBytes?: number): Shape => ({
  subject: 'expressions',
  name: `${expression}, ${name}`,
  maxBytes: maxBodyBytes,
  ...(settledBytes === undefined ? {} : { settledBytes }),
  prepare: (bytes) => {
    const program = compileExpression(expression, policyEnvironment(false))
    const object = valueOfJson(make(bytes))
    return () => program.evaluate({ object }, Number.POSITIVE_INFINITY)
  },
})

/** A substring that almost matches everywhere. */
const almostEverywhere = (bytes: number): Texts => {
  const run = fill('a', bytes / 8)
  return { text: fill('a', bytes), part: `${run}b${run}` }
}
const almostAtEnd = (bytes: number): Texts => ({ text: fill('a', bytes / 2), part: `${fill('a', bytes / 4)}b` })
const oneLetter = (bytes: number): Texts => ({ text: fill('a', bytes) })
const digits = (bytes: number): Texts => ({ text: `${fill('1', bytes)}x` })
const pattern =
  (start: string, unit: string, end = '') =>
  (bytes: number): Texts => ({ text: `${start}${fill(unit, bytes)}${end}` })
const mixed = (bytes: number): Texts => ({ text: fill('aBö, %41&', bytes) })

const searches = [
  'object.text.contains(object.part)',
  'object.text.indexOf(object.part) == 1',
  'object.text.lastIndexOf(object.part) == 1',
  'object.text.split(object.part).size() == 0',
  "object.text.replace(object.part, 'x') == ''",
]
const otherExpressions = [
  "object.text.findAll('a').size() == 1",
  "object.text.matches('^(a|b|ö)+$')",
  "object.text.split('').join('-') == ''",
  "object.text.split(',').all(x, x != '')",
  "object.text.replace('', 'x') == ''",
  'object.text.lowerAscii().trim() == object.text.upperAscii()',
  'object.text.substring(3).charAt(2) == object.text',
  "url('http://a/?' + object.text).getQuery().size() == 1",
]

/** Longer expressions are rejected. */
const maxExpressionBytes = 100_000

const parsedShape = (unit: string): Shape => ({
  subject: 'expression source',
  name: JSON.stringify(unit),
  maxBytes: maxExpressionBytes,
  prepare: (bytes) => {
    const text = fill(unit, Math.min(bytes, maxExpressionBytes - 100))
    return () => attempt(() => parseExpression(text))
  },
})

export const writtenShapes: readonly Shape[] = [
  "'''\n\\", '"""\n\\', "r'''a", "b'\n", "'\\q", '// ', '//\n', '1.', '1e', '0x', 'a.', '!', '-', 'a?', 'a+', 'a&&', ',', '=', '\\',
].map(parsedShape) // biome-ignore format: short texts

/** Parsed, checked and compiled. */
const compiledShape = (unit: string): Shape => ({
  subject: 'expression source',
  name: `${JSON.stringify(unit)}, compiled`,
  maxBytes: maxExpressionBytes,
  prepare: (bytes) => {
    const text = `true${fill(unit, Math.min(bytes, maxExpressionBytes - 100))}`
    return () => compileExpression(text, policyEnvironment(false))
  },
})

export const compiledShapes: readonly Shape[] = [' || object.i == 1', ' && [1] != [object]', ' || 1 in [object.l]'].map(compiledShape)

export const celShapes: readonly Shape[] = [
  ...searches.flatMap((expression) => [
    shape(expression, 'almost matches everywhere', almostEverywhere),
    shape(expression, 'almost matches at its end', almostAtEnd),
  ]),
  ...['double', 'int', 'uint', 'duration', 'timestamp'].map((name) =>
    shape(`${name}(object.text) == ${name}(object.text)`, 'digits', digits),
  ),
  shape("'a'.matches(object.text)", 'brackets and colons', pattern('[', '[:')),
  shape("'a'.matches(object.text)", 'brackets and colons in a class', pattern('[', '[:', ']')),
  shape("'a'.matches(object.text)", 'brackets and colons before the end of a name', pattern('[', '[:', ':]]')),
  // Shorter regular expressions are compiled once and cached; from this size on they are rejected each time.
  shape("'a'.matches(object.text)", 'many groups of one name', pattern('', '(?P<n>)'), 24 << 10),
  shape("'a'.matches(object.text)", 'groups without a name', pattern('(?P<n>)(?P<n>)', '(?P<'), 24 << 10),
  // The library uses another algorithm for long strings.
  shape("object.text.find('a*$') == ''", 'one letter', oneLetter, 128 << 10),
  ...otherExpressions.flatMap((expression) => [shape(expression, 'one letter', oneLetter), shape(expression, 'mixed', mixed)]),
]
