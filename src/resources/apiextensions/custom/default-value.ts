// Defaults of structural schemas: what an object leaves out is filled in, and null where none may be counts as left out.

import { onceFor } from '../../../base/once-for.js'
import { isRecord, setMember } from '../../../schema/read.js'
import { additionalSchema, defaultOf, isEmbedded, isResourceMember, itemSchema, type JsonSchema } from '../json-schema.js'
import type { Filling } from './filling.js'

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

/** What a default adds to an object, in bytes of JSON. */
const sizeOf = onceFor((schema: JsonSchema): number => JSON.stringify(schema.default).length)

/** The value with its defaults, of which no more is filled in than there is room for; the same one where nothing is missing. */
export function withDefaults(value: unknown, schema: JsonSchema | undefined, filling: Filling): unknown {
  if (schema === undefined || !hasDefaults(schema)) return value
  if (Array.isArray(value)) {
    const inner = itemSchema(schema)
    return mapped(value, (item) => withDefaults(nullOrDefault(item, inner, filling), inner, filling))
  }
  return isRecord(value) ? withMembers(value, schema, filling) : value
}

function mapped(items: readonly unknown[], map: (item: unknown) => unknown): readonly unknown[] {
  const next = items.map(map)
  return next.every((item, i) => item === items[i]) ? items : next
}

/** In place of a null that may not be there. */
function nullOrDefault(value: unknown, schema: JsonSchema | undefined, filling: Filling): unknown {
  if (value !== null || schema === undefined || schema.nullable === true || defaultOf(schema) === undefined) return value
  return filling.hasRoomFor(sizeOf(schema)) ? schema.default : value
}

function withMembers(value: Record<string, unknown>, schema: JsonSchema, filling: Filling): Record<string, unknown> {
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
    const needs = (!isThere || (member === null && own.nullable !== true)) && defaultOf(own) !== undefined
    const isFilled = needs && filling.hasRoomFor(sizeOf(own) + name.length)
    const filled = withDefaults(isFilled ? structuredClone(own.default) : member, own, filling)
    if (filled !== member) put(name, filled)
  }
  const additional = additionalSchema(schema)
  if (hasDefaults(additional)) {
    for (const [name, member] of Object.entries(value)) {
      if (schema.properties !== undefined && Object.hasOwn(schema.properties, name)) continue
      const filled = withDefaults(nullOrDefault(member, additional, filling), additional, filling)
      if (filled !== member) put(name, filled)
    }
  }
  return next ?? value
}
