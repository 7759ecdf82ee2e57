// Lists for people, made in pieces: the same text as if they were made as a whole.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prettyPieces, yamlPieces } from './list-text.js'
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
  for (let i = 0; i < count; i += together)
    pieces.push(`${items.slice(i, Math.min(count, i + together)).join(',')}${i + together < count ? ',' : ''}`)
  return [head, ...pieces, ']}\n']
}

const join = (pieces: Iterable<string>): string => [...pieces].join('')

for (const member of ['items', 'rows']) {
  for (let count = 0; count <= items.length; count++) {
    for (const together of [1, 2, 3]) {
      test(`${count} ${member}, ${together} in a piece: the same text as of the whole`, () => {
        const pieces = piecesOf(member, count, together)
        assert.equal(join(prettyPieces(pieces)), prettyJson(join(pieces)))
        assert.equal(join(yamlPieces(pieces)), writeYaml(JSON.parse(join(pieces))))
      })
    }
  }
}

test('a list that comes as one piece', () => {
  const whole = '{"kind":"Table","rows":null}\n'
  assert.equal(join(prettyPieces([whole])), prettyJson(whole))
  assert.equal(join(yamlPieces([whole])), 'kind: Table\nrows: null\n')
})

test('YAML keeps integers beyond 2^53, wherever in a list they stand', () => {
  const head = '{"kind":"List","metadata":{"remainingItemCount":9007199254740993},"items":['
  const expected =
    'items:\n- value: 9007199254740995\n- value: 9223372036854775807\nkind: List\nmetadata:\n  remainingItemCount: 9007199254740993\n'
  assert.equal(join(yamlPieces([head, '{"value":9007199254740995},', '{"value":9223372036854775807}', ']}\n'])), expected)
  assert.equal(join(yamlPieces([`${head}{"value":9007199254740995},{"value":9223372036854775807}]}\n`])), expected)
})
