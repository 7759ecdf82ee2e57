// Validates a value against a JSON schema, with the error messages of kube-apiserver.

import { type FieldError, invalid, notSupported, required, tooLongFor, tooMany, typeInvalid } from '../../../api/field-error.js'
import { sameValue } from '../../../api/validation/same-value.js'
import { weakMemoize } from '../../../base/recent-map.js'
import { floatText } from '../../../base/text/float-text.js'
import { isInt64 } from '../../../schema/json/pruning.js'
import { writeAny } from '../../../schema/json/write.js'
import {
  additionalSchema,
  isIntOrString,
  itemSchema,
  type JsonSchema,
  matchesPattern,
  type SchemaMap,
  schemasOf,
} from '../schema/json-schema.js'
import { isKnownFormat, isOfFormat } from './string-formats.js'

interface ValueLocation {
  /** Path of the whole value. */
  readonly base: string
  /** Path below `base`. */
  readonly path: string
}

const fieldOf = ({ base, path }: ValueLocation): string => {
  const relative = path.startsWith('.') ? path.slice(1) : path
  return relative === '' ? base : base === '' ? relative : `${base}.${relative}`
}

interface ErrorSink {
  /** Calls `describe` only if errors are collected. */
  add(describe: () => FieldError): void
}

/** Truncates bounds and factors of an int64, as in kube-apiserver: 1 is not below 1.5. */
function validateNumber(schema: JsonSchema, value: number | bigint, location: ValueLocation, collector: ErrorSink): void {
  const isInteger = isInt64(value)
  const bound = (number: number | bigint | undefined): number | undefined =>
    number === undefined ? undefined : isInteger ? Math.trunc(Number(number)) : Number(number)
  const print = (number: number): string => (isInteger && Number.isInteger(number) ? BigInt(number).toString() : floatText(number))
  const addError = (problem: () => string): void =>
    collector.add(() => invalid(fieldOf(location), value, `${location.path} in body should be ${problem()}`))
  // A factor below 1 keeps its fraction: kube-apiserver would divide by 0.
  const factor = bound(schema.multipleOf) || (schema.multipleOf === undefined ? undefined : Number(schema.multipleOf))
  if (factor !== undefined && factor < 0) {
    collector.add(() =>
      invalid(fieldOf(location), factor, `factor MultipleOf declared for ${location.path} must be positive: ${print(factor)}`),
    )
  } else if (factor !== undefined && !isMultiple(value, factor)) addError(() => `a multiple of ${print(factor)}`)
  const minimum = bound(schema.minimum)
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    addError(() => `greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${print(minimum)}`)
  }
  const maximum = bound(schema.maximum)
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    addError(() => `less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${print(maximum)}`)
  }
}

/** Divides an int64 exactly by a whole factor; floats have a tolerance. */
function isMultiple(value: number | bigint, factor: number): boolean {
  if (isInt64(value) && Number.isInteger(factor)) return BigInt(value) % BigInt(factor) === 0n
  return isWholeNumber(factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor)
}

const tolerance = 1e-9

/** True for a float64 that kube-apiserver takes for an integer: at most 2^53-1, and at most slightly above a whole number. */
function isWholeNumber(value: number): boolean {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false
  const whole = Math.trunc(value)
  return value === whole || (value > 1 && (value - whole) / (value + whole) < tolerance)
}

/** Counts errors, and collects them if a list is given. Failed alternatives, which may be thousands, are only counted. */
class ErrorCollector {
  count = 0
  readonly #errors: FieldError[] | undefined

  constructor(errors?: FieldError[]) {
    this.#errors = errors
  }

  get keepsErrors(): boolean {
    return this.#errors !== undefined
  }

  add(describe: () => FieldError): void {
    this.count++
    this.#errors?.push(describe())
  }
}

export function validateValue(schema: JsonSchema, value: unknown, base: string): readonly FieldError[] {
  const errors: FieldError[] = []
  check(schema, value, { base, path: '' }, new ErrorCollector(errors))
  return errors
}

type ValueType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

function typeOf(value: unknown): ValueType {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number' || typeof value === 'bigint') return isInt64(value) ? 'integer' : 'number'
  return typeof value as 'boolean' | 'string' | 'object'
}

/** Returns the number of checks, which ranks alternatives; passed type checks count twice. */
function check(schema: JsonSchema, value: unknown, location: ValueLocation, collector: ErrorCollector): number {
  const type = typeOf(value)
  const before = collector.count
  if (type === 'null') {
    checkType(schema, value, type, location, collector)
    const isOfType = collector.count === before
    checkEnum(schema, value, location, collector)
    return isOfType ? 1 : 0
  }
  let checks = 3
  if (schema.type !== undefined || isKnownFormat(schema.format) || isIntOrString(schema)) {
    checkType(schema, value, type, location, collector)
    checks += collector.count === before ? 2 : 1
  }
  checks += checkChoices(schema, value, location, collector)
  if (type === 'string') {
    checkText(schema, value as string, location, collector)
    checks++
    if (isKnownFormat(schema.format)) {
      checkFormat(schema, value as string, location, collector)
      checks++
    }
  } else if (type === 'integer' || type === 'number') {
    validateNumber(schema, value as number | bigint, location, collector)
    checks += 2
  } else if (type === 'array') {
    checks += checkItems(schema, value as readonly unknown[], location, collector) + 2
  }
  checkEnum(schema, value, location, collector)
  if (type === 'object') checks += checkMembers(schema, value as Members, location, collector) + 1
  return checks
}

const typesOf = (schema: JsonSchema): readonly string[] =>
  isIntOrString(schema) ? ['integer', 'string'] : schema.type === undefined ? [] : [schema.type]

const formatNames: { readonly [type in ValueType]?: string } = { integer: 'int64', number: 'float64' }

function checkType(schema: JsonSchema, value: unknown, type: ValueType, location: ValueLocation, collector: ErrorCollector): void {
  if (schema.type === type && !isIntOrString(schema)) return
  const allowed = typesOf(schema)
  const isAllowed =
    allowed.includes(type) ||
    (type === 'integer' && allowed.includes('number')) ||
    (type === 'number' && allowed.includes('integer') && isWholeNumber(Number(value)))
  if (isAllowed || (type === 'null' && (allowed.length === 0 || schema.nullable === true))) return
  const addError = (expected: string, actual: string): void =>
    collector.add(() => typeInvalid(fieldOf(location), actual, `${location.path} in body must be of type ${expected}: "${actual}"`))
  if (isKnownFormat(schema.format) && type !== 'null') {
    // Lists match any known format, as in kube-apiserver, unless the type is a number.
    const isLeftToFormat = type === 'string' || type === 'array'
    if (!isLeftToFormat) addError(schema.format ?? '', formatNames[type] ?? '')
    if (!isLeftToFormat || (!allowed.includes('integer') && !allowed.includes('number'))) return
  }
  if (allowed.length > 0) addError(allowed.join(','), type)
}

function checkChoices(schema: JsonSchema, value: unknown, location: ValueLocation, collector: ErrorCollector): number {
  let checks = 1
  if (schema.anyOf !== undefined) checks += checkAnyOf(schema.anyOf, value, location, collector)
  if (schema.oneOf !== undefined) checks += checkOneOf(schema.oneOf, value, location, collector)
  if (schema.allOf !== undefined) checks += checkAllOf(schema.allOf, value, location, collector)
  if (schema.not !== undefined) {
    const inner = new ErrorCollector()
    check(schema.not, value, location, inner)
    if (inner.count === 0) collector.add(() => choiceError(location, 'must not validate the schema (not)'))
  }
  return checks
}

const choiceError = ({ base, path }: ValueLocation, problem: string): FieldError => invalid(base, '', `"${path}" ${problem}`)

/** Counts matching alternatives, up to `maxMatches`, and finds the failed one with the most checks. */
function tryChoices(choices: readonly JsonSchema[], value: unknown, location: ValueLocation, maxMatches: number): ChoicesResult {
  let matching = 0
  let passed = 0
  let checks = -1
  let best: JsonSchema | undefined
  for (const choice of choices) {
    const inner = new ErrorCollector()
    const choiceChecks = check(choice, value, location, inner)
    if (inner.count === 0) {
      if (matching === 0) passed = choiceChecks
      if (++matching === maxMatches) break
    } else if (choiceChecks > checks) [checks, best] = [choiceChecks, choice]
  }
  return { matching, passed, checks, best }
}

interface ChoicesResult {
  readonly matching: number
  /** Checks of the first match. */
  readonly passed: number
  readonly checks: number
  readonly best: JsonSchema | undefined
}

function reportBest({ best, checks }: ChoicesResult, value: unknown, location: ValueLocation, collector: ErrorCollector): number {
  if (collector.keepsErrors && best !== undefined) check(best, value, location, collector)
  return checks
}

function checkAnyOf(choices: readonly JsonSchema[], value: unknown, location: ValueLocation, collector: ErrorCollector): number {
  const result = tryChoices(choices, value, location, 1)
  if (choices.length === 0 || result.matching > 0) return result.passed
  collector.add(() => choiceError(location, 'must validate at least one schema (anyOf)'))
  return reportBest(result, value, location, collector)
}

function checkOneOf(choices: readonly JsonSchema[], value: unknown, location: ValueLocation, collector: ErrorCollector): number {
  const result = tryChoices(choices, value, location, Number.POSITIVE_INFINITY)
  const { matching } = result
  if (choices.length === 0 || matching === 1) return result.passed
  const detail = matching === 0 ? 'Found none valid' : `Found ${matching} valid alternatives`
  collector.add(() => choiceError(location, `must validate one and only one schema (oneOf). ${detail}`))
  return matching === 0 ? reportBest(result, value, location, collector) : 0
}

function checkAllOf(choices: readonly JsonSchema[], value: unknown, location: ValueLocation, collector: ErrorCollector): number {
  let checks = 0
  let matching = 0
  const before = collector.count
  for (const choice of choices) {
    const countBefore = collector.count
    checks += check(choice, value, location, collector)
    if (collector.count === countBefore) matching++
  }
  if (collector.count > before) {
    collector.add(() => choiceError(location, `must validate all the schemas (allOf)${matching > 0 ? '' : '. None validated'}`))
  }
  return checks
}

function checkText(
  { maxLength, minLength, pattern = '' }: JsonSchema,
  text: string,
  location: ValueLocation,
  collector: ErrorCollector,
): void {
  const length = maxLength === undefined && minLength === undefined ? 0 : [...text].length
  if (maxLength !== undefined && length > maxLength) collector.add(() => tooLongFor(fieldOf(location), maxLength))
  else if (minLength !== undefined && length < minLength) {
    collector.add(() => invalid(fieldOf(location), text, `${location.path} in body should be at least ${minLength} chars long`))
  } else if (pattern !== '' && !matchesPattern(pattern, text)) {
    collector.add(() => invalid(fieldOf(location), text, `${location.path} in body should match '${pattern}'`))
  }
}

function checkFormat({ format = '' }: JsonSchema, text: string, location: ValueLocation, collector: ErrorCollector): void {
  if (isOfFormat(format, text)) return
  collector.add(() => typeInvalid(fieldOf(location), text, `${location.path} in body must be of type ${format}: ${JSON.stringify(text)}`))
}

function checkEnum({ enum: values }: JsonSchema, value: unknown, location: ValueLocation, collector: ErrorCollector): void {
  if (values === undefined || values.length === 0) return
  const { strings, others, shown } = choicesOf(values)
  // null is never one of the values, as in kube-apiserver.
  const isNull = value === null || value === undefined
  if (!isNull && (strings.has(asText(value)) || others.some((allowed) => isChoice(value, allowed)))) return
  collector.add(() => notSupported(fieldOf(location), value ?? null, shown))
}

/** Integers equal the text of their code point, as in Go's conversion. */
const asText = (value: unknown): unknown => {
  if ((typeof value !== 'number' && typeof value !== 'bigint') || !isInt64(value)) return value
  const code = Number(value)
  return code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : '\ufffd'
}

/** Numbers are converted to the type of the allowed value: 1.5 equals 1. */
function isChoice(value: unknown, allowed: unknown): boolean {
  const isNumber = (candidate: unknown): candidate is number | bigint => typeof candidate === 'number' || typeof candidate === 'bigint'
  if (!isNumber(value) || !isNumber(allowed)) return sameValue(allowed, value)
  if (!isInt64(allowed)) return Number(value) === Number(allowed)
  return isInt64(value) ? BigInt(value) === BigInt(allowed) : Math.trunc(Number(value)) === Number(allowed)
}

/** Caches enum values as a set. */
const choicesOf = weakMemoize((values: readonly unknown[]) => ({
  strings: new Set(values.filter((value) => typeof value === 'string')) as ReadonlySet<unknown>,
  others: values.filter((value) => typeof value !== 'string'),
  shown: values.map((allowed) => (typeof allowed === 'string' ? allowed : writeAny(allowed))),
}))

/** Builds paths only if errors are collected. */
const locationBelow = (location: ValueLocation, collector: ErrorCollector, path: () => string): ValueLocation =>
  collector.keepsErrors ? { ...location, path: path() } : location

function checkItems(schema: JsonSchema, items: readonly unknown[], location: ValueLocation, collector: ErrorCollector): number {
  const inner = itemSchema(schema)
  let checks = 0
  if (inner !== undefined) {
    for (const [i, item] of items.entries()) {
      checks += check(
        inner,
        item,
        locationBelow(location, collector, () => `${location.path}[${i}]`),
        collector,
      )
    }
  }
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
  const count = items.length
  if (count < minItems)
    collector.add(() => invalid(fieldOf(location), count, `${location.path} in body should have at least ${minItems} items`))
  if (count > maxItems) collector.add(() => tooMany(fieldOf(location), count, maxItems))
  return checks
}

type Members = { readonly [name: string]: unknown }

const sortedSchemas = weakMemoize((schemas: SchemaMap) => schemasOf(schemas))
const noSchemas: SchemaMap = {}

function checkMembers(schema: JsonSchema, value: Members, location: ValueLocation, collector: ErrorCollector): number {
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY, properties = noSchemas, required: requiredNames = [] } = schema
  const names = Object.keys(value)
  const count = names.length
  if (count < minProperties) {
    collector.add(() => invalid(fieldOf(location), count, `${location.path} in body should have at least ${minProperties} properties`))
    return 0
  }
  if (count > maxProperties) {
    collector.add(() => tooMany(fieldOf(location), count, maxProperties))
    return 0
  }
  const below = (name: string): ValueLocation =>
    locationBelow(location, collector, () => (location.path === '' ? name : `${location.path}.${name}`))
  /** Starts with a period at the root, as in kube-apiserver. */
  const belowMap = (name: string): ValueLocation => locationBelow(location, collector, () => `${location.path}.${name}`)
  const others = schema.additionalProperties === undefined ? [] : names.filter((name) => !Object.hasOwn(properties, name))
  const additional = additionalSchema(schema)
  let checks = 0
  if (additional !== undefined) for (const name of others) checks += check(additional, value[name], belowMap(name), collector)
  for (const [name, property] of sortedSchemas(properties)) {
    if (Object.hasOwn(value, name)) checks += check(property, value[name], below(name), collector)
  }
  if (schema.additionalProperties === false) {
    for (const name of others)
      collector.add(() => invalid(fieldOf(location), name, `${location.path}.${name} in body is a forbidden property`))
  }
  for (const name of requiredNames) if (!Object.hasOwn(value, name)) collector.add(() => required(fieldOf(below(name))))
  return checks
}
