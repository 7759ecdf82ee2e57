// Documents of one text: where they begin, which are left out, and which document an error is in.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDocuments } from './read-documents.js'

const found = (text: string): unknown => readDocuments(text).map(({ value, line }) => [line, value])

test('documents are cut at their separators, and empty ones are left out', () => {
  assert.deepEqual(found(''), [])
  assert.deepEqual(found('a: 1'), [[1, { a: 1 }]])
  assert.deepEqual(found('---\na: 1\n---\nb: 2\n---\n'), [
    [1, { a: 1 }],
    [3, { b: 2 }],
  ])
  assert.deepEqual(found('# only words\n---   \n# more\n--- # here\r\nb: 2\n'), [[4, { b: 2 }]])
  assert.deepEqual(found('{"a": 1}\n'), [[1, { a: 1 }]])
})

test('what only looks like a separator is none', () => {
  assert.deepEqual(found('a: |\n  ---\n  b\n'), [[1, { a: '---\nb\n' }]])
  assert.deepEqual(found('---a: 1\n'), [[1, { '---a': 1 }]])
})

test('an error says in which document it is', () => {
  assert.throws(() => readDocuments('a: 1\n---\nb: [\n'), /^YamlError: in the document that begins in line 2: yaml: /)
  assert.throws(() => readDocuments('b: [\n'), /^YamlError: yaml: /)
})

test('reading is linear in the text', () => {
  assert.equal(readDocuments('---\na: 1\n'.repeat(20_000)).length, 20_000)
})
