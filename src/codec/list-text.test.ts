import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonPieces, type ListText, prettyPieces, yamlPieces } from './list-text.js'
import { prettyJson } from './pretty.js'
import { writeYaml } from './yaml/write-yaml.js'

const items = [
  { metadata: { name: 'a', labels: {} }, data: { text: 'one\ntwo\n', 'a: b': '[', empty: '' }, list: [] },
  { metadata: { name: 'b' }, data: { tail: 'ends with breaks\n\n' } },
  { metadata: { name: 'c' }, list: [1, [2, { x: null }]] },
]

const listOf = (count: number, none: ListText['none'], member: ListText['member'] = 'items'): ListText => ({
  head: `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"7"},"${member}":`,
  items: items.slice(0, count).map((item) => JSON.stringify(item)),
  none,
  end: member === 'rows' ? '}' : ',"tail":{"z":1}}',
  member,
})

const join = (pieces: Iterable<string>): string => [...pieces].join('')

for (const member of ['items', 'rows'] as const) {
  for (const none of ['[]', 'null'] as const) {
    for (let count = 0; count <= items.length; count++) {
      test(`${count} ${member}, ${none} for none: pieces make the same text as the whole`, () => {
        const json = join(jsonPieces(listOf(count, none, member)))
        const parsed = JSON.parse(json)
        assert.deepEqual(parsed[member], count === 0 ? JSON.parse(none) : items.slice(0, count))
        assert.equal(join(prettyPieces(listOf(count, none, member))), prettyJson(json))
        assert.equal(join(yamlPieces(listOf(count, none, member))), writeYaml(parsed))
      })
    }
  }
}
