// Dropping what a structural schema does not know: a member stays if the schema names it, allows any name, or keeps unknown ones.

import { additionalSchema, isEmbedded, isResourceMember, itemSchema, type JsonSchema, keepsUnknown } from '../json-schema.js'

type Members = { readonly [name: string]: unknown }

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The same value where nothing is dropped from it. */
export function pruneValue(value: unknown, schema: JsonSchema | undefined): unknown {
  if (Array.isArray(value)) return pruneItems(value, schema === undefined ? undefined : itemSchema(schema))
  return isMembers(value) ? pruneMembers(value, schema) : value
}

function pruneItems(items: readonly unknown[], schema: JsonSchema | undefined): readonly unknown[] {
  const kept = items.map((item) => pruneValue(item, schema))
  return kept.every((item, i) => item === items[i]) ? items : kept
}

function pruneMembers(value: Members, schema: JsonSchema = {}): Members {
  const kept: [string, unknown][] = []
  let isSame = true
  for (const [name, member] of Object.entries(value)) {
    const known = memberRule(schema, name)
    const next = known.schema === 'any' ? member : pruneValue(member, known.schema)
    if (known.isKept) kept.push([name, next])
    isSame &&= known.isKept && next === member
  }
  return isSame ? value : Object.fromEntries(kept)
}

interface MemberRule {
  readonly isKept: boolean
  /** `any` where nothing inside is looked at. */
  readonly schema: JsonSchema | undefined | 'any'
}

function memberRule(schema: JsonSchema, name: string): MemberRule {
  if (isEmbedded(schema) && isResourceMember(name)) return { isKept: true, schema: 'any' }
  const own = schema.properties !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
  if (own !== undefined) return { isKept: true, schema: own }
  if (schema.additionalProperties !== undefined) return { isKept: true, schema: additionalSchema(schema) }
  return { isKept: keepsUnknown(schema), schema: 'any' }
}
