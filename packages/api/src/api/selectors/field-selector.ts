// A question about a few fields of an object: `metadata.name=x,status.phase!=Running`. Which fields may be asked for is the kind's matter.

import { getOrInsert } from '../base/get-or-insert.js'
import { shorten } from '../base/shorten.js'
import { sortTexts } from '../base/text-order.js'
import { badRequest } from './api-error.js'
import { quote } from './field-error.js'

export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

export interface CompiledFieldSelector {
  /** A field that the object does not have is the empty text. */
  matches(get: (path: string) => string | undefined): boolean
  /** All of them must hold. In the order of their text. */
  readonly requirements: readonly FieldRequirement[]
  readonly text: string
  readonly isEverything: boolean
  /** The value that a field must have; two different ones leave the first, and nothing matches. */
  exactValue(field: string): string | undefined
}

/** Which fields of a kind may be asked for, and what is said of the others. */
export interface SelectableFields {
  has(field: string): boolean
  refusal(field: string): string
}

/** From here on what is said of a field is joined: thousands of values that it must not have are looked at at once. */
const manyRequirements = 16

const name = 'metadata.name'
const namespace = 'metadata.namespace'

/** The fields of a kind that adds none to those of the metadata. */
export const metadataFields: SelectableFields = {
  has: (field) => field === name || field === namespace,
  refusal: (field) => `${quote(field)} is not a known field selector: only "${name}", "${namespace}"`,
}

/** The fields of a kind that has a list of its own, be it an empty one. */
export function selectableFields(kind: {
  readonly namespaced: boolean
  readonly fields: Iterable<string>
  readonly refusal?: ((field: string) => string) | undefined
}): SelectableFields {
  const fields = new Set([name, ...(kind.namespaced ? [namespace] : []), ...kind.fields])
  const { refusal = (field) => `field label not supported: ${field}` } = kind
  return { has: (field) => fields.has(field), refusal: (field) => refusal(shorten(field)) }
}

export const everyField: CompiledFieldSelector = fromFieldRequirements([])

/** Throws a BadRequest that says what was not understood, or which field the kind does not offer. */
export function compileFieldSelector(text: string, selectable: SelectableFields): CompiledFieldSelector {
  const selector = parseFieldSelector(text)
  checkFields(selector, selectable)
  return selector
}

export function checkFields(selector: CompiledFieldSelector, selectable: SelectableFields): void {
  const unknown = selector.requirements.find(({ field }) => !selectable.has(field))
  if (unknown !== undefined) throw badRequest(selectable.refusal(unknown.field))
}

/** The syntax alone, before the kind is known. */
export function parseFieldSelector(text: string): CompiledFieldSelector {
  if (text === '') return everyField
  const terms = splitTerms(text).filter((term) => term !== '')
  return fromFieldRequirements(sortTexts(terms).map((term) => parseTerm(text, term)))
}

/** The selector that picks the object of one name. */
export const oneName = (value: string): CompiledFieldSelector => fromFieldRequirements([{ field: name, operator: '=', value }])

/** For a watch of one object by its path: a selector may repeat the name, and must not contradict it. */
export function narrowToName(selector: CompiledFieldSelector | undefined, value: string): CompiledFieldSelector {
  if (selector === undefined || selector.isEverything) return oneName(value)
  if (selector.exactValue(name) !== value) throw badRequest("fieldSelector metadata.name doesn't match requested name")
  return selector
}

type Get = (path: string) => string | undefined

function testOfEach(requirements: readonly FieldRequirement[]): (get: Get) => boolean {
  return (get) =>
    requirements.every(({ field, operator, value }) => (operator === '=' ? (get(field) ?? '') === value : (get(field) ?? '') !== value))
}

function joinedTest(requirements: readonly FieldRequirement[]): (get: Get) => boolean {
  const wanted = new Map<string, Set<string>>()
  const unwanted = new Map<string, Set<string>>()
  for (const { field, operator, value } of requirements) {
    getOrInsert(operator === '=' ? wanted : unwanted, field, () => new Set<string>()).add(value)
  }
  return (get) => {
    // No field has two values.
    for (const [field, values] of wanted) if (values.size > 1 || !values.has(get(field) ?? '')) return false
    for (const [field, values] of unwanted) if (values.has(get(field) ?? '')) return false
    return true
  }
}

export function fromFieldRequirements(requirements: readonly FieldRequirement[]): CompiledFieldSelector {
  return {
    matches: requirements.length > manyRequirements ? joinedTest(requirements) : testOfEach(requirements),
    requirements,
    text: requirements.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(','),
    isEverything: requirements.length === 0,
    exactValue: (wanted) => requirements.find(({ field, operator }) => field === wanted && operator === '=')?.value,
  }
}

/** The terms between commas; a comma behind a backslash is data. */
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

/** The first operator divides; a field has no escapes. */
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
