// JSON numbers with a point or an exponent: rejected for integer fields, kept as text for quantities.

import { parseJsonCarefully } from '../../schema/json/parse-json.js'
import { SchemaReadError } from '../../schema/json/read.js'
import { isLoose, resolve, type SchemaNode } from '../../schema/node.js'
import { type PathElement, printPath } from '../../schema/path.js'

/** Numbers nested deeper are read without a schema: no built-in kind has them, except in JSON of any shape, such as CRD schemas. */
const maxDepth = 64

/** Keeps the text of quantities. Throws {@link SchemaReadError} for integers with a point or an exponent. */
export function readDecimals(text: string, schema: SchemaNode): unknown {
  return parseJsonCarefully(text, { decimal: (path, digits) => readDecimal(path, digits, schema) }).value
}

/** Like {@link readDecimals}, for the `value` members of a JSON patch. */
export function readDecimalsInOperations(text: string, operations: readonly unknown[], schema: SchemaNode): unknown {
  return parseJsonCarefully(text, {
    decimal: ([i, member, ...rest], digits) => {
      const { path } = (operations[i as number] ?? {}) as { readonly path?: unknown }
      if (member !== 'value' || typeof path !== 'string') return Number(digits)
      return readDecimal([...pathOfPointer(path), ...rest], digits, schema)
    },
  }).value
}

/** A JSON Pointer segment of digits is an index: no field of a built-in kind is a number. */
const pathOfPointer = (pointer: string): readonly PathElement[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) =>
      segment === '-' ? 0 : /^\d{1,10}$/.test(segment) ? Number(segment) : segment.replaceAll('~1', '/').replaceAll('~0', '~'),
    )

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
    const child =
      node.type === 'struct' && typeof element === 'string'
        ? Object.hasOwn(node.fields, element)
          ? node.fields[element]?.node
          : node.rest
        : node.type === 'map' && typeof element === 'string'
          ? node.value
          : node.type === 'list' && typeof element === 'number'
            ? node.item
            : undefined
    if (child === undefined) return undefined
    node = resolve(child)
  }
  return node
}
