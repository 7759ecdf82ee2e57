// Paths into custom objects, as columns of tables name them: `.spec.ports[0].name`, `.status.conditions[?(@.type=="Ready")].status`.

import { sortTexts } from '../../../base/text-order.js'
import { JsonPathError, LiteralNumber, type PathNode, parsePath, type Slice } from './json-path-syntax.js'

type Members = { readonly [name: string]: unknown }
type Values = readonly unknown[]

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LiteralNumber)

/** What cannot be followed on this object: nothing is shown then. */
class PathFailure extends Error {}

const fail = (): never => {
  throw new PathFailure()
}

/** Only the first match is shown: paths that multiply (`..` after `..`) are followed no further than this. */
const mostValues = 10_000

/** There is no room for what is left of a path. */
class RoomFailure extends Error {}

/** What the paths of one row may look at together: a kind may have hundreds of columns. */
export class PathRoom {
  #left: number

  constructor(values = 50_000) {
    this.#left = values
  }

  /** Ends the path that looks at more than is left. */
  take(values: number): void {
    this.#left -= values
    if (this.#left < 0) throw new RoomFailure()
  }
}

/** To go down into a value takes about as long as to pass so many on. */
const perDescent = 4

/** The values at the path, in their order; none where there is nothing. Of several paths in braces the first one counts. Throws {@link JsonPathError}. */
export function compileJsonPath(path: string): (object: unknown, room?: PathRoom) => Values {
  const [first, ...rest] = parsePath(path)
  if (first === undefined) throw new JsonPathError('an empty path')
  return (object, room = new PathRoom(Number.POSITIVE_INFINITY)) => {
    try {
      const found = walk([object], first, room)
      // Others are shown by nobody, and must be possible all the same.
      for (const node of rest) walk([object], node, room)
      return isRange(first) ? [] : found
    } catch (thrown) {
      if (thrown instanceof PathFailure || thrown instanceof RoomFailure) return []
      throw thrown
    }
  }
}

const isRange = (node: PathNode): boolean =>
  node.kind === 'list' && node.nodes.some((each) => each.kind === 'word' && each.name === 'range')

function walk(values: Values, node: PathNode, room: PathRoom): Values {
  room.take(values.length)
  switch (node.kind) {
    case 'list':
      return follow(values, node.nodes, room)
    case 'literal':
      return node.isForEach ? values.map(() => node.value) : [node.value]
    case 'field':
      return values.flatMap((value) => (isMembers(value) && Object.hasOwn(value, node.name) ? [value[node.name]] : []))
    case 'slice':
      return selectSlice(values, node.slice)
    case 'filter':
      return select(values, node, room)
    case 'union':
      return node.lists.flatMap((list) => follow(values, list, room)).slice(0, mostValues)
    case 'wildcard':
      return values.flatMap(contentsOf).slice(0, mostValues)
    case 'recursive':
      return descend(values, room)
    case 'word':
      return node.name === 'range' ? values : fail()
  }
}

const follow = (values: Values, nodes: readonly PathNode[], room: PathRoom): Values =>
  nodes.reduce<Values>((found, node) => walk(found, node, room), values)

/** A text consists of its bytes, to the reference. */
function contentsOf(value: unknown): Values {
  if (Array.isArray(value)) return value
  if (typeof value === 'string')
    return Array.from(new TextEncoder().encode(value.slice(0, mostValues)), (byte) => new LiteralNumber(byte, true))
  return isMembers(value) ? sortTexts(Object.keys(value)).map((name) => value[name]) : []
}

function descend(values: Values, room: PathRoom): Values {
  const found: unknown[] = []
  const visit = (value: unknown): void => {
    if (found.length >= mostValues) return
    room.take(perDescent)
    if (typeof value === 'string' && value !== '') found.push(value)
    if (typeof value !== 'object' || value === null) return
    const contents = contentsOf(value)
    if (contents.length === 0) return
    found.push(value)
    contents.forEach(visit)
  }
  values.forEach(visit)
  return found
}

function selectSlice(values: Values, { from, to, by, isOne }: Slice): Values {
  const found: unknown[] = []
  for (const value of values) {
    if (value === null) continue
    if (!Array.isArray(value)) return fail()
    const { length } = value
    const start = from === undefined ? 0 : from < 0 ? from + length : from
    const given = to ?? length
    const end = given < 0 || (given === 0 && isOne) ? given + length : given
    if (start === end) return found
    if (start < 0 || start >= length || end < 0 || end > length || start > end) return fail()
    if (by !== undefined && by <= 0) return fail()
    for (let i = start; i < end && found.length < mostValues; i += by ?? 1) found.push(value[i])
  }
  return found
}

function select(values: Values, { left, right, operator }: Extract<PathNode, { kind: 'filter' }>, room: PathRoom): Values {
  return values.flatMap((value) => {
    if (!Array.isArray(value)) return fail()
    return value.filter((item) => {
      if (operator === 'exists') return exists(item, left, room)
      const [a, ...more] = follow([item], left, room)
      if (more.length > 0) return fail()
      if (a === undefined) return false
      const [b, ...others] = follow([item], right, room)
      if (others.length > 0) return fail()
      return b === undefined ? false : compare(a, operator, b)
    })
  })
}

/** What cannot be followed has been followed as far as the item. */
function exists(item: unknown, path: readonly PathNode[], room: PathRoom): boolean {
  try {
    return follow([item], path, room).length > 0
  } catch (thrown) {
    if (thrown instanceof PathFailure) return true
    throw thrown
  }
}

/** Only values of one basic type can be compared; whole numbers and others are two. */
function compare(left: unknown, operator: string, right: unknown): boolean {
  const [a, b] = [basic(left), basic(right)]
  if (a === undefined || b === undefined || a.type !== b.type) return fail()
  // biome-ignore lint/suspicious/noDoubleEquals: whole numbers come in two sizes
  if (operator === '==') return a.value == b.value
  // biome-ignore lint/suspicious/noDoubleEquals: the same
  if (operator === '!=') return a.value != b.value
  if (a.type === 'boolean') return fail()
  if (operator === '<') return a.value < b.value
  if (operator === '>') return a.value > b.value
  if (operator === '<=') return a.value <= b.value
  return operator === '>=' ? a.value >= b.value : fail()
}

function basic(value: unknown): { readonly type: string; readonly value: string | number | bigint | boolean } | undefined {
  if (value instanceof LiteralNumber) return { type: value.isWhole ? 'integer' : 'float', value: value.value }
  if (typeof value === 'bigint') return { type: 'integer', value }
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'float', value }
  return typeof value === 'string' || typeof value === 'boolean' ? { type: typeof value, value } : undefined
}
