// Fast path of validation: a predicate compiled once per schema. If it is false, validateValue decides and builds the errors.

import { weakMemoize } from '../../../base/recent-map.js'
import { isRecord } from '../../../schema/json/read.js'
import { additionalSchema, isEmbedded, isIntOrString, itemSchema, type JsonSchema, matchesPattern } from '../schema/json-schema.js'
import { isKnownFormat, isOfFormat } from './string-formats.js'

type Test = (value: unknown) => boolean

const testOf = weakMemoize((schema: JsonSchema): Test => withNullAndEnum(schema, compile(schema)))

/** True if the value is certainly valid, list uniqueness included. */
export const passesFastValidation = (schema: JsonSchema, value: unknown): boolean => testOf(schema)(value)

const undecided: Test = () => false

const undecidedKeywords = ['oneOf', 'allOf', 'not', 'multipleOf', 'patternProperties', 'dependencies', '$ref'] as const

function compile(schema: JsonSchema): Test {
  if (undecidedKeywords.some((keyword) => schema[keyword] !== undefined) || isEmbedded(schema) || schema.uniqueItems === true)
    return undecided
  if (schema.anyOf !== undefined && !isIntOrString(schema)) return undecided
  if (isIntOrString(schema)) return intOrString(schema)
  switch (schema.type) {
    case 'string':
      return textTest(schema)
    case 'integer':
    case 'number':
      return numberTest(schema)
    case 'boolean':
      return (value) => typeof value === 'boolean'
    case 'array':
      return listTest(schema)
    case 'object':
      return objectTest(schema)
    default:
      return schema.type === undefined && schema.properties === undefined && schema.items === undefined ? anything(schema) : undecided
  }
}

/** Adds the checks of nullable and enum. */
function withNullAndEnum(schema: JsonSchema, test: Test): Test {
  const { enum: values, nullable } = schema
  if (values !== undefined) {
    const scalars = new Set(values.filter((value) => typeof value !== 'object'))
    return (value) => scalars.has(value) && test(value)
  }
  return nullable === true ? (value) => value === null || test(value) : test
}

const anything = ({ format, pattern, minimum, maximum, maxLength, minLength }: JsonSchema): Test =>
  [format, pattern, minimum, maximum, maxLength, minLength].every((keyword) => keyword === undefined)
    ? (value) => value !== undefined && value !== null
    : undecided

const surrogate = /[\ud800-\udfff]/

function textTest({ maxLength, minLength = 0, pattern = '', format }: JsonSchema): Test {
  const maxUnits = maxLength ?? Number.POSITIVE_INFINITY
  const hasFormat = isKnownFormat(format)
  return (value) => {
    if (typeof value !== 'string') return false
    // The UTF-16 length is an upper bound of the number of characters.
    if (value.length > maxUnits || value.length < minLength || (minLength > 0 && surrogate.test(value))) return false
    return (pattern === '' || matchesPattern(pattern, value)) && (!hasFormat || isOfFormat(format ?? '', value))
  }
}

function numberTest(schema: JsonSchema): Test {
  const { type, format } = schema
  const minimum = Number(schema.minimum ?? Number.NEGATIVE_INFINITY)
  const maximum = Number(schema.maximum ?? Number.POSITIVE_INFINITY)
  const hasNarrowFormat = format !== undefined && !['int64', 'double'].includes(format)
  if (schema.exclusiveMinimum === true || schema.exclusiveMaximum === true) return undecided
  const [min, max] = hasNarrowFormat ? [Math.max(minimum, -(2 ** 31)), Math.min(maximum, 2 ** 31 - 1)] : [minimum, maximum]
  const isWhole = type === 'integer'
  return (value) => typeof value === 'number' && value >= min && value <= max && (!isWhole || Number.isSafeInteger(value))
}

function intOrString(schema: JsonSchema): Test {
  const { anyOf } = schema
  const isUsual =
    anyOf === undefined || anyOf.map((choice) => `${Object.keys(choice)} ${choice.type}`).join() === 'type integer,type string'
  if (!isUsual) return undecided
  const [isNumber, isText] = [numberTest({ ...schema, type: 'integer' }), textTest(schema)]
  return (value) => isNumber(value) || isText(value)
}

function listTest(schema: JsonSchema): Test {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
  const inner = itemSchema(schema)
  if (inner === undefined && schema.items !== undefined) return undecided
  const areDistinct = distinctTest(schema)
  return (value) => {
    if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) return false
    if (inner !== undefined) {
      const test = testOf(inner)
      for (const item of value) if (!test(item)) return false
    }
    return areDistinct(value)
  }
}

function distinctTest(schema: JsonSchema): (items: readonly unknown[]) => boolean {
  const type = schema['x-kubernetes-list-type']
  if (type !== 'set' && type !== 'map') return () => true
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const keyOf = (item: unknown): string | undefined => {
    if (type === 'set') return scalarKey(item)
    if (!isRecord(item)) return undefined
    let all = ''
    for (const key of keys) {
      const keyPart = scalarKey(item[key])
      if (keyPart === undefined) return undefined
      all += keyPart
    }
    return all
  }
  return (items) => {
    if (items.length < 2) return type === 'set' || items.every(isRecord)
    const seen = new Set<string>()
    for (const item of items) {
      const key = keyOf(item)
      if (key === undefined || seen.has(key)) return false
      seen.add(key)
    }
    return true
  }
}

const scalarKey = (value: unknown): string | undefined =>
  typeof value === 'string' ? `${value.length}"${value}` : typeof value === 'number' || typeof value === 'boolean' ? `${value};` : undefined

function objectTest(schema: JsonSchema): Test {
  const { properties = {}, required = [], minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema
  const inner = new Map(Object.entries(properties))
  const additional = additionalSchema(schema)
  const isClosed = schema.additionalProperties === false
  const isCounted = minProperties > 0 || maxProperties < Number.POSITIVE_INFINITY
  return (value) => {
    if (!isRecord(value)) return false
    let count = 0
    for (const name in value) {
      if (!Object.hasOwn(value, name)) return false
      count++
      const memberSchema = inner.get(name) ?? additional
      if (memberSchema !== undefined ? !testOf(memberSchema)(value[name]) : isClosed) return false
    }
    if (isCounted && (count < minProperties || count > maxProperties)) return false
    for (const name of required) if (!Object.hasOwn(value, name)) return false
    return true
  }
}
