// Fixture for tables of validation tests: compares errors by their beginnings, so that long messages need not be repeated.

import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import type { RuleContext } from '../api/definition/resource-definition.js'
import { defaultFeatureGates } from '../api/feature-gates/feature-gates.js'
import type { FieldError } from '../api/field-error.js'
import type { IdentityName } from '../api/identity.js'
import { lines, testContext } from '../api/rule-context.fixture.js'

export function expectErrors(errors: readonly FieldError[], expected: readonly string[]): void {
  assert.deepEqual(
    lines(errors).map((line, i) => line.slice(0, expected[i]?.length)),
    expected,
  )
}

export const usualContext = (identity?: IdentityName): RuleContext => ({ ...testContext(identity), gates: defaultFeatureGates })

/** Title of the test of a table row: its expected errors, or the accepted value. */
export const rowTitle = (given: unknown, found: readonly string[]): string =>
  found.length > 0 ? found.join('; ') : `accepts ${inspect(given, { breakLength: Number.POSITIVE_INFINITY, depth: 5 })}`
