// Atomic values as the Go types serialize them, with nulls and zeros of unset fields that an applied configuration lacks.

import { weakMemoize } from '../../base/recent-map.js'
import { sentEmptyNames } from '../../schema/json/sent-empty.js'
import type { StructTopology, Topology } from '../../schema/topology.js'
import { isEqual, isRecord, type Members, serializedMember, setOwn } from '../json-value.js'

/** True if the live value, once serialized, equals the applied one. */
export const equalsSerialized = (node: Topology, live: unknown, config: unknown): boolean =>
  isEqual(addsFields(node) ? serialize(node, live) : live, config)

/** Equality, except for nulls and zeros that serialization adds. In an atomic list, a list sent empty differs from an absent one. */
export const serializeEqually = (node: Topology, live: unknown, next: unknown): boolean =>
  (isEqual(live, next) || (addsFields(node) && isEqual(serialize(node, live), serialize(node, next)))) &&
  !(node.kind === 'list' && hasListFields(node) && hasEmptyList(node, next))

/** True if a struct in the value was sent with an empty list. */
function hasEmptyList(node: Topology, value: unknown): boolean {
  if (node.kind === 'list') return Array.isArray(value) && value.some((item) => hasEmptyList(node.item, item))
  if (!isRecord(value) || node.kind === 'scalar' || node.kind === 'any') return false
  if (node.kind === 'map') return Object.values(value).some((member) => hasEmptyList(node.value, member))
  if (sentEmptyNames(value).some((name) => node.fields.get(name)?.node.kind === 'list')) return true
  for (const { name, node: inner } of fieldsWithLists(node)) if (hasEmptyList(inner, value[name])) return true
  return false
}

/** Fields whose values may contain a struct with a list. */
const fieldsWithLists = weakMemoize(({ ordered }: StructTopology) => ordered.filter((field) => hasListFields(field.node)))

function serialize(node: Topology, value: unknown): unknown {
  if (!addsFields(node)) return value
  if (node.kind === 'list') return Array.isArray(value) ? value.map((item) => serialize(node.item, item)) : value
  if (!isRecord(value)) return value
  if (node.kind === 'struct') return serializeStruct(node, value)
  if (node.kind !== 'map') return value
  const out: { [name: string]: unknown } = {}
  for (const name in value) setOwn(out, name, serialize(node.value, value[name]))
  return out
}

function serializeStruct(node: StructTopology, value: Members): Members {
  const out: { [name: string]: unknown } = { ...value }
  for (const field of node.ordered) {
    const member = serializedMember(field, value)
    if (member === undefined) delete out[field.name]
    else out[field.name] = serialize(field.node, member)
  }
  return out
}

/** True if serialization can add fields to a value. */
const addsFields = anyStruct(({ implied }) => implied.length > 0)

const hasListFields = anyStruct(({ ordered }) => ordered.some((field) => field.node.kind === 'list'))

/** A memoized test whether a struct in a topology has a property. */
function anyStruct(hasProperty: (struct: StructTopology) => boolean): (node: Topology) => boolean {
  const results = new WeakMap<Topology, boolean>()
  const test = (node: Topology): boolean => {
    const found = results.get(node)
    if (found !== undefined) return found
    // Ends the recursion of recursive types.
    results.set(node, false)
    const result = testOnce(node)
    results.set(node, result)
    return result
  }
  const testOnce = (node: Topology): boolean => {
    switch (node.kind) {
      case 'scalar':
      case 'any':
        return false
      case 'list':
        return test(node.item)
      case 'map':
        return test(node.value)
      case 'struct':
        return hasProperty(node) || node.ordered.some((field) => test(field.node))
    }
  }
  return test
}
