// Validation of wildcard host names, fully qualified domain names and domain-prefixed paths.

import { type FieldError, invalid, required } from '../../field-error.js'
import { checkText, noErrors } from '../checks.js'
import { dnsLabel, dnsSubdomain, grammarProblem, noProblems, type TextRule, tooLongProblem } from '../name-formats.js'

const maxNameCharacters = 253
const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const wildcardPattern = `\\*\\.${label}(\\.${label})*`
const wildcardRegExp = new RegExp(`^${wildcardPattern}$`)
const wildcardProblem = grammarProblem(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  wildcardPattern,
  '*.example.com',
)

const wildcardSubdomain: TextRule = (name) => {
  const isWellFormed = wildcardRegExp.test(name)
  if (isWellFormed && name.length <= maxNameCharacters) return noProblems
  return [...(name.length > maxNameCharacters ? [tooLongProblem(maxNameCharacters)] : []), ...(isWellFormed ? [] : [wildcardProblem])]
}

export const hostName: TextRule = (name) => (name.includes('*') ? wildcardSubdomain(name) : dnsSubdomain(name))

export function checkFullyQualifiedName(text: string, field: string): readonly FieldError[] {
  const name = text.endsWith('.') ? text.slice(0, -1) : text
  if (text === '') return [required(field)]
  const problems = dnsSubdomain(name)
  if (problems.length > 0) return [invalid(field, name, problems.join(','))]
  const labels = name.split('.')
  if (labels.length < 2) return [invalid(field, name, 'should be a domain with at least two segments separated by dots')]
  return labels.flatMap((part) => {
    const labelProblems = dnsLabel(part)
    return labelProblems.length === 0 ? noErrors : [invalid(field, part, labelProblems.join(','))]
  })
}

const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const pathRegExp = new RegExp(`^${pathPattern}$`)

export function checkDomainPrefixedPath(text: string, field: string): readonly FieldError[] {
  if (text === '') return [required(field)]
  const slash = text.indexOf('/')
  const [host, path] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)]
  if (host === '' || path === '') return [invalid(field, text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  const errors = checkText(host, field, dnsSubdomain)
  return pathRegExp.test(path) ? errors : [...errors, invalid(field, path, grammarProblem('Invalid path', pathPattern))]
}
