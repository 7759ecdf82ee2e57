// Tests of status condition validation.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition } from '../meta.schema.js'
import { lines } from '../rule-context.fixture.js'
import { validateConditions } from './conditions.js'

const valid: Condition = { type: 'Ready', status: 'True', reason: 'AllFine', message: '', lastTransitionTime: '2024-03-01T12:00:00Z' }

const rows: readonly { readonly title: string; readonly conditions: readonly Condition[]; readonly expected: readonly string[] }[] = [
  { title: 'all fields', conditions: [valid, { ...valid, type: 'example.com/Other', status: 'Unknown' }], expected: [] },
  {
    title: 'no fields',
    conditions: [{}],
    expected: [
      'c[0].type: Invalid value: "": name part must be non-empty',
      'c[0].type: Invalid value: "": name part must consist of',
      'c[0].status: Unsupported value: "": supported values: "False", "True", "Unknown"',
      'c[0].lastTransitionTime: Required value: must be set',
      'c[0].reason: Required value: must be set',
    ],
  },
  {
    title: 'invalid fields',
    conditions: [{ ...valid, status: 'Maybe', observedGeneration: -1, reason: '1st', message: 'x'.repeat(32769) }],
    expected: [
      'c[0].status: Unsupported value: "Maybe"',
      'c[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero',
      'c[0].reason: Invalid value: "1st": a condition reason must start with alphabetic character',
      'c[0].message: Too long: must have at most 32768 bytes',
    ],
  },
  { title: 'one type twice', conditions: [valid, valid], expected: ['c[1].type: Duplicate value: "Ready"'] },
  {
    title: 'long reason',
    conditions: [{ ...valid, reason: 'x'.repeat(1025) }],
    expected: ['c[0].reason: Too long: must have at most 1024 bytes'],
  },
]

for (const { title, conditions, expected } of rows) {
  test(`conditions with ${title}`, () => {
    const errors = lines(validateConditions(conditions, 'c'))
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, expected[i]?.length)),
      expected,
    )
  })
}
