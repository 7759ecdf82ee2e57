// How tests of kinds compare what was found with what was expected: by the beginnings of lines, so that long grammars need not be repeated.

import assert from 'node:assert/strict'
import type { RuleContext } from '../api/definition.js'
import { defaultFeatureGates } from '../api/feature-gates.js'
import type { FieldError } from '../api/field-error.js'
import type { IdentityName } from '../api/identity.js'
import { lines, testContext } from '../api/rule-context.fixture.js'

export function expectErrors(errors: readonly FieldError[], expected: readonly string[]): void {
  assert.deepEqual(
    lines(errors).map((line, i) => line.slice(0, expected[i]?.length)),
    expected,
  )
}

/** A context with the features that are on unless somebody says otherwise. */
export const usualContext = (identity?: IdentityName): RuleContext => ({ ...testContext(identity), gates: defaultFeatureGates })
