// JSONPath evaluation as in kube-apiserver: `.spec.ports[0].name`, `.status.conditions[?(@.type=="Ready")].status`.

import { sortTexts } from '../../base/text-order.js'
import { JsonPathError, LiteralNumber, type PathNode, parsePath, type Slice } from './json-path-syntax.js'

type Members = { readonly [name: string]: unknown }
type Values = readonly unknown[]

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LiteralNumber)

export class PathFailure extends Error {}

class BudgetExceeded extends Error {}

const fail = (message: string): never => {
  throw new PathFailure(message)
}

/** Limits the values visited for one table row: a CRD may have hundreds of columns with paths such as `..a..b`. */
export class PathBudget {
  readonly maxValues: number
  #left: number

  constructor(values = 50_000, maxValues = 10_000) {
    this.#left = values
    this.maxValues = maxValues
  }

  take(values: number): void {
    this.#left -= values
    if (this.#left < 0) throw new BudgetExceeded()
  }
}

/** Cost of visiting one value in a recursive descent, relative to one step. */
const descentCost = 4

export interface PathContext {
  readonly budget: PathBudget
  readonly allowsMissing: boolean
  /** True: `['a.b']` selects the member `a.b` if it exists. kube-apiserver always selects `b` in `a`. */
  readonly hasLiteralKeys: boolean
}

/** Compiles a path to a function that returns the values of its first `{…}`. Throws {@link JsonPathError}. */
export function compileJsonPath(path: string): (object: unknown, budget?: PathBudget) => Values {
  const [first, ...rest] = parsePath(path)
  if (first === undefined) throw new JsonPathError('empty path')
  return (object, budget = new PathBudget(Number.POSITIVE_INFINITY)) => {
    const context: PathContext = { budget, allowsMissing: true, hasLiteralKeys: false }
    try {
      const found = walk([object], first, context)
      // If a later `{…}` fails, the whole template has no values.
      for (const node of rest) walk([object], node, context)
      return first.kind === 'list' && isRange(first.nodes) ? [] : found
    } catch (thrown) {
      if (thrown instanceof PathFailure || thrown instanceof BudgetExceeded) return []
      throw thrown
    }
  }
}

export const isRange = (nodes: readonly PathNode[]): boolean => nodes.some((node) => node.kind === 'word' && node.name === 'range')

function walk(values: Values, node: PathNode, context: PathContext): Values {
  const { budget } = context
  budget.take(values.length)
  switch (node.kind) {
    case 'list':
      return followPath(values, node.nodes, context)
    case 'literal':
      return node.isPerValue ? values.map(() => node.value) : [node.value]
    case 'field': {
      const found = values.flatMap((value) => (isMembers(value) && Object.hasOwn(value, node.name) ? [value[node.name]] : []))
      return found.length > 0 || context.allowsMissing ? found : fail(`${node.name} is not found`)
    }
    case 'key':
      return values.flatMap((value) =>
        context.hasLiteralKeys && isMembers(value) && Object.hasOwn(value, node.name)
          ? [value[node.name]]
          : followPath([value], node.path, context),
      )
    case 'slice':
      return selectSlice(values, node.slice, budget)
    case 'filter':
      return filterItems(values, node, context)
    case 'union':
      return node.lists.flatMap((list) => followPath(values, list, context)).slice(0, budget.maxValues)
    case 'wildcard':
      return values.flatMap((value) => contentsOf(value, budget)).slice(0, budget.maxValues)
    case 'recursive':
      return descend(values, budget)
    case 'word':
      return node.name === 'range' ? values : fail(`unrecognized identifier ${node.name}`)
  }
}

export const followPath = (values: Values, nodes: readonly PathNode[], context: PathContext): Values =>
  nodes.reduce<Values>((found, node) => walk(found, node, context), values)

/** The elements of a string are its bytes, as in kube-apiserver. */
function contentsOf(value: unknown, { maxValues }: PathBudget): Values {
  if (Array.isArray(value)) return value
  if (typeof value === 'string')
    return Array.from(new TextEncoder().encode(value.slice(0, maxValues)), (byte) => new LiteralNumber(byte, true))
  return isMembers(value) ? sortTexts(Object.keys(value)).map((name) => value[name]) : []
}

function descend(values: Values, budget: PathBudget): Values {
  const found: unknown[] = []
  const visit = (value: unknown): void => {
    if (found.length >= budget.maxValues) return
    budget.take(descentCost)
    if (typeof value === 'string' && value !== '') found.push(value)
    if (typeof value !== 'object' || value === null) return
    const contents = contentsOf(value, budget)
    if (contents.length === 0) return
    found.push(value)
    contents.forEach(visit)
  }
  values.forEach(visit)
  return found
}

function selectSlice(values: Values, { from, to, step, isIndex }: Slice, { maxValues }: PathBudget): Values {
  const found: unknown[] = []
  for (const value of values) {
    if (value === null) continue
    if (!Array.isArray(value)) return fail(`${typeOf(value)} is not array or slice`)
    const { length } = value
    const start = from === undefined ? 0 : from < 0 ? from + length : from
    const limit = to ?? length
    const end = limit < 0 || (limit === 0 && isIndex) ? limit + length : limit
    if (start === end) return found
    const outside = start < 0 || start >= length ? start : end < 0 || end > length ? end - 1 : undefined
    if (outside !== undefined) return fail(`array index out of bounds: index ${outside}, length ${length}`)
    if (start > end) return fail(`starting index ${start} is greater than ending index ${end}`)
    if (step !== undefined && step <= 0) return fail('step must be > 0')
    for (let i = start; i < end && found.length < maxValues; i += step ?? 1) found.push(value[i])
  }
  return found
}

function filterItems(values: Values, { left, right, operator }: Extract<PathNode, { kind: 'filter' }>, context: PathContext): Values {
  const itemContext = { ...context, allowsMissing: true }
  return values.flatMap((value) => {
    if (!Array.isArray(value)) return fail(`${typeOf(value)} is not array or slice`)
    return value.filter((item) => {
      if (operator === 'exists') return exists(item, left, itemContext)
      const [a, ...more] = followPath([item], left, itemContext)
      if (more.length > 0) return fail('can only compare one element at a time')
      if (a === undefined) return false
      const [b, ...others] = followPath([item], right, itemContext)
      if (others.length > 0) return fail('can only compare one element at a time')
      return b === undefined ? false : compare(a, operator, b)
    })
  })
}

/** True also if the path fails, as in kube-apiserver. */
function exists(item: unknown, path: readonly PathNode[], context: PathContext): boolean {
  try {
    return followPath([item], path, context).length > 0
  } catch (thrown) {
    if (thrown instanceof PathFailure) return true
    throw thrown
  }
}

/** Throws {@link PathFailure} if the types differ; integers and floats are different types. */
function compare(left: unknown, operator: string, right: unknown): boolean {
  const [a, b] = [primitiveOf(left), primitiveOf(right)]
  if (a === undefined || b === undefined || a.type !== b.type) return fail('incompatible types for comparison')
  // biome-ignore lint/suspicious/noDoubleEquals: an integer is a number or a bigint, and 1 === 1n is false
  if (operator === '==') return a.value == b.value
  // biome-ignore lint/suspicious/noDoubleEquals: as above
  if (operator === '!=') return a.value != b.value
  if (a.type === 'boolean') return fail('invalid type for comparison')
  if (operator === '<') return a.value < b.value
  if (operator === '>') return a.value > b.value
  if (operator === '<=') return a.value <= b.value
  return operator === '>=' ? a.value >= b.value : fail(`unrecognized filter operator ${operator}`)
}

function primitiveOf(value: unknown): { readonly type: string; readonly value: string | number | bigint | boolean } | undefined {
  if (value instanceof LiteralNumber) return { type: value.isInteger ? 'integer' : 'float', value: value.value }
  if (typeof value === 'bigint') return { type: 'integer', value }
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'float', value }
  return typeof value === 'string' || typeof value === 'boolean' ? { type: typeof value, value } : undefined
}

function typeOf(value: unknown): string {
  if (isMembers(value)) return 'map[string]interface {}'
  return primitiveOf(value)?.type.replace('integer', 'int64').replace('float', 'float64').replace('boolean', 'bool') ?? '<nil>'
}
