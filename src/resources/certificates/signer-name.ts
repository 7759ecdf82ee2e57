// The name of a signer: a domain and a path, `example.com/signer-name`.

import { type FieldError, invalid, required, tooLong } from '../../api/field-error.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { dnsLabel, dnsSubdomain, type TextRule } from '../../api/validation/text-rules.js'

const domainLimit = 253
/** A domain, a slash, and a path of a subdomain and a label with a dot between. */
const nameLimit = domainLimit + 1 + domainLimit + 1 + 63

export function validateSignerName(name: string, field: string): readonly FieldError[] {
  if (name === '') return [required(field)]
  const parts = name.split('/')
  if (parts.length !== 2) {
    return [invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  }
  const [domain = '', path = ''] = parts
  return joined(
    byteLength(domain) > domainLimit ? [tooLong(field, domainLimit)] : noErrors,
    checkParts(domain, field, dnsLabel),
    domain.includes('.') ? noErrors : [invalid(field, domain, 'should be a domain with at least two segments separated by dots')],
    checkParts(path, field, dnsSubdomain),
    byteLength(name) > nameLimit ? [tooLong(field, nameLimit)] : noErrors,
  )
}

/** The first part that breaks the rule is told, and stands for the rest. */
function checkParts(text: string, field: string, rule: TextRule): readonly FieldError[] {
  for (const part of text.split('.')) {
    const problems = rule(part)
    if (problems.length > 0) return problems.map((problem) => invalid(field, text, `validating label ${JSON.stringify(part)}: ${problem}`))
  }
  return noErrors
}
