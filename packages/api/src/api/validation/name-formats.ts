// Formats of names: RFC 1123 label and subdomain, RFC 1035 label, qualified name, label value, ConfigMap key.

import { byteLength } from './byte-length.js'

/** Problems of a text; empty if it is valid. */
export type TextRule = (text: string) => readonly string[]

export const noProblems: readonly string[] = Object.freeze([])

const maxSubdomainBytes = 253
const maxLabelBytes = 63

export const tooLongProblem = (limit: number): string => `must be no more than ${limit} characters`

export function grammarProblem(wanted: string, pattern: string, ...examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ')
  return `${wanted} (${shown === '' ? '' : `e.g. ${shown}`}regex used for validation is '${pattern}')`
}

interface Grammar {
  readonly limit: number
  readonly pattern: string
  readonly problem: string
}

/** A match is ASCII, so its length is its byte length; other text is measured. */
function ruleOf({ limit, pattern, problem }: Grammar): TextRule {
  const expression = new RegExp(`^(?:${pattern})$`)
  const tooLong = Object.freeze([tooLongProblem(limit)])
  const malformed = Object.freeze([problem])
  const tooLongAndMalformed = Object.freeze([tooLongProblem(limit), problem])
  return (text) => {
    if (expression.test(text)) return text.length <= limit ? noProblems : tooLong
    return byteLength(text) <= limit ? malformed : tooLongAndMalformed
  }
}

const labelPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomainPattern = `${labelPattern}(\\.${labelPattern})*`
const alphabeticLabelPattern = '[a-z]([-a-z0-9]*[a-z0-9])?'
const namePartPattern = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const labelValuePattern = `(${namePartPattern})?`
const keyPattern = '[-._a-zA-Z0-9]+'

export const dnsLabel: TextRule = ruleOf({
  limit: maxLabelBytes,
  pattern: labelPattern,
  problem: grammarProblem(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    labelPattern,
    'my-name',
    '123-abc',
  ),
})

export const dnsSubdomain: TextRule = ruleOf({
  limit: maxSubdomainBytes,
  pattern: subdomainPattern,
  problem: grammarProblem(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    subdomainPattern,
    'example.com',
  ),
})

export const dns1035Label: TextRule = ruleOf({
  limit: maxLabelBytes,
  pattern: alphabeticLabelPattern,
  problem: grammarProblem(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    alphabeticLabelPattern,
    'my-name',
    'abc-123',
  ),
})

export const labelValue: TextRule = ruleOf({
  limit: maxLabelBytes,
  pattern: labelValuePattern,
  problem: grammarProblem(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    labelValuePattern,
    'MyValue',
    'my_value',
    '12345',
  ),
})

const keySyntax = ruleOf({
  limit: maxSubdomainBytes,
  pattern: keyPattern,
  problem: grammarProblem(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    keyPattern,
    'key.name',
    'KEY_NAME',
    'key-name',
  ),
})

/** Rejects `..`: a key may become a file name. */
export function configKey(key: string): readonly string[] {
  const syntax = keySyntax(key)
  if (!key.startsWith('.') || (key !== '.' && !key.startsWith('..'))) return syntax
  return [...syntax, key === '.' || key === '..' ? `must not be '${key}'` : "must not start with '..'"]
}

const namePartProblem = grammarProblem(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  namePartPattern,
  'MyName',
  'my.name',
  '123-abc',
)
const severalSlashes = Object.freeze([
  `a qualified name ${namePartProblem} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
])
const namePart = new RegExp(`^${namePartPattern}$`)

/** A name with an optional domain prefix, such as a label key or a finalizer. */
export function qualifiedName(text: string): readonly string[] {
  const slash = text.indexOf('/')
  if (slash === -1) return namePartProblems(text)
  if (text.indexOf('/', slash + 1) !== -1) return severalSlashes
  const prefix = prefixProblems(text.slice(0, slash))
  const name = namePartProblems(text.slice(slash + 1))
  return prefix.length === 0 ? name : [...prefix, ...name]
}

function prefixProblems(prefix: string): readonly string[] {
  if (prefix === '') return ['prefix part must be non-empty']
  const problems = dnsSubdomain(prefix)
  return problems.length === 0 ? noProblems : problems.map((problem) => `prefix part ${problem}`)
}

function namePartProblems(name: string): readonly string[] {
  const isWellFormed = namePart.test(name)
  if (isWellFormed && name.length <= maxLabelBytes) return noProblems
  const problems: string[] = []
  if (name === '') problems.push('name part must be non-empty')
  else if (byteLength(name) > maxLabelBytes) problems.push(`name part ${tooLongProblem(maxLabelBytes)}`)
  if (!isWellFormed) problems.push(`name part ${namePartProblem}`)
  return problems
}
