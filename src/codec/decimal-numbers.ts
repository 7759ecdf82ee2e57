// Numbers that are written with a point or an exponent: no whole number of a built-in kind is written so, and a quantity keeps its form.

import { parseJsonCarefully } from '../schema/json-parse.js'
import { isLoose, resolve, type SchemaNode } from '../schema/node.js'
import { type PathElement, printPath } from '../schema/path.js'
import { SchemaReadError } from '../schema/read.js'

/** No number of a built-in kind stands deeper, but for those of schemas in definitions. */
const maxDepth = 64

/** The value of a text, with quantities as they are written. Throws {@link SchemaReadError} where a whole number is written as a fraction. */
export function readDecimals(text: string, schema: SchemaNode): unknown {
  return parseJsonCarefully(text, { decimal: (path, digits) => readDecimal(path, digits, schema) }).value
}

function readDecimal(path: readonly PathElement[], digits: string, schema: SchemaNode): number | string {
  const node = path.length > maxDepth ? undefined : nodeAt(schema, path)
  if (node === undefined || isLoose(node)) return Number(digits)
  if (node.type === 'quantity') return digits
  if (node.type !== 'integer' && node.type !== 'intOrString') return Number(digits)
  const expected = node.type === 'integer' && node.bits === 64 ? 'int64' : 'int32'
  throw new SchemaReadError(printPath(path), `cannot read number as ${expected}`, { mismatch: { expected, found: 'number' } })
}

function nodeAt(schema: SchemaNode, path: readonly PathElement[]): SchemaNode | undefined {
  let node = resolve(schema)
  for (const element of path) {
    const below =
      node.type === 'struct' && typeof element === 'string'
        ? Object.hasOwn(node.fields, element)
          ? node.fields[element]?.node
          : node.rest
        : node.type === 'map' && typeof element === 'string'
          ? node.value
          : node.type === 'list' && typeof element === 'number'
            ? node.item
            : undefined
    if (below === undefined) return undefined
    node = resolve(below)
  }
  return node
}
