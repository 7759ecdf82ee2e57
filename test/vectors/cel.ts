// Replays the tables of CEL: CRD rules, policies, and values of any type.

import { CelCompileError, compileExpression } from '../../packages/api/src/cel/compile.js'
import { estimateCost } from '../../packages/api/src/cel/cost/estimate-cost.js'
import { compilePolicyExpression } from '../../packages/api/src/cel/policy-expression.js'
import {
  environmentOf,
  maxOccurrences,
  typeOfSchema,
  type ValueSchema,
  withTypeAndMetadata,
} from '../../packages/api/src/cel/types/structural-schema-types.js'
import { formatType } from '../../packages/api/src/cel/types/types.js'
import { valueBySchema, valueOfJson } from '../../packages/api/src/cel/values/json-values.js'
import { formatTimestamp } from '../../packages/api/src/cel/values/time-formats.js'
import { Uint } from '../../packages/api/src/cel/values/uint.js'
import { CelUrl } from '../../packages/api/src/cel/values/url.js'
import { CelError, CelList, CelMap, Duration, Timestamp, TypeValue, type Value } from '../../packages/api/src/cel/values/values.js'
import { parseExactJson } from './exact-json.js'
import type { ReplayTable } from './tables.js'

/** Replays a table row by row; rows are named by their content. */
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

/** Converts all bigints to numbers, as schemas have them. */
export const toNumbers = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(toNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toNumbers(member)]))
}

/** Integers beyond 2^53 stay bigints, as the server parses them. */
export const toServerNumbers = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (Array.isArray(value)) return value.map(toServerNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toServerNumbers(member)]))
}

const maxCost = 1_000_000

/** The difference; undefined if there is none. */
export type Difference = string | undefined

export const differenceBetween = (name: string, ours: unknown, theirs: unknown): Difference => {
  const left = show(ours)
  const right = show(theirs)
  return left === right ? undefined : `${name}: ${left} instead of ${right}`
}

const show = (value: unknown): string =>
  JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? `${member}n` : member)) ?? 'undefined'

/** One case of cel.json. */
export function replayRule(row: Members): Difference {
  const schema = toNumbers(row['schema']) as ValueSchema
  const rule = row['rule'] as string
  const expected = row['compile'] as Members
  const isRoot = row['resourceRoot'] === true || schema['x-kubernetes-embedded-resource'] === true
  if (rule.trim() === '') return differenceBetween('empty', true, expected['empty'] ?? false)
  const root = typeOfSchema(schema, isRoot, 'selfType0')
  if (root === undefined) return differenceBetween('no type', true, expected['noType'] ?? false)
  let program: ReturnType<typeof compileExpression>
  try {
    program = compileExpression(rule, environmentOf(root, ['self', 'oldSelf']))
    if (program.type.kind !== 'bool') throw new CelCompileError('cel expression must evaluate to a bool')
  } catch (thrown) {
    if (!(thrown instanceof CelCompileError)) throw thrown
    return differenceBetween('compile error', thrown.message, expected['error'] ?? 'none')
  }
  if (expected['ok'] !== true) return `compiled, but should not: ${expected['error']}`
  const estimated = estimateCost(program.checked, root)
  const theirs = (expected['estimatedCost'] as Members)['max']
  const isUnbounded = estimated === (1n << 64n) - 1n
  const estimateDiffers = differenceBetween('estimated', isUnbounded ? 'unbounded' : estimated, theirs)
  if (estimateDiffers !== undefined) return estimateDiffers
  const cardinality = differenceBetween('cardinality', BigInt(maxOccurrences(root)), expected['maxCardinality'])
  if (cardinality !== undefined) return cardinality
  if (row['skipped'] === true) return undefined
  const whole = isRoot ? withTypeAndMetadata(schema) : schema
  const variables = {
    self: valueBySchema(row['self'], whole),
    ...('oldSelf' in row ? { oldSelf: valueBySchema(row['oldSelf'], whole) } : {}),
  }
  const { value, cost } = program.evaluate(variables, maxCost)
  const problem = value instanceof CelError ? value.message : undefined
  return (
    differenceBetween('error', problem, row['error']) ??
    differenceBetween('result', problem === undefined ? value : null, row['result']) ??
    (row['costVaries'] === true ? undefined : differenceBetween('cost', BigInt(cost), row['actualCost']))
  )
}

/** One case of cel-values.json. */
export function replayValue(row: Members): Difference {
  const schema = toNumbers(row['schema']) as ValueSchema
  const root = typeOfSchema(schema, false, 'selfType0')
  if (root === undefined) return 'no type'
  let program: ReturnType<typeof compileExpression>
  try {
    program = compileExpression(row['expr'] as string, environmentOf(root, ['self']))
  } catch (thrown) {
    if (!(thrown instanceof CelCompileError)) throw thrown
    return differenceBetween('compile error', thrown.message, row['compileError'])
  }
  if (row['compileError'] !== undefined) return `compiled, but should not: ${row['compileError']}`
  const { value, cost } = program.evaluate({ self: valueBySchema((row['vars'] as Members)['self'], schema) }, maxCost)
  const typeNames: Members = { timestamp: 'google.protobuf.Timestamp', duration: 'google.protobuf.Duration' }
  const type = formatType(program.type)
    .replace(/\b(timestamp|duration)\b/g, (name) => typeNames[name] as string)
    .replace(/^type\(.*\)$/, 'type')
  const problem = value instanceof CelError ? value.message : undefined
  return (
    differenceBetween('type', type, row['type'] ?? type) ??
    differenceBetween('error', problem, row['error']) ??
    (problem === undefined ? differenceBetween('value', encode(value), row['value']) : undefined) ??
    (row['cost'] === undefined ? undefined : differenceBetween('cost', BigInt(cost), row['cost']))
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
    return differenceBetween('compile error', thrown.message, expected['error'] ?? 'none')
  }
  if (expected['ok'] !== true) return `compiled, but should not: ${expected['error']}`
  const variables = Object.fromEntries(['object', 'oldObject', 'request', 'params'].map((name) => [name, valueOfJson(row[name])]))
  const { value } = program.evaluate(variables, maxCost)
  const problem = value instanceof CelError ? value.message : undefined
  return (
    differenceBetween('error', problem, row['error']) ?? differenceBetween('result', problem === undefined ? value : null, row['result'])
  )
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
