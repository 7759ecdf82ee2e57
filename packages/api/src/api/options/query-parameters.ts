// Typed query parameters: boolean, integer, text; and the error for an invalid value.

import { type ApiError, badRequest } from '../api-error.js'
import { quote } from '../field-error.js'
import { parseInt64 } from '../integer.js'
import type { Query } from './query.js'

/** Any value but `0` and `false` (in any letter case) is true, also the empty value. Undefined without the parameter. */
export function booleanParameter(query: Query, name: string): boolean | undefined {
  const text = query.first(name)
  return text === undefined ? undefined : text !== '0' && text.toLowerCase() !== 'false'
}

export function integerParameter(query: Query, name: string): number | undefined {
  const text = query.first(name)
  if (text === undefined) return undefined
  const value = parseInt64(text)
  if (value === undefined) throw badParameter(name, text, 'must be an integer')
  return Number(value)
}

export const textParameter = (query: Query, name: string): string | undefined => query.first(name) || undefined

export const badParameter = (name: string, value: string, rule: string): ApiError =>
  badRequest(`${name}: Invalid value: ${quote(value)}: ${rule}`)
