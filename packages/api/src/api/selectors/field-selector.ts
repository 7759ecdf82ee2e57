// Field selectors such as `metadata.name=x,status.phase!=Running`: parser, matcher, and the fields that a kind supports.

import { getOrInsert } from '../../base/recent-map.js'
import { shorten } from '../../base/shorten.js'
import { sortTexts } from '../../base/text-order.js'
import { badRequest } from '../api-error.js'
import { quote } from '../field-error.js'

interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

export interface CompiledFieldSelector {
  /** A missing field is the empty string. */
  matches(get: (path: string) => string | undefined): boolean
  /** All requirements must match. */
  readonly requirements: readonly FieldRequirement[]
  readonly text: string
  readonly isEverything: boolean
  /** Value that the field must have, if any. The first if there are several: different values match nothing. */
  exactValue(field: string): string | undefined
}

export interface SelectableFields {
  has(field: string): boolean
  /** Error message for an unsupported field. */
  refusal(field: string): string
}

const nameField = 'metadata.name'
const namespaceField = 'metadata.namespace'

export const metadataFields: SelectableFields = {
  has: (field) => field === nameField || field === namespaceField,
  refusal: (field) => `${quote(field)} is not a known field selector: only "${nameField}", "${namespaceField}"`,
}

export function selectableFields(kind: {
  readonly namespaced: boolean
  readonly fields: Iterable<string>
  readonly refusal?: ((field: string) => string) | undefined
}): SelectableFields {
  const fields = new Set([nameField, ...(kind.namespaced ? [namespaceField] : []), ...kind.fields])
  const { refusal = (field) => `field label not supported: ${field}` } = kind
  return { has: (field) => fields.has(field), refusal: (field) => refusal(shorten(field)) }
}

const everything: CompiledFieldSelector = fromFieldRequirements([])

/** Throws a BadRequest for a field that the kind does not offer. */
export function checkFields(selector: CompiledFieldSelector, selectable: SelectableFields): void {
  const unknown = selector.requirements.find(({ field }) => !selectable.has(field))
  if (unknown !== undefined) throw badRequest(selectable.refusal(unknown.field))
}

export function parseFieldSelector(text: string): CompiledFieldSelector {
  if (text === '') return everything
  const terms = splitTerms(text).filter((term) => term !== '')
  return fromFieldRequirements(sortTexts(terms).map((term) => parseTerm(text, term)))
}

export const fieldSelectorForName = (value: string): CompiledFieldSelector =>
  fromFieldRequirements([{ field: nameField, operator: '=', value }])

type Get = (path: string) => string | undefined

/** Merges requirements per field: a selector may exclude thousands of values. */
function testOf(requirements: readonly FieldRequirement[]): (get: Get) => boolean {
  const equalValues = new Map<string, Set<string>>()
  const excludedValues = new Map<string, Set<string>>()
  for (const { field, operator, value } of requirements) {
    getOrInsert(operator === '=' ? equalValues : excludedValues, field, () => new Set<string>()).add(value)
  }
  return (get) => {
    for (const [field, values] of equalValues) if (values.size > 1 || !values.has(get(field) ?? '')) return false
    for (const [field, values] of excludedValues) if (values.has(get(field) ?? '')) return false
    return true
  }
}

function fromFieldRequirements(requirements: readonly FieldRequirement[]): CompiledFieldSelector {
  return {
    matches: testOf(requirements),
    requirements,
    text: requirements.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(','),
    isEverything: requirements.length === 0,
    exactValue: (path) => requirements.find(({ field, operator }) => field === path && operator === '=')?.value,
  }
}

/** An escaped comma does not separate terms. */
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (char === ',') {
      terms.push(text.slice(start, at))
      start = at + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

/** Splits at the first operator; field names have no escapes. */
function parseTerm(text: string, term: string): FieldRequirement {
  const match = /!=|==|=/.exec(term)
  if (match === null) throw badRequest(`invalid selector: '${shorten(text)}'; can't understand '${shorten(term)}'`)
  return {
    field: term.slice(0, match.index),
    operator: match[0] === '!=' ? '!=' : '=',
    value: unescapeValue(term.slice(match.index + match[0].length)),
  }
}

function unescapeValue(text: string): string {
  if (!/[\\,=]/.test(text)) return text
  let value = ''
  let isEscaped = false
  for (const char of text) {
    const isSpecial = char === '\\' || char === ',' || char === '='
    if (isEscaped && !isSpecial) throw badEscape(`\\${char}`)
    if (!isEscaped && isSpecial && char !== '\\')
      throw badRequest(`invalid field selector: unescaped character in value: ${char.codePointAt(0)}`)
    isEscaped = !isEscaped && char === '\\'
    if (!isEscaped) value += char
  }
  if (isEscaped) throw badEscape('\\')
  return value
}

const badEscape = (sequence: string): Error => badRequest(`invalid field selector: invalid escape sequence: ${sequence}`)

const escapeValue = (value: string): string => value.replace(/[\\,=]/g, '\\$&')
