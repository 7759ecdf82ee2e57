// CustomResourceDefinitions that take long to validate: a short pattern can compile to thousands of instructions, and many rules walk every schema.

import { workOfCompiling } from '../../cel/pattern.js'
import type { JsonSchema } from './json-schema.js'
import { innerSchemas } from './schema-search.js'
import type { CustomResourceDefinitionSpec as Spec } from './v1.schema.js'

/** Validation that takes longer runs in a worker thread. */
const mostNs = 20_000_000

/** What the rules take for each schema, for each one above it, whose name is in all paths, and for each value that may be there. */
const cost = { schemaNs: 12_000, levelNs: 250, valueNs: 3000 }

/** Estimated from the text alone, before anything is compiled. */
export function isCostlyDefinition({ versions = [] }: Spec): boolean {
  let workNs = 0
  for (const { schema } of versions) workNs += workOfSchema((schema?.openAPIV3Schema ?? {}) as JsonSchema, 0)
  return workNs > mostNs
}

/** Expressions are read as if they were patterns: those that they hold count, and the rest takes about as long. */
function workOfSchema(schema: JsonSchema, depth: number): number {
  let workNs = cost.schemaNs + depth * cost.levelNs + (schema.enum?.length ?? 0) * cost.valueNs
  if (schema.pattern !== undefined) workNs += workOfCompiling(schema.pattern)
  for (const { rule } of schema['x-kubernetes-validations'] ?? []) workNs += workOfCompiling(rule ?? '')
  for (const inner of innerSchemas(schema)) workNs += workOfSchema(inner, depth + 1)
  return workNs
}
