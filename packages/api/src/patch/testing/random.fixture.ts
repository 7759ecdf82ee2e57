// Random schemas and values for property tests.

import * as s from '../../schema/node.js'

export type Plain = { readonly [name: string]: unknown }
export type Random = () => number

export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

export const pick = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
const some = <T>(random: Random, all: readonly T[]): readonly T[] => {
  const chosen = all.filter(() => random() < 0.5)
  return chosen.length === 0 ? [pick(random, all)] : chosen
}

const optional = { pointer: true }
const names = ['a', 'b', 'c'] as const

function randomNode(random: Random, depth: number): s.SchemaNode {
  const kind = Math.floor(random() * (depth > 0 ? 9 : 3))
  switch (kind) {
    case 0:
      return s.string
    case 1:
      return s.list(s.string, { listType: pick(random, ['atomic', 'set'] as const) })
    case 2:
      return s.map(s.string, { mapType: pick(random, ['atomic', 'granular'] as const) })
    case 3:
    case 4:
      return s.struct('Part', fields(random, depth - 1), { mapType: random() < 0.2 ? 'atomic' : 'granular' })
    case 5:
    case 6:
      return s.list(s.struct('Item', { id: s.jsonField(s.string, optional), ...fields(random, depth - 1) }), {
        listType: 'map',
        keys: ['id'],
      })
    case 7:
      return s.map(s.struct('Value', fields(random, depth - 1)))
    default:
      return { type: 'any', form: 'json', granular: true }
  }
}

const fields = (random: Random, depth: number): s.FieldTable =>
  Object.fromEntries(
    ['x', 'y', 'z']
      .slice(0, 1 + Math.floor(random() * 3))
      .map((name) => [name, s.jsonField(randomNode(random, depth), random() < 0.3 ? {} : optional)]),
  )

const metadata = s.struct('Meta', { name: s.jsonField(s.string) })
export const randomSchema = (random: Random): s.StructNode =>
  s.struct('Thing', { metadata: s.jsonField(metadata), ...fields(random, 3) }, { typeMeta: true })

/** Value without empty containers, so that every field has an owner. */
export function randomValue(random: Random, node: s.SchemaNode): unknown {
  switch (node.type) {
    case 'list':
      if (node.item.type === 'string') return some(random, names)
      return some(random, names).map((id) => ({ ...(randomValue(random, node.item) as Plain), id }))
    case 'map':
      return Object.fromEntries(some(random, names).map((name) => [name, randomValue(random, node.value)]))
    case 'struct': {
      const names = some(
        random,
        Object.keys(node.fields).filter((name) => name !== 'id' && name !== 'metadata'),
      )
      return Object.fromEntries(names.map((name) => [name, randomValue(random, (node.fields[name] as s.Field).node)]))
    }
    case 'any':
      return Object.fromEntries(
        some(random, names).map((name) => [name, random() < 0.3 ? { deep: pick(random, names) } : pick(random, names)]),
      )
    default:
      return pick(random, names)
  }
}

/** Changes some strings, but neither items of sets nor keys of list items, so that the field set stays the same. */
export function withOtherValues(random: Random, value: unknown): unknown {
  if (typeof value === 'string') return random() < 0.3 ? `${pick(random, names)}${pick(random, names)}` : value
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'string' ? item : withOtherValues(random, item)))
  return Object.fromEntries(
    Object.entries(value as Plain).map(([name, member]) => [name, name === 'id' ? member : withOtherValues(random, member)]),
  )
}
