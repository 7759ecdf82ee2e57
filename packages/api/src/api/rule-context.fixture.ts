// Fixtures of validation tests: a RuleContext with a fixed time, deep-frozen values, and field errors as lines.

import type { RuleContext } from './definition/resource-definition.js'
import { type IdentityName, identityOf } from './identity.js'
import { anonymous } from './user.js'

export const testNow = Date.parse('2024-03-01T12:00:00Z')

export const testContext = (identity: IdentityName = 'cluster'): RuleContext => ({
  identity: identityOf(identity),
  now: testNow,
  gates: () => true,
  user: anonymous,
  version: 'v1',
})

export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) frozen(member)
  }
  return value
}

export const lines = (errors: readonly { readonly field: string; readonly message: string }[]): readonly string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)
