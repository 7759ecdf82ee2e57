// The versions in which a webhook understands reviews: named once each, and one of them must be known here.

import { type FieldError, invalid, required } from '../field-error.js'
import { checkEach, joined } from './collect.js'
import { checkText, noErrors } from './fields.js'
import { dns1035Label } from './text-rules.js'

export const knownReviewVersions = ['v1', 'v1beta1']
const listed = knownReviewVersions.join(', ')

/** `missing` is what to say where there are none. */
export function validateReviewVersions(versions: readonly string[], field: string, missing = ''): readonly FieldError[] {
  if (versions.length === 0) return [required(field, missing)]
  const isUnderstood = versions.some((version) => knownReviewVersions.includes(version))
  return joined(
    checkDistinctVersions(versions, field),
    isUnderstood ? noErrors : [invalid(field, versions, `must include at least one of ${listed}`)],
  )
}

function checkDistinctVersions(versions: readonly string[], field: string): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(versions, field, (version, at) => {
    if (seen.has(version)) return [invalid(at, version, 'duplicate version')]
    seen.add(version)
    return checkText(version, at, dns1035Label)
  })
}
