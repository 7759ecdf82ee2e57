// Tests of multi-document YAML: line numbers, empty documents, errors.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDocuments } from './read-documents.js'

const linesAndValues = (text: string): unknown => readDocuments(text).map(({ value, line }) => [line, value])

test('documents are split at separators, empty ones are skipped', () => {
  assert.deepEqual(linesAndValues(''), [])
  assert.deepEqual(linesAndValues('a: 1'), [[1, { a: 1 }]])
  assert.deepEqual(linesAndValues('---\na: 1\n---\nb: 2\n---\n'), [
    [1, { a: 1 }],
    [3, { b: 2 }],
  ])
  assert.deepEqual(linesAndValues('# only words\n---   \n# more\n--- # here\r\nb: 2\n'), [[4, { b: 2 }]])
  assert.deepEqual(linesAndValues('{"a": 1}\n'), [[1, { a: 1 }]])
})

test('indented or quoted `---` is no separator', () => {
  assert.deepEqual(linesAndValues('a: |\n  ---\n  b\n'), [[1, { a: '---\nb\n' }]])
  assert.deepEqual(linesAndValues('---a: 1\n'), [[1, { '---a': 1 }]])
})

test('an error names the line of its document', () => {
  assert.throws(() => readDocuments('a: 1\n---\nb: [\n'), /^YamlError: in the document at line 2: yaml: /)
  assert.throws(() => readDocuments('b: [\n'), /^YamlError: yaml: /)
})

test('reading takes linear time', () => {
  assert.equal(readDocuments('---\na: 1\n'.repeat(20_000)).length, 20_000)
})
