// Whether a value is right at first sight, by a test that is compiled once for each schema. Most objects are; whoever is told no has to look
// more closely, which also finds the words for what is wrong.

import { onceFor } from '../../../base/once-for.js'
import { isRecord } from '../../../schema/read.js'
import { additionalSchema, isEmbedded, isIntOrString, itemSchema, type JsonSchema } from '../json-schema.js'
import { matchesPattern } from '../pattern.js'
import { isOfFormat, knowsFormat } from './formats.js'

type Test = (value: unknown) => boolean

const testOf = onceFor((schema: JsonSchema): Test => withChoices(schema, compile(schema)))

/** True: neither the schema, nor the rules of embedded objects and of lists whose items differ, have anything against the value. */
export const isSurelyValid = (schema: JsonSchema, value: unknown): boolean => testOf(schema)(value)

const unsure: Test = () => false

/** Keywords of which only the closer look knows what they mean. */
const hardKeywords = ['oneOf', 'allOf', 'not', 'multipleOf', 'patternProperties', 'dependencies', '$ref'] as const

function compile(schema: JsonSchema): Test {
  if (hardKeywords.some((keyword) => schema[keyword] !== undefined) || isEmbedded(schema) || schema.uniqueItems === true) return unsure
  if (schema.anyOf !== undefined && !isIntOrString(schema)) return unsure
  if (isIntOrString(schema)) return intOrString(schema)
  switch (schema.type) {
    case 'string':
      return text(schema)
    case 'integer':
    case 'number':
      return number(schema)
    case 'boolean':
      return (value) => typeof value === 'boolean'
    case 'array':
      return list(schema)
    case 'object':
      return object(schema)
    default:
      return schema.type === undefined && schema.properties === undefined && schema.items === undefined ? anything(schema) : unsure
  }
}

/** Null, where it may stand, and values out of a list of plain ones. */
function withChoices(schema: JsonSchema, test: Test): Test {
  const { enum: values, nullable } = schema
  if (values !== undefined) {
    const plain = new Set(values.filter((value) => typeof value !== 'object'))
    return (value) => plain.has(value) && test(value)
  }
  return nullable === true ? (value) => value === null || test(value) : test
}

/** Nothing is said but that it may be anything. */
const anything = ({ format, pattern, minimum, maximum, maxLength, minLength }: JsonSchema): Test =>
  [format, pattern, minimum, maximum, maxLength, minLength].every((keyword) => keyword === undefined)
    ? (value) => value !== undefined && value !== null
    : unsure

const pair = /[\ud800-\udfff]/

function text({ maxLength, minLength = 0, pattern = '', format }: JsonSchema): Test {
  const most = maxLength ?? Number.POSITIVE_INFINITY
  const hasFormat = knowsFormat(format)
  return (value) => {
    if (typeof value !== 'string') return false
    // Letters are at most as many as units.
    if (value.length > most || value.length < minLength || (minLength > 0 && pair.test(value))) return false
    return (pattern === '' || matchesPattern(pattern, value)) && (!hasFormat || isOfFormat(format ?? '', value))
  }
}

function number(schema: JsonSchema): Test {
  const { type, format, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema
  const isNarrow = format !== undefined && !['int64', 'double'].includes(format)
  if (schema.exclusiveMinimum === true || schema.exclusiveMaximum === true) return unsure
  const [least, most] = isNarrow ? [Math.max(minimum, -(2 ** 31)), Math.min(maximum, 2 ** 31 - 1)] : [minimum, maximum]
  const isWhole = type === 'integer'
  return (value) => typeof value === 'number' && value >= least && value <= most && (!isWhole || Number.isSafeInteger(value))
}

function intOrString(schema: JsonSchema): Test {
  const { anyOf } = schema
  const isUsual = anyOf === undefined || anyOf.map((each) => `${Object.keys(each)} ${each.type}`).join() === 'type integer,type string'
  if (!isUsual) return unsure
  const [isNumber, isText] = [number({ ...schema, type: 'integer' }), text(schema)]
  return (value) => isNumber(value) || isText(value)
}

function list(schema: JsonSchema): Test {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
  const inner = itemSchema(schema)
  if (inner === undefined && schema.items !== undefined) return unsure
  const differ = distinct(schema)
  return (value) => {
    if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) return false
    if (inner !== undefined) {
      const test = testOf(inner)
      for (const item of value) if (!test(item)) return false
    }
    return differ(value)
  }
}

/** Whether items of sets and of keyed lists are certainly different; keys that are not plain are for the closer look. */
function distinct(schema: JsonSchema): (items: readonly unknown[]) => boolean {
  const type = schema['x-kubernetes-list-type']
  if (type !== 'set' && type !== 'map') return () => true
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const keyOf = (item: unknown): string | undefined => {
    if (type === 'set') return plainKey(item)
    if (!isRecord(item)) return undefined
    let all = ''
    for (const key of keys) {
      const own = plainKey(item[key])
      if (own === undefined) return undefined
      all += own
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

/** No two values have the same, one behind the other included. */
const plainKey = (value: unknown): string | undefined =>
  typeof value === 'string' ? `${value.length}"${value}` : typeof value === 'number' || typeof value === 'boolean' ? `${value};` : undefined

function object(schema: JsonSchema): Test {
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
      const own = inner.get(name) ?? additional
      if (own !== undefined ? !testOf(own)(value[name]) : isClosed) return false
    }
    if (isCounted && (count < minProperties || count > maxProperties)) return false
    for (const name of required) if (!Object.hasOwn(value, name)) return false
    return true
  }
}
