// Small checks that kinds share: findings put together, choices, ports by name, numbers, shares and selectors.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { field, int32, string, struct } from '../../schema/node.js'
import { type FieldError, required } from '../field-error.js'
import { lines } from '../rule-context.fixture.js'
import { checkChoice, checkEach, checkOptionalChoice, checkPart, checkPresent, joined } from './collect.js'
import { noErrors } from './fields.js'
import { amountOf, checkAtMostAll, checkIntOrPercent } from './int-or-percent.js'
import { isEmptySelector, validateLabelSelector } from './label-selector.js'
import { checkPortOrName } from './port-name.js'
import { checkPositive, checkRange } from './ranges.js'
import { sameBySchema } from './same-by-schema.js'

const [a, b] = [required('a'), required('b')]

test('nothing is built where nothing is wrong', () => {
  const one: readonly FieldError[] = [a]
  assert.equal(joined(), noErrors)
  assert.equal(joined(noErrors, []), noErrors)
  assert.equal(joined(noErrors, one), one)
  assert.deepEqual(joined(one, noErrors, [b]), [a, b])
  assert.equal(
    checkEach(undefined, 'x', () => one),
    noErrors,
  )
  assert.equal(
    checkEach([1, 2], 'x', () => noErrors),
    noErrors,
  )
  assert.deepEqual(
    checkEach(['', 'k', ''], 'x', (text, at) => checkPresent(text, at)),
    [required('x[0]'), required('x[2]')],
  )
  assert.equal(
    checkPart(undefined, 'x', () => one),
    noErrors,
  )
})

const rows: readonly { readonly title: string; readonly errors: readonly FieldError[]; readonly found: readonly string[] }[] = [
  { title: 'a choice', errors: checkChoice('b', 'f', ['a', 'b']), found: [] },
  { title: 'no choice', errors: checkChoice('', 'f', ['a']), found: ['f: Required value'] },
  { title: 'a wrong choice', errors: checkChoice('c', 'f', ['a', 'b']), found: ['f: Unsupported value: "c": supported values: "a", "b"'] },
  { title: 'a choice left out', errors: checkOptionalChoice(undefined, 'f', ['a']), found: [] },
  { title: 'an empty choice', errors: checkOptionalChoice('', 'f', ['a']), found: ['f: Unsupported value: "": supported values: "a"'] },
  { title: 'a port', errors: checkPortOrName(80, 'f'), found: [] },
  { title: 'a port by name', errors: checkPortOrName('http-2', 'f'), found: [] },
  {
    title: 'a port beyond',
    errors: checkPortOrName(65536, 'f'),
    found: ['f: Invalid value: 65536: must be between 1 and 65535, inclusive'],
  },
  {
    title: 'no port',
    errors: checkPortOrName('', 'f'),
    found: [
      'f: Invalid value: "": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'f: Invalid value: "": must contain at least one letter (a-z)',
    ],
  },
  {
    title: 'a port of numbers',
    errors: checkPortOrName('80', 'f'),
    found: ['f: Invalid value: "80": must contain at least one letter (a-z)'],
  },
  {
    title: 'a port of hyphens',
    errors: checkPortOrName('-a--b', 'f'),
    found: [
      'f: Invalid value: "-a--b": must not contain consecutive hyphens',
      'f: Invalid value: "-a--b": must not begin or end with a hyphen',
    ],
  },
  { title: 'a number at the end of its range', errors: checkRange(5n, 'f', { min: 1, max: 5 }), found: [] },
  {
    title: 'a number out of its range',
    errors: checkRange(6, 'f', { min: 1, max: 5 }),
    found: ['f: Invalid value: 6: must be between 1 and 5, inclusive'],
  },
  { title: 'zero', errors: checkPositive(0, 'f'), found: ['f: Invalid value: 0: must be greater than zero'] },
  { title: 'a share', errors: checkIntOrPercent('25%', 'f'), found: [] },
  {
    title: 'a share without a sign',
    errors: checkIntOrPercent('25', 'f'),
    found: [
      "f: Invalid value: \"25\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  },
  { title: 'more than all', errors: checkAtMostAll('101%', 'f'), found: ['f: Invalid value: "101%": must not be greater than 100%'] },
  { title: 'many', errors: checkAtMostAll(101, 'f'), found: [] },
  { title: 'no selector', errors: validateLabelSelector(undefined, 'f'), found: [] },
  {
    title: 'a wrong selector',
    errors: validateLabelSelector(
      {
        matchLabels: { 'a/b/c': '' },
        matchExpressions: [
          { key: 'k', operator: 'Exists', values: ['v'] },
          { key: '', operator: 'In', values: ['ok', '-'] },
          { key: 'k', operator: 'NotIn' },
          { key: 'k' },
        ],
      },
      'f',
    ),
    found: [
      'f.matchLabels: Invalid value: "a/b/c": a qualified name',
      "f.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      'f.matchExpressions[1].key: Invalid value: "": name part must be non-empty',
      'f.matchExpressions[1].key: Invalid value: "": name part must consist',
      'f.matchExpressions[1].values[1]: Invalid value: "-": a valid label must',
      "f.matchExpressions[2].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      'f.matchExpressions[3].operator: Invalid value: "": not a valid selector operator',
    ],
  },
]
for (const { title, errors, found } of rows) {
  test(`a field with ${title}`, () =>
    assert.deepEqual(
      lines(errors).map((line, i) => line.slice(0, found[i]?.length)),
      found,
    ))
}

test('how much a number or a share is', () => assert.deepEqual([5, '30%', 'x', '10', '-2'].map(amountOf), [5, 30, 0, 10, -2]))

test('a selector says nothing without labels and expressions', () => {
  assert.deepEqual([{}, { matchLabels: {} }, { matchExpressions: [{ key: 'a' }] }].map(isEmptySelector), [true, true, false])
})

test('by its schema, an absent struct is an empty one', () => {
  const inner = struct('Inner', { n: field(1, int32) })
  const outer = struct('Outer', { inner: field(1, inner), pointer: field(2, inner, { pointer: true }), text: field(3, string) })
  assert.ok(sameBySchema(outer, {}, { inner: {}, text: '' }))
  assert.ok(sameBySchema(outer, { inner: { n: 1 } }, { inner: { n: 1 } }))
  assert.ok(!sameBySchema(outer, {}, { pointer: {} }))
  assert.ok(!sameBySchema(outer, {}, { inner: { n: 1 } }))
})
