// Tests of field selectors: syntax, escapes, rejected fields, required value of a field.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api-error.js'
import { checkFields, fieldSelectorForName, metadataFields, parseFieldSelector, selectableFields } from './field-selector.js'

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

const rejections = [
  {
    selector: 'metadata.name in (a,b)',
    selectable: metadataFields,
    message: "invalid selector: 'metadata.name in (a,b)'; can't understand 'b)'",
  },
  { selector: 'metadata.name=a\\b', selectable: metadataFields, message: 'invalid field selector: invalid escape sequence: \\b' },
  { selector: 'metadata.name=a\\', selectable: metadataFields, message: 'invalid field selector: invalid escape sequence: \\' },
  { selector: 'metadata.name=a=b', selectable: metadataFields, message: 'invalid field selector: unescaped character in value: 61' },
  {
    selector: 'metadata.uid=1',
    selectable: metadataFields,
    message: '"metadata.uid" is not a known field selector: only "metadata.name", "metadata.namespace"',
  },
  {
    selector: ' metadata.name=a',
    selectable: metadataFields,
    message: '" metadata.name" is not a known field selector: only "metadata.name", "metadata.namespace"',
  },
  { selector: 'spec.hostNetwork=true', selectable: pods, message: 'field label not supported: spec.hostNetwork' },
  { selector: 'odd=true', selectable: jobs, message: 'no odd' },
  { selector: 'constructor=x', selectable: pods, message: 'field label not supported: constructor' },
  { selector: 'metadata.namespace=x', selectable: nodes, message: 'field label not supported: metadata.namespace' },
] as const

for (const { selector, selectable, message } of rejections)
  test(`rejects: ${selector}`, () => {
    assert.throws(
      () => checkFields(parseFieldSelector(selector), selectable),
      (thrown) =>
        thrown instanceof ApiError && thrown.status.code === 400 && thrown.status.reason === 'BadRequest' && thrown.message === message,
    )
  })

test('a kind adds its own fields to metadata.name and metadata.namespace', () => {
  checkFields(parseFieldSelector('spec.nodeName=n1,metadata.namespace!=x'), pods)
})

test('exactValue returns the required value of a field', () => {
  const selector = parseFieldSelector('metadata.namespace!=x,metadata.name=b,metadata.name=a')
  assert.equal(selector.exactValue('metadata.name'), 'a')
  assert.equal(selector.exactValue('metadata.namespace'), undefined)
  assert.equal(fieldSelectorForName('x').exactValue('metadata.name'), 'x')
})

test('the text of a selector parses to the same selector', () => {
  const selector = parseFieldSelector('b!=2,odd==x\\,y\\=z\\\\')
  assert.equal(selector.text, 'b!=2,odd=x\\,y\\=z\\\\')
  assert.deepEqual(parseFieldSelector(selector.text).requirements, selector.requirements)
})
