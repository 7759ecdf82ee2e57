// Names in pod specs (environment variables, headers, paths, domains), and PodRules, the context of their validation.

import type { RuleContext } from '../../../api/definition/resource-definition.js'
import { type FieldError, invalid } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import { joined, noErrors } from '../../../api/validation/checks.js'
import { grammarProblem, noProblems, type TextRule } from '../../../api/validation/name-formats.js'

const variablePattern = '[-._a-zA-Z][-._a-zA-Z0-9]*'
const variable = new RegExp(`^${variablePattern}$`)
const variableProblem = grammarProblem(
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
  variablePattern,
  'my.env-name',
  'MY_ENV.NAME',
  'MyEnvName1',
)

/** Rejects `.` and names that begin with `..`: names may become file names. */
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

export const hasBacksteps = (path: string): boolean => path.includes('..') && path.split('/').includes('..')

export const checkNoBacksteps = (path: string, field: string): readonly FieldError[] =>
  hasBacksteps(path) ? [invalid(field, path, "must not contain '..'")] : noErrors

export const checkDescendingPath = (path: string, field: string): readonly FieldError[] =>
  joined(path.startsWith('/') ? [invalid(field, path, 'must be a relative path')] : noErrors, checkNoBacksteps(path, field))

/** Names with two leading dots are reserved for the kubelet. */
export const checkProjectedPath = (path: string, field: string): readonly FieldError[] =>
  joined(
    checkDescendingPath(path, field),
    path.startsWith('..') && !path.startsWith('../') ? [invalid(field, path, "must not start with '..'")] : noErrors,
  )

export const labelDomain = (identity: Identity): string => identity.label('').slice(0, -1)

export const groupDomain = (identity: Identity): string => identity.group({ stem: '' }).slice(1)

export interface PodRules extends Pick<RuleContext, 'identity' | 'gates' | 'forbidsPrivileged'> {
  readonly podName?: string
}
