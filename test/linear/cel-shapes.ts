// Expressions over long texts: each of their functions, on the texts that are worst for it.

import { compileExpression } from '../../src/cel/compile.js'
import { valueOfJson } from '../../src/cel/data.js'
import { parseExpression } from '../../src/cel/parse.js'
import { policyEnvironment } from '../../src/cel/policy.js'
import { attempt, fill, largestBody, type Shape } from './shape.js'

type Texts = { readonly [name: string]: unknown }

const shape = (expression: string, name: string, make: (bytes: number) => Texts, settledBytes?: number): Shape => ({
  subject: 'expressions',
  name: `${expression}, ${name}`,
  maxBytes: largestBody,
  ...(settledBytes === undefined ? {} : { settledBytes }),
  prepare: (bytes) => {
    const program = compileExpression(expression, policyEnvironment(false))
    const object = valueOfJson(make(bytes))
    return () => program.evaluate({ object }, Number.POSITIVE_INFINITY)
  },
})

/** A part that almost stands everywhere in the text. */
const almost = (bytes: number): Texts => {
  const quarter = fill('a', bytes / 8)
  return { text: fill('a', bytes), part: `${quarter}b${quarter}` }
}
const half = (bytes: number): Texts => ({ text: fill('a', bytes / 2), part: `${fill('a', bytes / 4)}b` })
const letters = (bytes: number): Texts => ({ text: fill('a', bytes) })
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
const others = [
  "object.text.findAll('a').size() == 1",
  "object.text.matches('^(a|b|ö)+$')",
  "object.text.split('').join('-') == ''",
  "object.text.split(',').all(x, x != '')",
  "object.text.replace('', 'x') == ''",
  'object.text.lowerAscii().trim() == object.text.upperAscii()',
  'object.text.substring(3).charAt(2) == object.text',
  "url('http://a/?' + object.text).getQuery().size() == 1",
]

/** Longer expressions are refused. */
const longestExpression = 100_000

const written = (unit: string): Shape => ({
  subject: 'expressions as written',
  name: JSON.stringify(unit),
  maxBytes: longestExpression,
  prepare: (bytes) => {
    const text = fill(unit, Math.min(bytes, longestExpression - 100))
    return () => attempt(() => parseExpression(text))
  },
})

export const writtenShapes: readonly Shape[] = [
  "'''\n\\", '"""\n\\', "r'''a", "b'\n", "'\\q", '// ', '//\n', '1.', '1e', '0x', 'a.', '!', '-', 'a?', 'a+', 'a&&', ',', '=', '\\',
].map(written) // biome-ignore format: short texts

/** Read, checked and planned. */
const compiled = (unit: string): Shape => ({
  subject: 'expressions as written',
  name: `${JSON.stringify(unit)}, compiled`,
  maxBytes: longestExpression,
  prepare: (bytes) => {
    const text = `true${fill(unit, Math.min(bytes, longestExpression - 100))}`
    return () => compileExpression(text, policyEnvironment(false))
  },
})

export const compiledShapes: readonly Shape[] = [' || object.i == 1', ' && [1] != [object]', ' || 1 in [object.l]'].map(compiled)

export const expressionShapes: readonly Shape[] = [
  ...searches.flatMap((expression) => [shape(expression, 'almost there', almost), shape(expression, 'almost at its end', half)]),
  ...['double', 'int', 'uint', 'duration', 'timestamp'].map((name) =>
    shape(`${name}(object.text) == ${name}(object.text)`, 'digits', digits),
  ),
  shape("'a'.matches(object.text)", 'brackets and colons', pattern('[', '[:')),
  shape("'a'.matches(object.text)", 'brackets and colons in a class', pattern('[', '[:', ']')),
  shape("'a'.matches(object.text)", 'brackets and colons before the end of a name', pattern('[', '[:', ':]]')),
  // Shorter ones are compiled once and kept; these are refused for their size, each time.
  shape("'a'.matches(object.text)", 'many groups of one name', pattern('', '(?P<n>)'), 24 << 10),
  shape("'a'.matches(object.text)", 'groups without a name', pattern('(?P<n>)(?P<n>)', '(?P<'), 24 << 10),
  // The library takes another way for long texts.
  shape("object.text.find('a*$') == ''", 'one letter', letters, 128 << 10),
  ...others.flatMap((expression) => [shape(expression, 'one letter', letters), shape(expression, 'mixed', mixed)]),
]
