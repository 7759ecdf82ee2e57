// Ports by name: short words that may stand wherever a number may, as protocols register them.

import type { FieldError } from '../field-error.js'
import { checkPort, checkText } from './fields.js'
import { noProblems, type TextRule, tooLongProblem } from './text-rules.js'

const limit = 15
const wellFormed = /^(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/

export const portName: TextRule = (name) => {
  if (name.length <= limit && wellFormed.test(name)) return noProblems
  const problems: string[] = []
  if (name.length > limit) problems.push(tooLongProblem(limit))
  if (!/^[-a-z0-9]+$/.test(name)) problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter (a-z)')
  if (name.includes('--')) problems.push('must not contain consecutive hyphens')
  if (name.startsWith('-') || name.endsWith('-')) problems.push('must not begin or end with a hyphen')
  return problems
}

/** A port by number or by name. */
export const checkPortOrName = (port: number | string, field: string): readonly FieldError[] =>
  typeof port === 'number' ? checkPort(port, field) : checkText(port, field, portName)
