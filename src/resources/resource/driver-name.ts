// The name of a resource driver: a domain, in any case.

import { type FieldError, invalid, required, tooLong } from '../../api/field-error.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { dnsSubdomain } from '../../api/validation/text-rules.js'

const limitBytes = 63

export function validateDriverName(name: string, field: string): readonly FieldError[] {
  return [
    ...(name === '' ? [required(field)] : []),
    ...(byteLength(name) > limitBytes ? [tooLong(field, limitBytes)] : []),
    ...dnsSubdomain(name.toLowerCase()).map((problem) => invalid(field, name, problem)),
  ]
}
