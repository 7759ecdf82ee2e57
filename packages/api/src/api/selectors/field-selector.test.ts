// Field selectors: syntax and its refusals, escapes, what a kind lets be asked for, and the shortcut by name.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from './api-error.js'
import { compileFieldSelector, metadataFields, narrowToName, oneName, parseFieldSelector, selectableFields } from './field-selector.js'

const fields: { readonly [path: string]: string } = { 'metadata.name': 'a', 'metadata.namespace': 'n', odd: 'x,y=z\\' }
const get = (path: string): string | undefined => fields[path]

const matches: readonly { readonly selector: string; readonly isMatch: boolean }[] = [
  { selector: '', isMatch: true },
  { selector: 'metadata.name=a', isMatch: true },
  { selector: 'metadata.name==a', isMatch: true },
  { selector: 'metadata.name!=a', isMatch: false },
  { selector: 'metadata.name=a,metadata.name=b', isMatch: false },
  { selector: ',metadata.name=a,', isMatch: true },
  { selector: 'missing=', isMatch: true },
  { selector: 'missing!=x', isMatch: true },
  { selector: 'odd=x\\,y\\=z\\\\', isMatch: true },
]

for (const { selector, isMatch } of matches)
  test(`matches: ${selector}`, () => assert.equal(parseFieldSelector(selector).matches(get), isMatch))

for (const { selector, isMatch } of matches)
  test(`matches among many: ${selector}`, () => {
    const many = Array.from({ length: 30 }, (_, i) => `metadata.name!=b${i}`).join(',')
    assert.equal(parseFieldSelector(`${many},${selector}`).matches(get), isMatch)
  })

const pods = selectableFields({ namespaced: true, fields: ['spec.nodeName'] })
const nodes = selectableFields({ namespaced: false, fields: ['spec.unschedulable'] })
const jobs = selectableFields({ namespaced: true, fields: [], refusal: (field) => `no ${field}` })

const refusals = [
  { selector: 'metadata.name in (a,b)', of: metadataFields, message: "invalid selector: 'metadata.name in (a,b)'; can't understand 'b)'" },
  { selector: 'metadata.name=a\\b', of: metadataFields, message: 'invalid field selector: invalid escape sequence: \\b' },
  { selector: 'metadata.name=a\\', of: metadataFields, message: 'invalid field selector: invalid escape sequence: \\' },
  { selector: 'metadata.name=a=b', of: metadataFields, message: 'invalid field selector: unescaped character in value: 61' },
  {
    selector: 'metadata.uid=1',
    of: metadataFields,
    message: '"metadata.uid" is not a known field selector: only "metadata.name", "metadata.namespace"',
  },
  {
    selector: ' metadata.name=a',
    of: metadataFields,
    message: '" metadata.name" is not a known field selector: only "metadata.name", "metadata.namespace"',
  },
  { selector: 'spec.hostNetwork=true', of: pods, message: 'field label not supported: spec.hostNetwork' },
  { selector: 'odd=true', of: jobs, message: 'no odd' },
  { selector: 'constructor=x', of: pods, message: 'field label not supported: constructor' },
  { selector: 'metadata.namespace=x', of: nodes, message: 'field label not supported: metadata.namespace' },
] as const

for (const { selector, of, message } of refusals)
  test(`refuses: ${selector}`, () => {
    assert.throws(
      () => compileFieldSelector(selector, of),
      (thrown) =>
        thrown instanceof ApiError && thrown.status.code === 400 && thrown.status.reason === 'BadRequest' && thrown.message === message,
    )
  })

test('a kind offers its own fields besides those of the metadata', () => {
  assert.equal(compileFieldSelector('spec.nodeName=n1,metadata.namespace!=x', pods).requirements.length, 2)
})

test('the value that a field must have', () => {
  const selector = parseFieldSelector('metadata.namespace!=x,metadata.name=b,metadata.name=a')
  assert.equal(selector.exactValue('metadata.name'), 'a')
  assert.equal(selector.exactValue('metadata.namespace'), undefined)
  assert.equal(oneName('x').exactValue('metadata.name'), 'x')
})

test('the text reads back as the same', () => {
  const selector = parseFieldSelector('b!=2,odd==x\\,y\\=z\\\\')
  assert.equal(selector.text, 'b!=2,odd=x\\,y\\=z\\\\')
  assert.deepEqual(parseFieldSelector(selector.text).requirements, selector.requirements)
})

test('one object by its path: the selector must not contradict', () => {
  assert.equal(narrowToName(undefined, 'a').text, 'metadata.name=a')
  assert.equal(narrowToName(parseFieldSelector('metadata.name=a,x=1'), 'a').text, 'metadata.name=a,x=1')
  for (const other of ['metadata.name=b', 'x=1'])
    assert.throws(() => narrowToName(parseFieldSelector(other), 'a'), /fieldSelector metadata\.name doesn't match requested name$/)
})
