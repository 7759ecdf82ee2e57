// References to an object of some kind, which need not be one that this server knows.

import { type FieldError, required } from '../../api/field-error.js'
import { checkPart, joined } from '../../api/validation/collect.js'
import { checkText } from '../../api/validation/fields.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { dnsSubdomain } from '../../api/validation/text-rules.js'

interface TypedReference {
  readonly apiGroup?: string
  readonly kind?: string
  readonly name?: string
}

export function validateTypedReference(reference: TypedReference, field: string): readonly FieldError[] {
  const segment = (name: 'kind' | 'name'): readonly FieldError[] => {
    const text = reference[name] ?? ''
    if (text === '') return [required(`${field}.${name}`, `${name} is required`)]
    return checkText(text, `${field}.${name}`, (value) => pathSegmentProblems(value, false))
  }
  return joined(
    checkPart(reference.apiGroup, `${field}.apiGroup`, (group, at) => checkText(group, at, dnsSubdomain)),
    segment('kind'),
    segment('name'),
  )
}
