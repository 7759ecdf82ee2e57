// What tests of rules hand in: a context with a fixed time, and data that nobody can change.

import type { RuleContext } from './definition.js'
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

/** The value itself, frozen through and through. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) frozen(member)
  }
  return value
}

/** Errors as short lines, `field: message`, which read well in tables of tests. */
export const lines = (errors: readonly { readonly field: string; readonly message: string }[]): readonly string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)
