// Replays the tables of expressions: rules of definitions, and values of any type.

import { CelCompileError, compileExpression } from '../../src/cel/compile.js'
import { valueOfData, valueOfJson } from '../../src/cel/data.js'
import { estimateCost } from '../../src/cel/estimate.js'
import { compilePolicyExpression } from '../../src/cel/policy.js'
import { environmentOf, maxOccurrences, typeOfSchema, type ValueSchema, withTypeAndMetadata } from '../../src/cel/schema-type.js'
import { formatTimestamp } from '../../src/cel/time-text.js'
import { formatType } from '../../src/cel/types.js'
import { Uint } from '../../src/cel/uint.js'
import { CelUrl } from '../../src/cel/url.js'
import { CelError, CelList, CelMap, Duration, Timestamp, TypeValue, type Value } from '../../src/cel/values.js'
import { parseExactJson } from './exact-json.js'
import type { ReplayTable } from './tables.js'

/** Replays a table row by row; rows are named by what they say, as there is nothing else. */
export const replayRows =
  (replay: (row: Members) => Difference): ReplayTable =>
  async (text) => {
    const compared: string[] = []
    const differences = new Map<string, string>()
    for (const [i, row] of (parseExactJson(text) as readonly Members[]).entries()) {
      const name = `${i}: ${row['rule'] ?? row['expr'] ?? row['expression']}`
      compared.push(name)
      const difference = replay(row)
      if (difference !== undefined) differences.set(name, difference)
    }
    return { compared, differences }
  }

export type Members = { readonly [name: string]: unknown }

/** Limits and lengths of schemas are numbers. */
export const plainNumbers = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(plainNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainNumbers(member)]))
}

const callLimit = 1_000_000

/** What differs; undefined where nothing does. */
export type Difference = string | undefined

export const same = (what: string, ours: unknown, theirs: unknown): Difference => {
  const left = show(ours)
  const right = show(theirs)
  return left === right ? undefined : `${what}: ${left} instead of ${right}`
}

const show = (value: unknown): string =>
  JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? `${member}n` : member)) ?? 'undefined'

/** One case of cel.json. */
export function replayRule(row: Members): Difference {
  const schema = plainNumbers(row['schema']) as ValueSchema
  const rule = row['rule'] as string
  const expected = row['compile'] as Members
  const isRoot = row['resourceRoot'] === true || schema['x-kubernetes-embedded-resource'] === true
  if (rule.trim() === '') return same('empty', true, expected['empty'] ?? false)
  const root = typeOfSchema(schema, isRoot, 'selfType0')
  if (root === undefined) return same('no type', true, expected['noType'] ?? false)
  let program: ReturnType<typeof compileExpression>
  try {
    program = compileExpression(rule, environmentOf(root, ['self', 'oldSelf']))
    if (program.type.kind !== 'bool') throw new CelCompileError('cel expression must evaluate to a bool')
  } catch (thrown) {
    if (!(thrown instanceof CelCompileError)) throw thrown
    return same('compile error', thrown.message, expected['error'] ?? 'none')
  }
  if (expected['ok'] !== true) return `compiled, but should not: ${expected['error']}`
  const estimated = estimateCost(program.checked, root)
  const theirs = (expected['estimatedCost'] as Members)['max']
  const isUnbounded = estimated === (1n << 64n) - 1n
  const estimateDiffers = same('estimated', isUnbounded ? 'unbounded' : estimated, theirs)
  if (estimateDiffers !== undefined) return estimateDiffers
  const cardinality = same('cardinality', BigInt(maxOccurrences(root)), expected['maxCardinality'])
  if (cardinality !== undefined) return cardinality
  if (row['skipped'] === true) return undefined
  const whole = isRoot ? withTypeAndMetadata(schema) : schema
  const variables = {
    self: valueOfData(row['self'], whole),
    ...('oldSelf' in row ? { oldSelf: valueOfData(row['oldSelf'], whole) } : {}),
  }
  const { value, cost } = program.evaluate(variables, callLimit)
  const problem = value instanceof CelError ? value.message : undefined
  return (
    same('error', problem, row['error']) ??
    same('result', problem === undefined ? value : null, row['result']) ??
    (row['costVaries'] === true ? undefined : same('cost', BigInt(cost), row['actualCost']))
  )
}

/** One case of cel-values.json. */
export function replayValue(row: Members): Difference {
  const schema = plainNumbers(row['schema']) as ValueSchema
  const root = typeOfSchema(schema, false, 'selfType0')
  if (root === undefined) return 'no type'
  let program: ReturnType<typeof compileExpression>
  try {
    program = compileExpression(row['expr'] as string, environmentOf(root, ['self']))
  } catch (thrown) {
    if (!(thrown instanceof CelCompileError)) throw thrown
    return same('compile error', thrown.message, row['compileError'])
  }
  if (row['compileError'] !== undefined) return `compiled, but should not: ${row['compileError']}`
  const { value, cost } = program.evaluate({ self: valueOfData((row['vars'] as Members)['self'], schema) }, callLimit)
  const typeNames: Members = { timestamp: 'google.protobuf.Timestamp', duration: 'google.protobuf.Duration' }
  const type = formatType(program.type)
    .replace(/\b(timestamp|duration)\b/g, (name) => typeNames[name] as string)
    .replace(/^type\(.*\)$/, 'type')
  const problem = value instanceof CelError ? value.message : undefined
  return (
    same('type', type, row['type'] ?? type) ??
    same('error', problem, row['error']) ??
    (problem === undefined ? same('value', encode(value), row['value']) : undefined) ??
    (row['cost'] === undefined ? undefined : same('cost', BigInt(cost), row['cost']))
  )
}

/** One case of cel-policy.json. */
export function replayPolicy(row: Members): Difference {
  const expected = row['compile'] as Members
  let program: ReturnType<typeof compileExpression>
  try {
    program = compilePolicyExpression(row['expression'] as string, row['hasParams'] === true)
  } catch (thrown) {
    if (!(thrown instanceof CelCompileError)) throw thrown
    return same('compile error', thrown.message, expected['error'] ?? 'none')
  }
  if (expected['ok'] !== true) return `compiled, but should not: ${expected['error']}`
  const variables = Object.fromEntries(['object', 'oldObject', 'request', 'params'].map((name) => [name, valueOfJson(row[name])]))
  const { value } = program.evaluate(variables, callLimit)
  const problem = value instanceof CelError ? value.message : undefined
  return same('error', problem, row['error']) ?? same('result', problem === undefined ? value : null, row['result'])
}

function encode(value: Value): unknown {
  if (value instanceof Uint) return { $uint: value.value }
  if (typeof value === 'number') return { $double: encodeDouble(value) }
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') }
  if (value instanceof Timestamp) return { $timestamp: formatTimestamp({ nanos: value.nanos, offsetMinutes: 0 }) }
  if (value instanceof Duration) return { $duration: formatGoDuration(value.nanos) }
  if (value instanceof TypeValue) return { $type: value.name }
  if (value instanceof CelUrl) return { $url: value.href }
  if (value instanceof CelList) return Array.from({ length: value.size }, (_, i) => encode(value.at(i)))
  if (value instanceof CelMap) {
    const pairs = [...value.keys()].map((key) => [encode(key), encode(value.find(key) as Value)])
    return { $map: pairs.sort((a, b) => (show(a) < show(b) ? -1 : 1)) }
  }
  return value
}

const encodeDouble = (value: number): unknown => {
  if (Object.is(value, -0)) return '-0'
  if (!Number.isFinite(value)) return String(value)
  return Number.isInteger(value) ? BigInt(value) : value
}

function formatGoDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s'
  const magnitude = nanos < 0n ? -nanos : nanos
  const sign = nanos < 0n ? '-' : ''
  const decimal = (unit: bigint): string => {
    const fraction = String(magnitude % unit)
      .padStart(String(unit).length - 1, '0')
      .replace(/0+$/, '')
    return `${magnitude / unit}${fraction === '' ? '' : `.${fraction}`}`
  }
  if (magnitude < 1000n) return `${sign}${magnitude}ns`
  if (magnitude < 1_000_000n) return `${sign}${decimal(1000n)}µs`
  if (magnitude < 1_000_000_000n) return `${sign}${decimal(1_000_000n)}ms`
  const seconds = magnitude / 1_000_000_000n
  const hours = seconds / 3600n
  const minutes = (seconds / 60n) % 60n
  const rest = Number(magnitude % 60_000_000_000n) / 1e9
  return `${sign}${hours > 0n ? `${hours}h` : ''}${hours > 0n || minutes > 0n ? `${minutes}m` : ''}${rest}s`
}
