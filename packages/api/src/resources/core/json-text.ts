// JSON inside of fields: annotations of old, and what secrets keep for others. What is wrong with its syntax is told in the parser's words.

import { JsonSyntaxError, parseJsonCarefully } from '../../schema/json-parse.js'
import type { SchemaNode } from '../../schema/node.js'
import { readValue, SchemaReadError } from '../../schema/read.js'

/** The value of a JSON text, or why it is none. The words of the parser quote one character of the text at most. */
export function readJsonText(text: string): { readonly value: unknown; readonly problem?: string } {
  try {
    return { value: parseJsonCarefully(text).value }
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError) return { value: undefined, problem: thrown.message }
    throw thrown
  }
}

/** The same for a value of a type; nothing at all is one of every type. */
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
