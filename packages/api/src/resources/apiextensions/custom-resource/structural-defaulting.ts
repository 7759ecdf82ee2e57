// Defaulting by structural schemas: sets the defaults of absent fields, and of null fields that are not nullable. Limits their size.

import { requestEntityTooLarge } from '../../../api/api-error.js'
import type { RuleContext } from '../../../api/definition/resource-definition.js'
import { weakMemoize } from '../../../base/recent-map.js'
import { roundLargeIntegers } from '../../../schema/json/pruning.js'
import { isRecord, setMember } from '../../../schema/json/read.js'
import { writeAny } from '../../../schema/json/write.js'
import { additionalSchema, defaultOf, isEmbedded, isResourceMember, itemSchema, type JsonSchema } from '../schema/json-schema.js'

const maxAddedBytes = 512 << 10

export interface DefaultingBudget {
  /** Returns false, or throws, if the budget does not cover these bytes. */
  spend(bytes: number): boolean
}

/** Bytes of defaults above which an object counts as large, whatever the size of its body. */
const largeAddedBytes = 64 << 10

export class RequestDefaultingBudget implements DefaultingBudget {
  readonly #context: Pick<RuleContext, 'markLarge'>
  #bytes = 0

  constructor(context: Pick<RuleContext, 'markLarge'> = {}) {
    this.#context = context
  }

  spend(bytes: number): boolean {
    this.#bytes += bytes
    if (this.#bytes > largeAddedBytes) this.#context.markLarge?.()
    if (this.#bytes > maxAddedBytes) throw requestEntityTooLarge(`defaults add more than ${maxAddedBytes} bytes to the object`)
    return true
  }
}

/** Budget for stored objects: stops defaulting instead of failing, so that they can be read and deleted. */
export class StoredDefaultingBudget implements DefaultingBudget {
  #left = maxAddedBytes

  spend(bytes: number): boolean {
    this.#left -= bytes
    return this.#left >= 0
  }
}

/** Caches whether a schema has defaults anywhere. */
const defaultsCache = new WeakMap<JsonSchema, boolean>()

function hasDefaults(schema: JsonSchema | undefined): boolean {
  if (schema === undefined) return false
  const cached = defaultsCache.get(schema)
  if (cached !== undefined) return cached
  const has =
    defaultOf(schema) !== undefined ||
    hasDefaults(itemSchema(schema)) ||
    hasDefaults(additionalSchema(schema)) ||
    Object.values(schema.properties ?? {}).some(hasDefaults)
  defaultsCache.set(schema, has)
  return has
}

const sizeOf = weakMemoize((schema: JsonSchema): number => writeAny(schema.default).length)

/** Sets defaults within the budget. Returns the same value if nothing is missing. */
export function withDefaults(value: unknown, schema: JsonSchema | undefined, budget: DefaultingBudget): unknown {
  if (schema === undefined || !hasDefaults(schema)) return value
  if (Array.isArray(value)) {
    const inner = itemSchema(schema)
    return mapIfChanged(value, (item) => withDefaults(defaultForNull(item, inner, budget), inner, budget))
  }
  return isRecord(value) ? withMembers(value, schema, budget) : value
}

function mapIfChanged(items: readonly unknown[], map: (item: unknown) => unknown): readonly unknown[] {
  const next = items.map(map)
  return next.every((item, i) => item === items[i]) ? items : next
}

function defaultForNull(value: unknown, schema: JsonSchema | undefined, budget: DefaultingBudget): unknown {
  if (value !== null || schema === undefined || schema.nullable === true || defaultOf(schema) === undefined) return value
  return budget.spend(sizeOf(schema)) ? roundLargeIntegers(schema.default) : value
}

function withMembers(value: Record<string, unknown>, schema: JsonSchema, budget: DefaultingBudget): Record<string, unknown> {
  let next: Record<string, unknown> | undefined
  const put = (name: string, member: unknown): void => {
    next ??= { ...value }
    setMember(next, name, member)
  }
  const isResource = isEmbedded(schema)
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if ((isResource && isResourceMember(name)) || !hasDefaults(property)) continue
    const isPresent = Object.hasOwn(value, name)
    const member = isPresent ? value[name] : undefined
    const needsDefault = (!isPresent || (member === null && property.nullable !== true)) && defaultOf(property) !== undefined
    const isDefaulted = needsDefault && budget.spend(sizeOf(property) + name.length)
    const filled = withDefaults(isDefaulted ? roundLargeIntegers(structuredClone(property.default)) : member, property, budget)
    if (filled !== member) put(name, filled)
  }
  const additional = additionalSchema(schema)
  if (hasDefaults(additional)) {
    for (const [name, member] of Object.entries(value)) {
      if (schema.properties !== undefined && Object.hasOwn(schema.properties, name)) continue
      const filled = withDefaults(defaultForNull(member, additional, budget), additional, budget)
      if (filled !== member) put(name, filled)
    }
  }
  return next ?? value
}
