// Random requests by seed. Requests do not depend on responses, so that a failing sequence can be shortened.

import type { Random } from '../kit/seeded-random.js'
import type { Kind } from './kinds.js'
import type { Write } from './model.js'
import type { Operation } from './patches.js'
import type { Fields, Value } from './values.js'

export interface ListRequest {
  readonly verb: 'list'
  readonly limit?: number
  readonly fieldName?: string
  readonly label?: string
}

export type Request = Write | ListRequest

const managers = ['m1', 'm2', 'm3']
const names = ['a', 'b', 'c']
const texts = ['x', 'y', 'zz', 'abcdef']
const integers: readonly Value[] = [0, 1, 5, -5, 1000000001, 2147483648, 9007199254740993n, 9223372036854775807n]
const floats: readonly Value[] = [1.5, 1e21, 9223372036854775808n, -0.25]

/** Generates a random value of a field. */
type ValueGenerator = (random: Random, isApply: boolean) => Value

const text: ValueGenerator = (random) => random.pick(texts)
const short: ValueGenerator = (random) => random.pick(['x', 'y', 'z'])
/** An applied configuration has only values of the right type: others fail before schema validation. */
const integer: ValueGenerator = (random, isApply) =>
  isApply || random.below(4) > 0 ? random.pick(integers) : random.pick([...floats, 'x', null])
const nullable: ValueGenerator = (random) => (random.below(3) === 0 ? null : random.pick(texts))

const fieldsOf =
  (fields: Readonly<Record<string, ValueGenerator>>, required: readonly string[] = []): ValueGenerator =>
  (random, isApply) => {
    const chosen = Object.keys(fields).filter((name) => required.includes(name) || random.below(3) === 0)
    return Object.fromEntries(chosen.map((name) => [name, fields[name]?.(random, isApply) ?? null]))
  }

const listOf =
  (item: ValueGenerator, isUnique: boolean): ValueGenerator =>
  (random, isApply) => {
    const items = Array.from({ length: 1 + random.below(3) }, () => item(random, isApply))
    if (!isUnique && !isApply) return items
    const keyOf = (value: Value): string => JSON.stringify((value as Fields)?.['k'] ?? (value as Fields)?.['name'] ?? String(value))
    return items.filter((value, i) => items.findIndex((other) => keyOf(other) === keyOf(value)) === i)
  }

const mapOf =
  (value: ValueGenerator): ValueGenerator =>
  (random, isApply) =>
    Object.fromEntries(Array.from({ length: 1 + random.below(2) }, () => [random.pick(['k1', 'k2', 'k3']), value(random, isApply)]))

const anything: ValueGenerator = (random, isApply) =>
  random.below(3) > 0
    ? random.pick<Value>(['x', 1, true, 1.5])
    : random.below(2) === 0
      ? [anything(random, isApply)]
      : { q: anything(random, isApply) }

const widgetSpec: Readonly<Record<string, ValueGenerator>> = {
  s: text,
  i: integer,
  e: integer,
  f: integer,
  n: (random) => random.pick([...integers, ...floats]),
  b: (random) => random.below(2) === 0,
  d: integer,
  ns: nullable,
  set: listOf(short, false),
  lm: listOf(fieldsOf({ k: short, v: (random) => random.below(5), w: nullable }, ['k']), false),
  at: listOf(fieldsOf({ x: short, y: nullable }, ['x']), false),
  m: mapOf(text),
  o: fieldsOf({ a: text, b: (random) => random.below(5) }),
  p: (random, isApply) => ({ q: anything(random, isApply), [random.pick(['r', 't'])]: anything(random, isApply) }),
}

const reference = listOf(fieldsOf({ name: short }, ['name']), true)
const bodies: Readonly<Record<string, Readonly<Record<string, ValueGenerator>>>> = {
  Widget: { spec: fieldsOf(widgetSpec) },
  ConfigMap: { data: mapOf(text) },
  ServiceAccount: { secrets: reference, imagePullSecrets: reference },
}

export class Generator {
  readonly #random: Random
  readonly #kind: Kind

  constructor(random: Random, kind: Kind) {
    this.#random = random
    this.#kind = kind
  }

  next(): Request {
    const random = this.#random
    const manager = random.pick(managers)
    const name = random.pick(names)
    switch (
      random.pick(['create', 'create', 'update', 'update', 'merge', 'merge', 'json', 'apply', 'apply', 'apply', 'delete', 'list'] as const)
    ) {
      case 'create':
        return { verb: 'create', manager, name, body: this.#body(false) }
      case 'update':
        return {
          verb: 'update',
          manager,
          name,
          body: this.#body(false),
          version: random.pick(['current', 'current', 'current', 'stale', 'absent']),
        }
      case 'merge':
        return { verb: 'merge', manager, name, body: this.#mergeBody() }
      case 'json':
        return { verb: 'json', manager, name, operations: Array.from({ length: 1 + random.below(2) }, () => this.#operation()) }
      case 'apply':
        return { verb: 'apply', manager, name, body: this.#body(true), force: random.below(3) === 0 }
      case 'delete':
        return { verb: 'delete', manager, name }
      default:
        return this.#list()
    }
  }

  #list(): ListRequest {
    const random = this.#random
    return {
      verb: 'list',
      ...(random.below(2) === 0 ? { limit: 1 + random.below(2) } : {}),
      ...(random.below(3) === 0 ? { fieldName: random.pick(names) } : {}),
      ...(random.below(3) === 0 ? { label: random.pick(['k1=x', 'k1', '!k1', 'k1 in (x,y)', 'k1!=x']) } : {}),
    }
  }

  #body(isApply: boolean): Fields {
    const random = this.#random
    const fields = Object.entries(bodies[this.#kind.name] ?? {}).filter(() => random.below(4) > 0)
    const body = Object.fromEntries(fields.map(([name, field]) => [name, field(random, isApply)]))
    const unknown = !isApply && random.below(6) === 0 ? { unknownField: 1 } : {}
    const hasLabels = isApply || random.below(2) === 0
    return { ...(hasLabels ? { metadata: { labels: mapOf(short)(random, isApply) } } : {}), ...body, ...unknown }
  }

  /** A body in which some members are null. */
  #mergeBody(): Fields {
    const random = this.#random
    const withDeletions = (value: Value, depth: number): Value => {
      if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return value
      const members = Object.entries(value).map(([name, member]) => [name, random.below(5) === 0 ? null : withDeletions(member, depth - 1)])
      return Object.fromEntries(members)
    }
    const { metadata, ...body } = this.#body(false)
    const labels = random.below(2) === 0 ? { metadata: { labels: { [random.pick(['k1', 'k2'])]: random.pick([null, 'x']) } } } : {}
    return { ...(withDeletions(body, 3) as Fields), ...labels }
  }

  #operation(): Operation {
    const random = this.#random
    const root = random.pick(Object.keys(bodies[this.#kind.name] ?? {}))
    const body = bodies[this.#kind.name]?.[root]?.(random, false) ?? null
    const member = typeof body === 'object' && body !== null && !Array.isArray(body) ? random.pick(Object.keys(body)) : undefined
    const isWhole = member === undefined || random.below(4) === 0
    const op = random.pick(['add', 'add', 'replace', 'remove', 'test'] as const)
    const path = isWhole ? `/${root}` : `/${root}/${member}`
    const value = isWhole ? body : ((body as Fields)[member] ?? null)
    return { op, path, ...(op === 'remove' ? {} : { value }) }
  }
}
