// Tests of streamed lists as indented JSON and YAML: the same text as for the whole list.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prettyJson, textChunks } from './pretty-yaml-stream.js'
import { writeYaml } from './yaml/write-yaml.js'

const items = [
  { metadata: { name: 'a', labels: {} }, data: { text: 'one\ntwo\n', 'a: b': '[', empty: '' }, list: [] },
  { metadata: { name: 'b' }, data: { tail: 'ends with breaks\n\n' } },
  { metadata: { name: 'c' }, list: [1, [2, { x: null }]] },
].map((item) => JSON.stringify(item))

/** A list of `count` items, `perChunk` of them per chunk. */
function chunksOf(member: string, count: number, perChunk: number): readonly string[] {
  const head = `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"7"},"${member}":[`
  const chunks: string[] = []
  for (let i = 0; i < count; i += perChunk) chunks.push(`${i > 0 ? ',' : ''}${items.slice(i, Math.min(count, i + perChunk)).join(',')}`)
  return [head, ...chunks, ']}\n']
}

const join = (chunks: readonly string[]): string => chunks.join('')

async function outputChunks(chunks: readonly string[], format: 'pretty' | 'yaml'): Promise<readonly string[]> {
  const parts: string[] = []
  for await (const part of textChunks(source(chunks), format)) parts.push(Buffer.from(part).toString())
  return parts
}

async function* source(chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

const textOf = async (chunks: readonly string[], format: 'pretty' | 'yaml'): Promise<string> => join(await outputChunks(chunks, format))

for (const member of ['items', 'rows']) {
  for (let count = 0; count <= items.length; count++) {
    for (const perChunk of [1, 2, 3]) {
      test(`${count} ${member}, ${perChunk} per chunk: same text as the whole list`, async () => {
        const chunks = chunksOf(member, count, perChunk)
        assert.equal(await textOf(chunks, 'pretty'), prettyJson(join(chunks)))
        assert.equal(await textOf(chunks, 'yaml'), writeYaml(JSON.parse(join(chunks))))
      })
    }
  }
}

test('a list in one chunk: same text as the whole list', async () => {
  const whole = '{"kind":"Table","rows":null}\n'
  assert.equal(await textOf([whole], 'pretty'), prettyJson(whole))
  assert.equal(await textOf([whole], 'yaml'), 'kind: Table\nrows: null\n')
})

test('YAML keeps integers beyond 2^53 anywhere in a list', async () => {
  const head = '{"kind":"List","metadata":{"remainingItemCount":9007199254740993},"items":['
  const expected =
    'items:\n- value: 9007199254740995\n- value: 9223372036854775807\nkind: List\nmetadata:\n  remainingItemCount: 9007199254740993\n'
  assert.equal(await textOf([head, '{"value":9007199254740995}', ',{"value":9223372036854775807}', ']}\n'], 'yaml'), expected)
  assert.equal(await textOf([`${head}{"value":9007199254740995},{"value":9223372036854775807}]}\n`], 'yaml'), expected)
})

test('a small object that is nested deeply does not become a huge text', () => {
  const nested = (inner: unknown): object => {
    let value = inner
    for (let depth = 0; depth < 900; depth++) value = { a: value }
    return value as object
  }
  const tooDeep = /nested too deeply/
  for (const inner of [Array.from({ length: 100_000 }, () => 1), Array.from({ length: 3000 }, () => Array(30).fill(1))]) {
    assert.throws(() => writeYaml(nested(inner) as never), tooDeep)
    assert.throws(() => prettyJson(JSON.stringify(nested(inner))), tooDeep)
  }
  for (const text of ['a\n'.repeat(100_000), 'a '.repeat(100_000), '\0 '.repeat(100_000)])
    assert.throws(() => writeYaml(nested(text) as never), tooDeep)
  const small = nested([1, 'a\nb'])
  assert.equal(prettyJson(JSON.stringify(small)), JSON.stringify(small, undefined, 2))
  assert.ok(writeYaml(small as never).length < 1_000_000)
})
