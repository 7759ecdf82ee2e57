// Defaults of structural schemas: what an object leaves out is filled in, and null where none may be counts as left out.

import { isRecord, setMember } from '../../../schema/read.js'
import { additionalSchema, defaultOf, isEmbedded, isResourceMember, itemSchema, type JsonSchema } from '../json-schema.js'

/** Schemas without any default need no walk. */
const defaulting = new WeakMap<JsonSchema, boolean>()

function hasDefaults(schema: JsonSchema | undefined): boolean {
  if (schema === undefined) return false
  const known = defaulting.get(schema)
  if (known !== undefined) return known
  const has =
    defaultOf(schema) !== undefined ||
    hasDefaults(itemSchema(schema)) ||
    hasDefaults(additionalSchema(schema)) ||
    Object.values(schema.properties ?? {}).some(hasDefaults)
  defaulting.set(schema, has)
  return has
}

/** The value with its defaults; the same one where nothing is missing. */
export function withDefaults(value: unknown, schema: JsonSchema | undefined): unknown {
  if (schema === undefined || !hasDefaults(schema)) return value
  if (Array.isArray(value)) return mapped(value, (item) => withDefaults(nullOrDefault(item, itemSchema(schema)), itemSchema(schema)))
  return isRecord(value) ? withMembers(value, schema) : value
}

function mapped(items: readonly unknown[], map: (item: unknown) => unknown): readonly unknown[] {
  const next = items.map(map)
  return next.every((item, i) => item === items[i]) ? items : next
}

/** In place of a null that may not be there. */
const nullOrDefault = (value: unknown, schema: JsonSchema | undefined): unknown =>
  value === null && schema?.nullable !== true ? (defaultOf(schema) ?? value) : value

function withMembers(value: Record<string, unknown>, schema: JsonSchema): Record<string, unknown> {
  let next: Record<string, unknown> | undefined
  const put = (name: string, member: unknown): void => {
    next ??= { ...value }
    setMember(next, name, member)
  }
  const isResource = isEmbedded(schema)
  for (const [name, own] of Object.entries(schema.properties ?? {})) {
    if ((isResource && isResourceMember(name)) || !hasDefaults(own)) continue
    const isThere = Object.hasOwn(value, name)
    const member = isThere ? value[name] : undefined
    const needs = !isThere || (member === null && own.nullable !== true)
    const filled = withDefaults(needs && defaultOf(own) !== undefined ? structuredClone(own.default) : member, own)
    if (filled !== member) put(name, filled)
  }
  const additional = additionalSchema(schema)
  if (hasDefaults(additional)) {
    for (const [name, member] of Object.entries(value)) {
      if (schema.properties !== undefined && Object.hasOwn(schema.properties, name)) continue
      const filled = withDefaults(nullOrDefault(member, additional), additional)
      if (filled !== member) put(name, filled)
    }
  }
  return next ?? value
}
