// Definitions that take long to check: a few bytes of a pattern can stand for thousands of instructions, and each part of a schema is looked at by many rules.

import type { RuleContext } from '../../api/definition.js'
import { workOfCompiling } from '../../cel/pattern.js'
import type { JsonSchema } from './json-schema.js'
import { innerSchemas } from './schema-search.js'
import type { CustomResourceDefinitionSpec as Spec } from './v1.schema.js'

/** Beyond this the thread for heavy requests is worth its start. */
const mostNs = 20_000_000

/** What the rules take for each schema, for each one above it, whose name is in all paths, and for each value that may be there. */
const cost = { schemaNs: 12_000, levelNs: 250, valueNs: 3000 }

/** To be called before anything of a definition is compiled. */
export function leaveIfLong({ versions = [] }: Spec, context: Pick<RuleContext, 'leaveIfMovable'>): void {
  if (context.leaveIfMovable === undefined) return
  let workNs = 0
  for (const { schema } of versions) workNs += workOfSchema((schema?.openAPIV3Schema ?? {}) as JsonSchema, 0)
  if (workNs > mostNs) context.leaveIfMovable()
}

/** Expressions are read as if they were patterns: those that they hold count, and the rest takes about as long. */
function workOfSchema(schema: JsonSchema, depth: number): number {
  let workNs = cost.schemaNs + depth * cost.levelNs + (schema.enum?.length ?? 0) * cost.valueNs
  if (schema.pattern !== undefined) workNs += workOfCompiling(schema.pattern)
  for (const { rule } of schema['x-kubernetes-validations'] ?? []) workNs += workOfCompiling(rule ?? '')
  for (const inner of innerSchemas(schema)) workNs += workOfSchema(inner, depth + 1)
  return workNs
}
