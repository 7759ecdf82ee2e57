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

/** The same for the operations of a JSON patch: the value of each stands where its path leads. */
export function readDecimalsInOperations(text: string, operations: readonly unknown[], schema: SchemaNode): unknown {
  return parseJsonCarefully(text, {
    decimal: ([i, member, ...below], digits) => {
      const { path } = (operations[i as number] ?? {}) as { readonly path?: unknown }
      if (member !== 'value' || typeof path !== 'string') return Number(digits)
      return readDecimal([...stepsOf(path), ...below], digits, schema)
    },
  }).value
}

/** The steps of a JSON pointer; what looks like a position is one, and no field of a built-in kind is called so. */
const stepsOf = (pointer: string): readonly PathElement[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => (step === '-' ? 0 : /^\d{1,10}$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~')))

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
