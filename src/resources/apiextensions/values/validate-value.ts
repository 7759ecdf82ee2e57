// Whether a value is what a JSON schema says, with the words in which clients know the answers.

import { type FieldError, invalid, notSupported, required, tooLongFor, tooMany, typeInvalid } from '../../../api/field-error.js'
import { sameValue } from '../../../api/validation/same-value.js'
import { onceFor } from '../../../base/once-for.js'
import { additionalSchema, isIntOrString, itemSchema, type JsonSchema, type SchemaMap, schemasOf } from '../json-schema.js'
import { matchesPattern } from '../pattern.js'
import { isOfFormat, knowsFormat } from './formats.js'
import { validateNumber } from './number-rules.js'
import { fieldOf, type ValuePlace } from './value-place.js'

/**
 * What was found. Of several choices that all fail the one that got furthest is told: the others are only counted, for there may be thousands of
 * them for each of thousands of values, and words take longer than checks.
 */
class Findings {
  count = 0
  readonly #told: FieldError[] | undefined

  constructor(told?: FieldError[]) {
    this.#told = told
  }

  get isTold(): boolean {
    return this.#told !== undefined
  }

  add(describe: () => FieldError): void {
    this.count++
    this.#told?.push(describe())
  }
}

/** What is wrong with a value; errors are reported below the field `base`. */
export function validateValue(schema: JsonSchema, value: unknown, base: string): readonly FieldError[] {
  const errors: FieldError[] = []
  check(schema, value, { base, path: '' }, new Findings(errors))
  return errors
}

type ValueType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

function typeOf(value: unknown): ValueType {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'bigint' ? 'integer' : (typeof value as 'boolean' | 'string' | 'object')
}

/** Makes the checks that apply to a value, and says how many there were: that is how far choices got. */
function check(schema: JsonSchema, value: unknown, place: ValuePlace, found: Findings): number {
  const type = typeOf(value)
  if (type === 'null') {
    checkType(schema, type, place, found)
    checkEnum(schema, value, place, found)
    return 3
  }
  let checks = 3
  if (schema.type !== undefined || schema.format !== undefined || isIntOrString(schema)) {
    checkType(schema, type, place, found)
    checks++
  }
  checks += checkChoices(schema, value, place, found)
  if (type === 'string') {
    checkText(schema, value as string, place, found)
    checks++
    if (knowsFormat(schema.format)) {
      checkFormat(schema, value as string, place, found)
      checks++
    }
  } else if (type === 'integer' || type === 'number') {
    validateNumber(schema, value as number | bigint, place, found)
    checks++
  } else if (type === 'array') {
    checks += checkItems(schema, value as readonly unknown[], place, found) + 1
  }
  checkEnum(schema, value, place, found)
  if (type === 'object') checks += checkMembers(schema, value as Members, place, found) + 1
  return checks
}

const typesOf = (schema: JsonSchema): readonly string[] =>
  isIntOrString(schema) ? ['integer', 'string'] : schema.type === undefined ? [] : [schema.type]

/** What a value is called where a format is asked for that is of texts. */
const formatNames: { readonly [type in ValueType]?: string } = { integer: 'int64', number: 'float64' }

function checkType(schema: JsonSchema, type: ValueType, place: ValuePlace, found: Findings): void {
  if (schema.type === type && !isIntOrString(schema)) return
  const allowed = typesOf(schema)
  const isAllowed = allowed.includes(type) || (type === 'integer' && allowed.includes('number'))
  if (isAllowed || (type === 'null' && (allowed.length === 0 || schema.nullable === true))) return
  const addWrong = (wanted: string, given: string): void =>
    found.add(() => typeInvalid(fieldOf(place), given, `${place.path} in body must be of type ${wanted}: "${given}"`))
  if (knowsFormat(schema.format) && type !== 'null') {
    // The format decides what a text is, and lets lists pass.
    const isLeftToFormat = type === 'string' || type === 'array'
    if (!isLeftToFormat) addWrong(schema.format ?? '', formatNames[type] ?? '')
    if (!isLeftToFormat || (!allowed.includes('integer') && !allowed.includes('number'))) return
  }
  if (allowed.length > 0) addWrong(allowed.join(','), type)
}

function checkChoices(schema: JsonSchema, value: unknown, place: ValuePlace, found: Findings): number {
  let checks = 1
  if (schema.anyOf !== undefined) checks += checkAnyOf(schema.anyOf, value, place, found)
  if (schema.oneOf !== undefined) checks += checkOneOf(schema.oneOf, value, place, found)
  if (schema.allOf !== undefined) checks += checkAllOf(schema.allOf, value, place, found)
  if (schema.not !== undefined) {
    const inner = new Findings()
    check(schema.not, value, place, inner)
    if (inner.count === 0) found.add(() => choiceError(place, 'must not validate the schema (not)'))
  }
  return checks
}

/** Choices are told of the whole, with the place in the words. */
const choiceError = ({ base, path }: ValuePlace, problem: string): FieldError => invalid(base, '', `"${path}" ${problem}`)

/** How many choices fit, of which one is enough where `most` is 1, and the first of those that got furthest. */
function tryChoices(choices: readonly JsonSchema[], value: unknown, place: ValuePlace, most: number): Tried {
  let fitting = 0
  let checks = -1
  let best: JsonSchema | undefined
  for (const choice of choices) {
    const inner = new Findings()
    const own = check(choice, value, place, inner)
    if (inner.count === 0 && ++fitting === most) break
    if (own > checks) [checks, best] = [own, choice]
  }
  return { fitting, checks, best }
}

interface Tried {
  readonly fitting: number
  readonly checks: number
  readonly best: JsonSchema | undefined
}

/** What the choice that got furthest has against the value. */
function tellBest({ best, checks }: Tried, value: unknown, place: ValuePlace, found: Findings): number {
  if (found.isTold && best !== undefined) check(best, value, place, found)
  return checks
}

function checkAnyOf(choices: readonly JsonSchema[], value: unknown, place: ValuePlace, found: Findings): number {
  const tried = tryChoices(choices, value, place, 1)
  if (choices.length === 0 || tried.fitting > 0) return 0
  found.add(() => choiceError(place, 'must validate at least one schema (anyOf)'))
  return tellBest(tried, value, place, found)
}

function checkOneOf(choices: readonly JsonSchema[], value: unknown, place: ValuePlace, found: Findings): number {
  const tried = tryChoices(choices, value, place, Number.POSITIVE_INFINITY)
  const { fitting } = tried
  if (choices.length === 0 || fitting === 1) return 0
  const more = fitting === 0 ? 'Found none valid' : `Found ${fitting} valid alternatives`
  found.add(() => choiceError(place, `must validate one and only one schema (oneOf). ${more}`))
  return fitting === 0 ? tellBest(tried, value, place, found) : 0
}

function checkAllOf(choices: readonly JsonSchema[], value: unknown, place: ValuePlace, found: Findings): number {
  let checks = 0
  let fitting = 0
  const before = found.count
  for (const choice of choices) {
    const sofar = found.count
    checks += check(choice, value, place, found)
    if (found.count === sofar) fitting++
  }
  if (found.count > before) {
    found.add(() => choiceError(place, `must validate all the schemas (allOf)${fitting > 0 ? '' : '. None validated'}`))
  }
  return checks
}

/** Texts are measured in characters; the first problem stands for the rest. */
function checkText({ maxLength, minLength, pattern = '' }: JsonSchema, text: string, place: ValuePlace, found: Findings): void {
  const length = maxLength === undefined && minLength === undefined ? 0 : [...text].length
  if (maxLength !== undefined && length > maxLength) found.add(() => tooLongFor(fieldOf(place), maxLength))
  else if (minLength !== undefined && length < minLength) {
    found.add(() => invalid(fieldOf(place), text, `${place.path} in body should be at least ${minLength} chars long`))
  } else if (pattern !== '' && !matchesPattern(pattern, text)) {
    found.add(() => invalid(fieldOf(place), text, `${place.path} in body should match '${pattern}'`))
  }
}

function checkFormat({ format = '' }: JsonSchema, text: string, place: ValuePlace, found: Findings): void {
  if (isOfFormat(format, text)) return
  found.add(() => typeInvalid(fieldOf(place), text, `${place.path} in body must be of type ${format}: ${JSON.stringify(text)}`))
}

function checkEnum({ enum: values }: JsonSchema, value: unknown, place: ValuePlace, found: Findings): void {
  if (values === undefined || values.length === 0) return
  const { plain, others, shown } = choicesOf(values)
  if (plain.has(value ?? null) || others.some((allowed) => sameValue(allowed, value ?? null))) return
  found.add(() => notSupported(fieldOf(place), value ?? '', shown))
}

/** Texts are looked up, however many there are. */
const choicesOf = onceFor((values: readonly unknown[]) => ({
  plain: new Set(values.filter((value) => typeof value === 'string')) as ReadonlySet<unknown>,
  others: values.filter((value) => typeof value !== 'string'),
  shown: values.map((allowed) => (typeof allowed === 'string' ? allowed : JSON.stringify(allowed))),
}))

/** Where nobody is told, places need no name. */
const placeBelow = (place: ValuePlace, found: Findings, path: () => string): ValuePlace =>
  found.isTold ? { ...place, path: path() } : place

function checkItems(schema: JsonSchema, items: readonly unknown[], place: ValuePlace, found: Findings): number {
  const inner = itemSchema(schema)
  let checks = 0
  if (inner !== undefined) {
    for (const [i, item] of items.entries()) {
      checks += check(
        inner,
        item,
        placeBelow(place, found, () => `${place.path}[${i}]`),
        found,
      )
    }
  }
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
  const count = items.length
  if (count < minItems) found.add(() => invalid(fieldOf(place), count, `${place.path} in body should have at least ${minItems} items`))
  if (count > maxItems) found.add(() => tooMany(fieldOf(place), count, maxItems))
  return checks
}

type Members = { readonly [name: string]: unknown }

/** Sorted once: a schema is asked for them again and again. */
const sortedSchemas = onceFor((schemas: SchemaMap) => schemasOf(schemas))
const none: SchemaMap = {}

function checkMembers(schema: JsonSchema, value: Members, place: ValuePlace, found: Findings): number {
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY, properties = none, required: needed = [] } = schema
  const names = Object.keys(value)
  const count = names.length
  if (count < minProperties) {
    found.add(() => invalid(fieldOf(place), count, `${place.path} in body should have at least ${minProperties} properties`))
    return 0
  }
  if (count > maxProperties) {
    found.add(() => tooMany(fieldOf(place), count, maxProperties))
    return 0
  }
  const below = (name: string): ValuePlace => placeBelow(place, found, () => (place.path === '' ? name : `${place.path}.${name}`))
  const others = schema.additionalProperties === undefined ? [] : names.filter((name) => !Object.hasOwn(properties, name))
  const additional = additionalSchema(schema)
  let checks = 0
  if (additional !== undefined) for (const name of others) checks += check(additional, value[name], below(name), found)
  for (const [name, property] of sortedSchemas(properties)) {
    if (Object.hasOwn(value, name)) checks += check(property, value[name], below(name), found)
  }
  if (schema.additionalProperties === false) {
    for (const name of others) found.add(() => invalid(fieldOf(place), name, `${place.path}.${name} in body is a forbidden property`))
  }
  for (const name of needed) if (!Object.hasOwn(value, name)) found.add(() => required(fieldOf(below(name))))
  return checks
}
