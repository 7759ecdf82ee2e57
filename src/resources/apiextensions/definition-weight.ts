// Definitions whose patterns and expressions take long to compile: a few bytes can stand for thousands of instructions.

import type { RuleContext } from '../../api/definition.js'
import { workOfCompiling } from '../../cel/pattern.js'
import type { JsonSchema } from './json-schema.js'
import { innerSchemas } from './schema-search.js'
import type { CustomResourceDefinitionSpec as Spec } from './v1.schema.js'

/** Beyond this the thread for heavy requests is worth its start. */
const mostNs = 20_000_000

/** To be called before anything of a definition is compiled. */
export function leaveIfLong({ versions = [] }: Spec, context: Pick<RuleContext, 'leaveIfMovable'>): void {
  if (context.leaveIfMovable === undefined) return
  let workNs = 0
  for (const { schema } of versions) workNs += workOfSchema((schema?.openAPIV3Schema ?? {}) as JsonSchema)
  if (workNs > mostNs) context.leaveIfMovable()
}

/** Expressions are read as if they were patterns: those that they hold count, and the rest takes about as long. */
function workOfSchema(schema: JsonSchema): number {
  let workNs = schema.pattern === undefined ? 0 : workOfCompiling(schema.pattern)
  for (const { rule } of schema['x-kubernetes-validations'] ?? []) workNs += workOfCompiling(rule ?? '')
  for (const inner of innerSchemas(schema)) workNs += workOfSchema(inner)
  return workNs
}
