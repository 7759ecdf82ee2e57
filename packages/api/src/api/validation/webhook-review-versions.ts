// Validation of admissionReviewVersions and conversionReviewVersions: distinct DNS labels, at least one of them supported.

import { type FieldError, invalid, required } from '../field-error.js'
import { checkEach, checkText, joined, noErrors } from './checks.js'
import { dns1035Label } from './name-formats.js'

export const knownReviewVersions = ['v1', 'v1beta1']
const knownVersionList = knownReviewVersions.join(', ')

export function validateReviewVersions(versions: readonly string[], field: string, missingDetail = ''): readonly FieldError[] {
  if (versions.length === 0) return [required(field, missingDetail)]
  const isUnderstood = versions.some((version) => knownReviewVersions.includes(version))
  return joined(
    checkDistinctVersions(versions, field),
    isUnderstood ? noErrors : [invalid(field, versions, `must include at least one of ${knownVersionList}`)],
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
