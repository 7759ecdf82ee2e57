// Names of hosts beyond plain subdomains: with a wildcard in front, fully qualified, or with a path behind them.

import { type FieldError, invalid, required } from '../field-error.js'
import { checkText, noErrors } from './fields.js'
import { dnsLabel, dnsSubdomain, grammarProblem, noProblems, type TextRule, tooLongProblem } from './text-rules.js'

const limit = 253
const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const wildcardPattern = `\\*\\.${label}(\\.${label})*`
const wildcardForm = new RegExp(`^${wildcardPattern}$`)
const wildcardProblem = grammarProblem(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  wildcardPattern,
  '*.example.com',
)

/** A name for all hosts of a domain, such as `*.example.com`. */
export const wildcardSubdomain: TextRule = (name) => {
  const fits = wildcardForm.test(name)
  if (fits && name.length <= limit) return noProblems
  return [...(name.length > limit ? [tooLongProblem(limit)] : []), ...(fits ? [] : [wildcardProblem])]
}

/** A host, or with an asterisk in it all hosts of a domain. */
export const hostName: TextRule = (name) => (name.includes('*') ? wildcardSubdomain(name) : dnsSubdomain(name))

/** At least two labels; a dot at the end says that nothing is missing. */
export function checkFullyQualifiedName(given: string, field: string): readonly FieldError[] {
  const name = given.endsWith('.') ? given.slice(0, -1) : given
  if (given === '') return [required(field)]
  const problems = dnsSubdomain(name)
  if (problems.length > 0) return [invalid(field, name, problems.join(','))]
  const labels = name.split('.')
  if (labels.length < 2) return [invalid(field, name, 'should be a domain with at least two segments separated by dots')]
  return labels.flatMap((part) => {
    const wrong = dnsLabel(part)
    return wrong.length === 0 ? noErrors : [invalid(field, part, wrong.join(','))]
  })
}

const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const pathForm = new RegExp(`^${pathPattern}$`)

/** Such as `acme.io/foo`: a name that its owner's domain makes unique. */
export function checkDomainPrefixedPath(text: string, field: string): readonly FieldError[] {
  if (text === '') return [required(field)]
  const slash = text.indexOf('/')
  const [host, path] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)]
  if (host === '' || path === '') return [invalid(field, text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  const errors = checkText(host, field, dnsSubdomain)
  return pathForm.test(path) ? errors : [...errors, invalid(field, path, grammarProblem('Invalid path', pathPattern))]
}
