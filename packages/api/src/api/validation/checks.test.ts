// Tests of shared field checks: enums, port names, numbers, percentages, label selectors, equality by schema.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { field, int32, string, struct } from '../../schema/node.js'
import type { FieldError } from '../field-error.js'
import { lines } from '../rule-context.fixture.js'
import { checkChoice, checkOptionalChoice } from './checks.js'
import { amountOf, checkAtMost100Percent, checkIntOrPercent } from './int-or-percent.js'
import { isEmptySelector, validateLabelSelector } from './label-selector.js'
import { checkPortOrName } from './network/port-name.js'
import { checkPositive, checkRange } from './ranges.js'
import { sameBySchema } from './same-by-schema.js'

const rows: readonly (readonly [title: string, errors: readonly FieldError[], expected: readonly string[]])[] = [
  ['a supported enum value', checkChoice('b', 'f', ['a', 'b']), []],
  ['an empty required enum', checkChoice('', 'f', ['a']), ['f: Required value']],
  ['an unsupported enum value', checkChoice('c', 'f', ['a', 'b']), ['f: Unsupported value: "c": supported values: "a", "b"']],
  ['an absent optional enum', checkOptionalChoice(undefined, 'f', ['a']), []],
  ['an empty optional enum', checkOptionalChoice('', 'f', ['a']), ['f: Unsupported value: "": supported values: "a"']],
  ['a port number', checkPortOrName(80, 'f'), []],
  ['a port name', checkPortOrName('http-2', 'f'), []],
  ['a port number above 65535', checkPortOrName(65536, 'f'), ['f: Invalid value: 65536: must be between 1 and 65535, inclusive']],
  [
    'an empty port name',
    checkPortOrName('', 'f'),
    [
      'f: Invalid value: "": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'f: Invalid value: "": must contain at least one letter (a-z)',
    ],
  ],
  ['a port name of digits only', checkPortOrName('80', 'f'), ['f: Invalid value: "80": must contain at least one letter (a-z)']],
  [
    'consecutive and leading hyphens in a port name',
    checkPortOrName('-a--b', 'f'),
    ['f: Invalid value: "-a--b": must not contain consecutive hyphens', 'f: Invalid value: "-a--b": must not begin or end with a hyphen'],
  ],
  ['a number at its upper bound', checkRange(5n, 'f', { min: 1, max: 5 }), []],
  ['a number above its upper bound', checkRange(6, 'f', { min: 1, max: 5 }), ['f: Invalid value: 6: must be between 1 and 5, inclusive']],
  ['zero where a positive number is required', checkPositive(0, 'f'), ['f: Invalid value: 0: must be greater than zero']],
  ['a percentage', checkIntOrPercent('25%', 'f'), []],
  [
    'a percentage without a percent sign',
    checkIntOrPercent('25', 'f'),
    [
      "f: Invalid value: \"25\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  ],
  ['a percentage above 100%', checkAtMost100Percent('101%', 'f'), ['f: Invalid value: "101%": must not be greater than 100%']],
  ['an integer above 100', checkAtMost100Percent(101, 'f'), []],
  ['no label selector', validateLabelSelector(undefined, 'f'), []],
  [
    'an invalid label selector',
    validateLabelSelector(
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
    [
      'f.matchLabels: Invalid value: "a/b/c": a qualified name',
      "f.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      'f.matchExpressions[1].key: Invalid value: "": name part must be non-empty',
      'f.matchExpressions[1].key: Invalid value: "": name part must consist',
      'f.matchExpressions[1].values[1]: Invalid value: "-": a valid label must',
      "f.matchExpressions[2].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      'f.matchExpressions[3].operator: Invalid value: "": not a valid selector operator',
    ],
  ],
]
for (const [title, errors, expected] of rows) {
  test(`a field with ${title}`, () =>
    assert.deepEqual(
      lines(errors).map((line, i) => line.slice(0, expected[i]?.length)),
      expected,
    ))
}

test('amountOf reads numbers and percentages', () => assert.deepEqual([5, '30%', 'x', '10', '-2'].map(amountOf), [5, 30, 0, 10, -2]))

test('isEmptySelector is true without labels and expressions', () => {
  assert.deepEqual([{}, { matchLabels: {} }, { matchExpressions: [{ key: 'a' }] }].map(isEmptySelector), [true, true, false])
})

test('sameBySchema treats an absent struct as an empty one', () => {
  const inner = struct('Inner', { n: field(1, int32) })
  const outer = struct('Outer', { inner: field(1, inner), pointer: field(2, inner, { pointer: true }), text: field(3, string) })
  assert.ok(sameBySchema(outer, {}, { inner: {}, text: '' }))
  assert.ok(sameBySchema(outer, { inner: { n: 1 } }, { inner: { n: 1 } }))
  assert.ok(!sameBySchema(outer, {}, { pointer: {} }))
  assert.ok(!sameBySchema(outer, {}, { inner: { n: 1 } }))
})
