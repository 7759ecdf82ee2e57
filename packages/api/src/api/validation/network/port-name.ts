// Validation of port names (IANA service names), which may replace port numbers.

import type { FieldError } from '../../field-error.js'
import { checkPort, checkText } from '../checks.js'
import { noProblems, type TextRule, tooLongProblem } from '../name-formats.js'

const maxCharacters = 15
const wellFormed = /^(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/

export const portName: TextRule = (name) => {
  if (name.length <= maxCharacters && wellFormed.test(name)) return noProblems
  const problems: string[] = []
  if (name.length > maxCharacters) problems.push(tooLongProblem(maxCharacters))
  if (!/^[-a-z0-9]+$/.test(name)) problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter (a-z)')
  if (name.includes('--')) problems.push('must not contain consecutive hyphens')
  if (name.startsWith('-') || name.endsWith('-')) problems.push('must not begin or end with a hyphen')
  return problems
}

export const checkPortOrName = (port: number | string, field: string): readonly FieldError[] =>
  typeof port === 'number' ? checkPort(port, field) : checkText(port, field, portName)
