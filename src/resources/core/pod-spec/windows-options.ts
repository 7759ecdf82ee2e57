// The rules of security options that only Windows knows.

import { type FieldError, invalid } from '../../../api/field-error.js'
import { byteLength } from '../../../api/validation/byte-length.js'
import { joined } from '../../../api/validation/collect.js'
import { checkText, noErrors } from '../../../api/validation/fields.js'
import { dnsSubdomain, type TextRule } from '../../../api/validation/text-rules.js'
import type { WindowsSecurityContextOptions } from '../v1.schema.js'

const specLimitKiB = 64
const domainLimit = 256
const userLimit = 104

export function validateWindowsOptions(options: WindowsSecurityContextOptions, field: string): readonly FieldError[] {
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options
  return joined(
    gmsaCredentialSpecName === undefined ? noErrors : checkText(gmsaCredentialSpecName, `${field}.gmsaCredentialSpecName`, dnsSubdomain),
    gmsaCredentialSpec === undefined ? noErrors : validateCredentials(gmsaCredentialSpec, `${field}.gmsaCredentialSpec`),
    runAsUserName === undefined ? noErrors : checkText(runAsUserName, `${field}.runAsUserName`, userName),
  )
}

function validateCredentials(spec: string, field: string): readonly FieldError[] {
  if (spec === '') return [invalid(field, spec, 'gmsaCredentialSpec cannot be an empty string')]
  if (byteLength(spec) <= specLimitKiB * 1024) return noErrors
  return [invalid(field, spec, `gmsaCredentialSpec size must be under ${specLimitKiB} KiB`)]
}

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const dnsDomain = new RegExp(`^${label}(?:\\.${label})*$`)
const netBiosDomain = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const refusedCharacters = /["/\\:;|=,+*?<>@[\]]/

/** Such as `user` or `DOMAIN\user`. */
const userName: TextRule = (name) => {
  if (name === '') return ['runAsUserName cannot be an empty string']
  if (/[\x00-\x1f\x7f]/.test(name)) return ['runAsUserName cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const domain = parts.length === 2 ? parts[0] : undefined
  return [...domainProblems(domain), ...userProblems(parts.at(-1) ?? '')]
}

function domainProblems(domain: string | undefined): readonly string[] {
  if (domain === undefined) return []
  const problems: string[] = []
  if (byteLength(domain) >= domainLimit) problems.push(`runAsUserName's Domain length must be under ${domainLimit} characters`)
  if (!netBiosDomain.test(domain) && !dnsDomain.test(domain)) {
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
  }
  return problems
}

function userProblems(user: string): readonly string[] {
  const problems: string[] = []
  if (user === '') problems.push("runAsUserName's User cannot be empty")
  if (byteLength(user) > userLimit) problems.push(`runAsUserName's User length must not be longer than ${userLimit} characters`)
  if (/^[. ]+$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces")
  if (refusedCharacters.test(user)) {
    problems.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]')
  }
  return problems
}
