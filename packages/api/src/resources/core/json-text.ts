// JSON inside fields: deprecated annotations and Docker configuration in Secrets.

import { JsonSyntaxError, parseJsonCarefully } from '../../schema/json/parse-json.js'
import { readValue, SchemaReadError } from '../../schema/json/read.js'
import type { SchemaNode } from '../../schema/node.js'

/** Returns the message of the parser, which quotes at most one character, so secrets do not leak. */
export function readJsonText(text: string): { readonly value: unknown; readonly problem?: string } {
  try {
    return { value: parseJsonCarefully(text).value }
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError) return { value: undefined, problem: thrown.message }
    throw thrown
  }
}

export function readTypedJson<T>(text: string, node: SchemaNode): { readonly value?: T; readonly problem?: string } {
  const { value, problem } = readJsonText(text)
  if (problem !== undefined) return { problem }
  if (value === null) return {}
  try {
    return { value: readValue(node, value).value as T }
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) return { problem: thrown.message }
    throw thrown
  }
}
