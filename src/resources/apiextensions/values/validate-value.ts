// Whether a value is what a JSON schema says, with the words in which clients know the answers.

import { type FieldError, invalid, notSupported, required, tooLongFor, tooMany, typeInvalid } from '../../../api/field-error.js'
import { sameValue } from '../../../api/validation/same-value.js'
import { onceFor } from '../../../base/once-for.js'
import type { Strain } from '../../../base/weight.js'
import { additionalSchema, isIntOrString, itemSchema, type JsonSchema, schemasOf } from '../json-schema.js'
import { matchesPattern } from '../pattern.js'
import { isOfFormat, knowsFormat } from './formats.js'
import { validateNumber } from './number-rules.js'
import { fieldOf, type ValuePlace } from './value-place.js'

/** What was found, and how many checks were made: of several choices that all fail, the one that got furthest is told. */
export interface Outcome {
  readonly errors: readonly FieldError[]
  readonly checks: number
}

/** What is wrong with a value; errors are reported below the field `base`. */
export const validateValue = (schema: JsonSchema, value: unknown, base: string, strain?: Strain): readonly FieldError[] =>
  check(schema, value, { base, path: '', strain }).errors

type ValueType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

function typeOf(value: unknown): ValueType {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'bigint' ? 'integer' : (typeof value as 'boolean' | 'string' | 'object')
}

function check(schema: JsonSchema, value: unknown, place: ValuePlace): Outcome {
  // A short value may have to be held against a schema of a thousand choices.
  place.strain?.look()
  const type = typeOf(value)
  const steps =
    type === 'null' ? [() => checkType(schema, type, place), () => checkEnum(schema, value, place)] : stepsFor(schema, value, place)
  const errors: FieldError[] = []
  let checks = 1
  for (const step of steps) {
    const outcome = step()
    const found = 'errors' in outcome ? outcome : { errors: outcome, checks: 0 }
    for (const error of found.errors) errors.push(error)
    checks += found.checks + 1
  }
  return { errors, checks }
}

type Step = () => Outcome | readonly FieldError[]

/** The checks that apply to a value, in the order of execution. */
function stepsFor(schema: JsonSchema, value: unknown, place: ValuePlace): readonly Step[] {
  const type = typeOf(value)
  return [
    ...(typesOf(schema).length > 0 || schema.format !== undefined ? [() => checkType(schema, type, place)] : []),
    () => checkChoices(schema, value, place),
    ...(type === 'string' ? [() => checkText(schema, value as string, place)] : []),
    ...(type === 'string' && knowsFormat(schema.format) ? [() => checkFormat(schema, value as string, place)] : []),
    ...(type === 'integer' || type === 'number' ? [() => validateNumber(schema, value as number | bigint, place)] : []),
    ...(type === 'array' ? [() => checkItems(schema, value as readonly unknown[], place)] : []),
    () => checkEnum(schema, value, place),
    ...(type === 'object' ? [() => checkMembers(schema, value as Members, place)] : []),
  ]
}

const typesOf = (schema: JsonSchema): readonly string[] =>
  isIntOrString(schema) ? ['integer', 'string'] : schema.type === undefined ? [] : [schema.type]

/** What a value is called where a format is asked for that is of texts. */
const formatNames: { readonly [type in ValueType]?: string } = { integer: 'int64', number: 'float64' }

function checkType(schema: JsonSchema, type: ValueType, place: ValuePlace): readonly FieldError[] {
  const allowed = typesOf(schema)
  const isAllowed = allowed.includes(type) || (type === 'integer' && allowed.includes('number'))
  if (isAllowed || (type === 'null' && (allowed.length === 0 || schema.nullable === true))) return []
  const wrong = (wanted: string, given: string): readonly FieldError[] => [
    typeInvalid(fieldOf(place), given, `${place.path} in body must be of type ${wanted}: "${given}"`),
  ]
  if (knowsFormat(schema.format) && type !== 'null') {
    // The format decides what a text is, and lets lists pass.
    const isLeftToFormat = type === 'string' || type === 'array'
    if (!isLeftToFormat) return wrong(schema.format ?? '', formatNames[type] ?? '')
    if (!allowed.includes('integer') && !allowed.includes('number')) return []
  }
  return allowed.length === 0 ? [] : wrong(allowed.join(','), type)
}

function checkChoices(schema: JsonSchema, value: unknown, place: ValuePlace): Outcome {
  const all = (schemas: readonly JsonSchema[] | undefined): readonly Outcome[] => (schemas ?? []).map((one) => check(one, value, place))
  const outcomes = [anyOf(all(schema.anyOf), place), oneOf(all(schema.oneOf), place), allOf(all(schema.allOf), place)]
  const isForbidden = schema.not !== undefined && check(schema.not, value, place).errors.length === 0
  const no = isForbidden ? [choiceError(place, 'must not validate the schema (not)')] : []
  return { errors: [...outcomes.flatMap(({ errors }) => errors), ...no], checks: outcomes.reduce((sum, { checks }) => sum + checks, 1) }
}

/** Choices are told of the whole, with the place in the words. */
const choiceError = ({ base, path }: ValuePlace, problem: string): FieldError => invalid(base, '', `"${path}" ${problem}`)

const nothing: Outcome = { errors: [], checks: 0 }
const isValid = ({ errors }: Outcome): boolean => errors.length === 0

/** Of choices that all fail, the first that got furthest. */
const best = (outcomes: readonly Outcome[]): Outcome =>
  outcomes.reduce((furthest, outcome) => (outcome.checks > furthest.checks ? outcome : furthest), { errors: [], checks: -1 })

function anyOf(outcomes: readonly Outcome[], place: ValuePlace): Outcome {
  if (outcomes.length === 0 || outcomes.some(isValid)) return nothing
  const { errors, checks } = best(outcomes)
  return { errors: [choiceError(place, 'must validate at least one schema (anyOf)'), ...errors], checks }
}

function oneOf(outcomes: readonly Outcome[], place: ValuePlace): Outcome {
  const count = outcomes.filter(isValid).length
  if (outcomes.length === 0 || count === 1) return nothing
  const more = count === 0 ? 'Found none valid' : `Found ${count} valid alternatives`
  const { errors, checks } = count === 0 ? best(outcomes) : nothing
  return { errors: [choiceError(place, `must validate one and only one schema (oneOf). ${more}`), ...errors], checks }
}

function allOf(outcomes: readonly Outcome[], place: ValuePlace): Outcome {
  const errors = outcomes.flatMap((outcome) => outcome.errors)
  const checks = outcomes.reduce((sum, outcome) => sum + outcome.checks, 0)
  if (errors.length === 0) return { errors, checks }
  const none = outcomes.some(isValid) ? '' : '. None validated'
  return { errors: [...errors, choiceError(place, `must validate all the schemas (allOf)${none}`)], checks }
}

/** Texts are measured in characters; the first problem stands for the rest. */
function checkText({ maxLength, minLength, pattern = '' }: JsonSchema, text: string, place: ValuePlace): readonly FieldError[] {
  const length = maxLength === undefined && minLength === undefined ? 0 : [...text].length
  if (maxLength !== undefined && length > maxLength) return [tooLongFor(fieldOf(place), maxLength)]
  if (minLength !== undefined && length < minLength) {
    return [invalid(fieldOf(place), text, `${place.path} in body should be at least ${minLength} chars long`)]
  }
  if (pattern === '' || matchesPattern(pattern, text, place.strain)) return []
  return [invalid(fieldOf(place), text, `${place.path} in body should match '${pattern}'`)]
}

const checkFormat = ({ format = '' }: JsonSchema, text: string, place: ValuePlace): readonly FieldError[] =>
  isOfFormat(format, text)
    ? []
    : [typeInvalid(fieldOf(place), text, `${place.path} in body must be of type ${format}: ${JSON.stringify(text)}`)]

function checkEnum({ enum: values = [] }: JsonSchema, value: unknown, place: ValuePlace): readonly FieldError[] {
  if (values.length === 0) return []
  const { plain, others, shown } = choicesOf(values)
  if (plain.has(value ?? null) || others.some((allowed) => sameValue(allowed, value ?? null))) return []
  return [notSupported(fieldOf(place), value ?? '', shown)]
}

/** Texts are looked up, however many there are. */
const choicesOf = onceFor((values: readonly unknown[]) => ({
  plain: new Set(values.filter((value) => typeof value === 'string')) as ReadonlySet<unknown>,
  others: values.filter((value) => typeof value !== 'string'),
  shown: values.map((allowed) => (typeof allowed === 'string' ? allowed : JSON.stringify(allowed))),
}))

function checkItems(schema: JsonSchema, items: readonly unknown[], place: ValuePlace): Outcome {
  const inner = itemSchema(schema)
  const outcomes = inner === undefined ? [] : items.map((item, i) => check(inner, item, { ...place, path: `${place.path}[${i}]` }))
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
  const count = items.length
  const own = [
    ...(count < minItems ? [invalid(fieldOf(place), count, `${place.path} in body should have at least ${minItems} items`)] : []),
    ...(count > maxItems ? [tooMany(fieldOf(place), count, maxItems)] : []),
  ]
  return joinedOutcome(outcomes, own)
}

const joinedOutcome = (outcomes: readonly Outcome[], own: readonly FieldError[]): Outcome => ({
  errors: [...outcomes.flatMap(({ errors }) => errors), ...own],
  checks: outcomes.reduce((sum, { checks }) => sum + checks, 0),
})

type Members = { readonly [name: string]: unknown }

function checkMembers(schema: JsonSchema, value: Members, place: ValuePlace): Outcome {
  const count = Object.keys(value).length
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY, properties = {}, required: needed = [] } = schema
  if (count < minProperties) {
    return joinedOutcome([], [invalid(fieldOf(place), count, `${place.path} in body should have at least ${minProperties} properties`)])
  }
  if (count > maxProperties) return joinedOutcome([], [tooMany(fieldOf(place), count, maxProperties)])
  const below = (name: string): ValuePlace => ({ ...place, path: place.path === '' ? name : `${place.path}.${name}` })
  const others = Object.keys(value).filter((name) => !Object.hasOwn(properties, name))
  const additional = additionalSchema(schema)
  const outcomes = [
    ...(additional === undefined ? [] : others.map((name) => check(additional, value[name], below(name)))),
    ...schemasOf(properties).flatMap(([name, property]) => (Object.hasOwn(value, name) ? [check(property, value[name], below(name))] : [])),
  ]
  const own = [
    ...(schema.additionalProperties === false
      ? others.map((name) => invalid(fieldOf(place), name, `${place.path}.${name} in body is a forbidden property`))
      : []),
    ...needed.filter((name) => !Object.hasOwn(value, name)).map((name) => required(fieldOf(below(name)))),
  ]
  return joinedOutcome(outcomes, own)
}
