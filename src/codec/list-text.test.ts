// Lists for people, made in pieces: the same text as if they were made as a whole.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pieces } from './item-form.js'
import { textPieces } from './list-text.js'
import { prettyJson } from './pretty.js'
import { writeYaml } from './yaml/write-yaml.js'

const items = [
  { metadata: { name: 'a', labels: {} }, data: { text: 'one\ntwo\n', 'a: b': '[', empty: '' }, list: [] },
  { metadata: { name: 'b' }, data: { tail: 'ends with breaks\n\n' } },
  { metadata: { name: 'c' }, list: [1, [2, { x: null }]] },
].map((item) => JSON.stringify(item))

/** A list with so many items, so many of them in a piece. */
function piecesOf(member: string, count: number, together: number): readonly string[] {
  const head = `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"7"},"${member}":[`
  const pieces: string[] = []
  for (let i = 0; i < count; i += together) pieces.push(`${i > 0 ? ',' : ''}${items.slice(i, Math.min(count, i + together)).join(',')}`)
  return [head, ...pieces, ']}\n']
}

const join = (pieces: readonly string[]): string => pieces.join('')

/** The text of pieces that are there at once. */
function textOf(pieces: readonly string[], format: 'pretty' | 'yaml'): string {
  const source = pieces.map((piece) => Buffer.from(piece))
  const next: Pieces = textPieces(() => source.shift(), format)
  let text = ''
  for (let piece = next(); piece !== undefined; piece = next()) text += Buffer.from(piece as Uint8Array)
  return text
}

for (const member of ['items', 'rows']) {
  for (let count = 0; count <= items.length; count++) {
    for (const together of [1, 2, 3]) {
      test(`${count} ${member}, ${together} in a piece: the same text as of the whole`, () => {
        const pieces = piecesOf(member, count, together)
        assert.equal(textOf(pieces, 'pretty'), prettyJson(join(pieces)))
        assert.equal(textOf(pieces, 'yaml'), writeYaml(JSON.parse(join(pieces))))
      })
    }
  }
}

test('a list that comes as one piece', () => {
  const whole = '{"kind":"Table","rows":null}\n'
  assert.equal(textOf([whole], 'pretty'), prettyJson(whole))
  assert.equal(textOf([whole], 'yaml'), 'kind: Table\nrows: null\n')
})

test('YAML keeps integers beyond 2^53, wherever in a list they stand', () => {
  const head = '{"kind":"List","metadata":{"remainingItemCount":9007199254740993},"items":['
  const expected =
    'items:\n- value: 9007199254740995\n- value: 9223372036854775807\nkind: List\nmetadata:\n  remainingItemCount: 9007199254740993\n'
  assert.equal(textOf([head, '{"value":9007199254740995}', ',{"value":9223372036854775807}', ']}\n'], 'yaml'), expected)
  assert.equal(textOf([`${head}{"value":9007199254740995},{"value":9223372036854775807}]}\n`], 'yaml'), expected)
})

test('pieces that have to be waited for come in the same order', async () => {
  const pieces = piecesOf('items', 3, 1)
  const source = pieces.map((piece) => Buffer.from(piece))
  const next = textPieces(() => Promise.resolve(source.shift()), 'yaml')
  let text = ''
  for (let piece = await next(); piece !== undefined; piece = await next()) text += Buffer.from(piece)
  assert.equal(text, textOf(pieces, 'yaml'))
})

test('YAML of many items is written in short parts, each when it is asked for', () => {
  const many = Array.from({ length: 300 }, (_, i) => JSON.stringify({ metadata: { name: `n${i}` }, data: { text: 'x'.repeat(400) } }))
  const pieces = ['{"kind":"List","items":[', many.join(','), ']}\n']
  const source = pieces.map((piece) => Buffer.from(piece))
  const next: Pieces = textPieces(() => source.shift(), 'yaml')
  const parts: string[] = []
  for (let piece = next(); piece !== undefined; piece = next()) parts.push(Buffer.from(piece as Uint8Array).toString())
  assert.equal(parts.join(''), writeYaml(JSON.parse(join(pieces))))
  assert.ok(parts.length > 8 && parts.every((part) => part.length < 20_000), String(parts.map((part) => part.length)))
})
