// The grammars of short texts (labels, subdomains, qualified names, keys): each rule gives what is wrong, one sentence each.

import { byteLength } from './byte-length.js'

/** What is wrong with a text; empty when nothing is. */
export type TextRule = (text: string) => readonly string[]

export const noProblems: readonly string[] = Object.freeze([])

const subdomainLimit = 253
const labelLimit = 63

export const tooLongProblem = (limit: number): string => `must be no more than ${limit} characters`

/** How a grammar is shown: what it wants, some examples, and the pattern itself. */
export function grammarProblem(wanted: string, pattern: string, ...examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ')
  return `${wanted} (${shown === '' ? '' : `e.g. ${shown}`}regex used for validation is '${pattern}')`
}

interface Grammar {
  readonly limit: number
  readonly pattern: string
  readonly problem: string
}

/** A text that fits the pattern is ASCII, so that its length in bytes is needed only where it does not. */
function ruleOf({ limit, pattern, problem }: Grammar): TextRule {
  const expression = new RegExp(`^(?:${pattern})$`)
  const long = Object.freeze([tooLongProblem(limit)])
  const wrong = Object.freeze([problem])
  const both = Object.freeze([tooLongProblem(limit), problem])
  return (text) => {
    if (expression.test(text)) return text.length <= limit ? noProblems : long
    return byteLength(text) <= limit ? wrong : both
  }
}

const labelPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomainPattern = `${labelPattern}(\\.${labelPattern})*`
const alphabeticLabelPattern = '[a-z]([-a-z0-9]*[a-z0-9])?'
const namePartPattern = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const labelValuePattern = `(${namePartPattern})?`
const keyPattern = '[-._a-zA-Z0-9]+'

/** Such as the name of a namespace. */
export const dnsLabel: TextRule = ruleOf({
  limit: labelLimit,
  pattern: labelPattern,
  problem: grammarProblem(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    labelPattern,
    'my-name',
    '123-abc',
  ),
})

/** Such as the name of most objects. */
export const dnsSubdomain: TextRule = ruleOf({
  limit: subdomainLimit,
  pattern: subdomainPattern,
  problem: grammarProblem(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    subdomainPattern,
    'example.com',
  ),
})

/** A label that begins with a letter, such as the name of a service. */
export const dns1035Label: TextRule = ruleOf({
  limit: labelLimit,
  pattern: alphabeticLabelPattern,
  problem: grammarProblem(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    alphabeticLabelPattern,
    'my-name',
    'abc-123',
  ),
})

export const labelValue: TextRule = ruleOf({
  limit: labelLimit,
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
  limit: subdomainLimit,
  pattern: keyPattern,
  problem: grammarProblem(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    keyPattern,
    'key.name',
    'KEY_NAME',
    'key-name',
  ),
})

/** A key of configuration data, which may become the name of a file: so it must not climb out of its folder. */
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

/** A name with an optional domain in front: keys of labels, finalizers. */
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
  const fits = namePart.test(name)
  if (fits && name.length <= labelLimit) return noProblems
  const problems: string[] = []
  if (name === '') problems.push('name part must be non-empty')
  else if (byteLength(name) > labelLimit) problems.push(`name part ${tooLongProblem(labelLimit)}`)
  if (!fits) problems.push(`name part ${namePartProblem}`)
  return problems
}
