// The grammars of names that only containers know: environment variables and HTTP headers.

import { grammarProblem, noProblems, type TextRule } from '../../../api/validation/text-rules.js'

const variablePattern = '[-._a-zA-Z][-._a-zA-Z0-9]*'
const variable = new RegExp(`^${variablePattern}$`)
const variableProblem = grammarProblem(
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
  variablePattern,
  'my.env-name',
  'MY_ENV.NAME',
  'MyEnvName1',
)

/** Names of variables may become names of files. */
export const variableName: TextRule = (name) => {
  if (variable.test(name) && !name.startsWith('.')) return noProblems
  const problems = variable.test(name) ? [] : [variableProblem]
  if (name === '.' || name === '..') problems.push(`must not be '${name}'`)
  else if (name.startsWith('..')) problems.push("must not start with '..'")
  return problems
}

const headerPattern = '[-A-Za-z0-9]+'
const header = new RegExp(`^${headerPattern}$`)
const headerProblems = Object.freeze([
  grammarProblem("a valid HTTP header must consist of alphanumeric characters or '-'", headerPattern, 'X-Header-Name'),
])

export const headerName: TextRule = (name) => (header.test(name) ? noProblems : headerProblems)
