// Worst-case cost estimate of a CEL expression before evaluation, in the units of kube-apiserver.

import type { CallExpr, ComprehensionExpr, Expr } from '../syntax/ast.js'
import type { SizedType } from '../types/structural-schema-types.js'
import type { Checked } from '../types/type-check.js'
import { dynType, type Type } from '../types/types.js'
import { Uint } from '../values/uint.js'
import { costs, maxCost, scale } from './cost-units.js'

interface Bounds {
  readonly min: bigint
  readonly max: bigint
}

interface CallEstimate {
  readonly cost: Bounds
  readonly size?: Bounds
}

const bounds = (min: bigint, max: bigint): Bounds => ({ min, max })
const exactly = (count: bigint): Bounds => ({ min: count, max: count })
const zero = exactly(0n)
const one = exactly(1n)
const unbounded: Bounds = { min: 0n, max: maxCost }
const capped = (value: bigint): bigint => (value > maxCost ? maxCost : value)
const add = (a: Bounds, b: Bounds): Bounds => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) })
const multiply = (a: Bounds, b: Bounds): Bounds => ({ min: capped(a.min * b.min), max: capped(a.max * b.max) })
const scaled = (a: Bounds, factor: number): Bounds => ({ min: scale(a.min, factor), max: scale(a.max, factor) })
const union = (a: Bounds, b: Bounds): Bounds => ({ min: a.min < b.min ? a.min : b.min, max: a.max > b.max ? a.max : b.max })

/** Returns the worst case. Without `root`, sizes of variables are unbounded. */
export const estimateCost = (checked: Checked, root: SizedType | undefined): bigint => new Estimator(checked, root).cost(checked.expr).max

type Path = readonly string[]

class Estimator {
  private readonly checked: Checked
  private readonly root: SizedType | undefined
  private readonly paths = new Map<Expr, Path>()
  private readonly sizes = new Map<Expr, Bounds>()
  private readonly comprehensions: { readonly variable: string; readonly collection: Expr }[] = []

  constructor(checked: Checked, root: SizedType | undefined) {
    this.checked = checked
    this.root = root
  }

  cost(expr: Expr): Bounds {
    switch (expr.kind) {
      case 'const':
        return zero
      case 'message':
        return expr.fields.reduce((sum, { value }) => add(sum, this.cost(value)), exactly(costs.message))
      case 'ident':
        this.setPath(expr, this.pathOfName(expr.name))
        return exactly(costs.selectOrName)
      case 'select': {
        const name = this.checked.names.get(expr)
        if (name !== undefined) {
          this.setPath(expr, this.pathOfName(name))
          return exactly(costs.selectOrName)
        }
        if (expr.isTest) return zero
        const operand = this.cost(expr.operand)
        this.setPath(expr, this.within(expr.operand, expr.field))
        const { kind } = this.typeOf(expr.operand)
        return kind === 'map' || kind === 'object' ? add(operand, exactly(costs.selectOrName)) : operand
      }
      case 'list':
        return expr.elements.reduce((sum, element) => add(sum, this.cost(element)), exactly(costs.list))
      case 'map':
        return expr.entries.reduce((sum, { key, value }) => add(add(sum, this.cost(key)), this.cost(value)), exactly(costs.map))
      case 'call':
        return this.costOfCall(expr)
      case 'comprehension':
        return this.costOfComprehension(expr)
    }
  }

  private typeOf = (expr: Expr): Type => this.checked.types.get(expr) ?? dynType

  private setPath(expr: Expr, path: Path | undefined): void {
    if (path !== undefined) this.paths.set(expr, path)
  }

  /** Computed values have no path, so their members are looked up at the root, as in kube-apiserver. */
  private within(expr: Expr, step: string): Path {
    return [...(this.paths.get(expr) ?? []), step]
  }

  private pathOfName(name: string): Path | undefined {
    for (let i = this.comprehensions.length - 1; i >= 0; i--) {
      const { variable, collection } = this.comprehensions[i] as { variable: string; collection: Expr }
      if (variable !== name) continue
      const { kind } = this.typeOf(collection)
      if (kind === 'list') return this.within(collection, '@items')
      return kind === 'map' ? this.within(collection, '@keys') : undefined
    }
    return name === '__result__' ? undefined : [name]
  }

  private costOfComprehension(expr: ComprehensionExpr): Bounds {
    let sum = add(this.cost(expr.range), this.cost(expr.initial))
    this.comprehensions.push({ variable: expr.variable, collection: expr.range })
    const perItem = add(this.cost(expr.condition), this.cost(expr.step))
    this.comprehensions.pop()
    sum = add(sum, this.cost(expr.result))
    return add(sum, multiply(this.sizeOf(expr.range), perItem))
  }

  private costOfCall(expr: CallExpr): Bounds {
    const { args, target } = expr
    const argCosts = args.map((arg) => this.cost(arg))
    const targetCost = target === undefined ? zero : this.cost(target)
    let cost: Bounds | undefined
    let size: Bounds | undefined
    for (const overload of this.checked.overloads.get(expr) ?? []) {
      const estimate = this.estimateCall(expr, overload, argCosts)
      cost = cost === undefined ? estimate.cost : union(cost, estimate.cost)
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size)
      if (overload === 'index_list') this.setPath(expr, this.within(args[0] as Expr, '@items'))
      if (overload === 'index_map') this.setPath(expr, this.within(args[0] as Expr, '@values'))
    }
    if (size !== undefined) this.sizes.set(expr, size)
    return add(targetCost, cost ?? zero)
  }

  private estimateCall(expr: CallExpr, overload: string, argCosts: readonly Bounds[]): CallEstimate {
    const { args, target } = expr
    const allArgs = argCosts.reduce(add, zero)
    const sizeOfArg = (index: number): Bounds => this.sizeOf(args[index] as Expr)
    const library = this.costOfLibrary(expr)
    if (library !== undefined) return { cost: add(library, allArgs) }
    switch (overload) {
      case 'starts_with_string':
      case 'ends_with_string':
      case 'string_to_bytes':
      case 'bytes_to_string':
        return { cost: add(scaled(sizeOfArg(0), costs.perChar), allArgs) }
      case 'in_list':
        return { cost: add(scaled(sizeOfArg(1), 1), allArgs) }
      case 'matches_string': {
        const text = scaled(add(this.sizeOf(target as Expr), one), costs.perChar)
        return { cost: add(multiply(text, scaled(sizeOfArg(0), costs.perPatternChar)), allArgs) }
      }
      case 'contains_string': {
        const text = scaled(this.sizeOf(target as Expr), costs.perChar)
        return { cost: add(multiply(text, scaled(sizeOfArg(0), costs.perChar)), allArgs) }
      }
      case 'logical_and':
      case 'logical_or':
        return { cost: bounds((argCosts[0] as Bounds).min, allArgs.max) }
      case 'conditional': {
        const [condition, yes, no] = argCosts as [Bounds, Bounds, Bounds]
        return { cost: add(condition, union(yes, no)), size: union(sizeOfArg(1), sizeOfArg(2)) }
      }
      case 'add_list':
        return { cost: add(one, allArgs), size: add(sizeOfArg(0), sizeOfArg(1)) }
      case 'add_string':
      case 'add_bytes': {
        const size = add(sizeOfArg(0), sizeOfArg(1))
        return { cost: add(scaled(size, costs.perChar), allArgs), size }
      }
      default:
        return { cost: add(textComparisons.has(overload) ? this.costOfComparison(args) : one, allArgs) }
    }
  }

  private costOfComparison(args: readonly Expr[]): Bounds {
    const left = this.sizeOf(args[0] as Expr).max
    const right = this.sizeOf(args[1] as Expr).max
    const smaller = left < right ? left : right
    return scaled(bounds(smaller > 0n ? 1n : 0n, smaller), costs.perChar)
  }

  /** Cost of functions beyond the CEL standard library, whose result sizes are not estimated. */
  private costOfLibrary({ name, target, args }: CallExpr): Bounds | undefined {
    if (name === 'url') return scaled(this.knownSize(args[0] as Expr), costs.perChar)
    if (target === undefined) return undefined
    const size = this.knownSize(target)
    const type = this.typeOf(target)
    switch (name) {
      case 'isSorted':
      case 'sum':
      case 'max':
      case 'min':
      case 'indexOf':
      case 'lastIndexOf': {
        if (type.kind !== 'list') return scaled(size, costs.perChar)
        const isText = type.element.kind === 'string' || type.element.kind === 'bytes'
        return multiply(size, isText ? add(one, scaled(this.sizeOfElement(target), costs.perChar)) : one)
      }
      case 'lowerAscii':
      case 'upperAscii':
      case 'substring':
      case 'trim':
        return scaled(size, costs.perChar)
      case 'replace':
      case 'split':
        return scaled(size, 2 * costs.perChar)
      case 'join': {
        const elements = type.kind === 'list' ? multiply(size, this.sizeOfElement(target)) : zero
        const separators = bounds(size.min > 0n ? size.min - 1n : 0n, size.max > 0n ? size.max - 1n : 0n)
        const totalSize = args.length === 0 ? elements : add(elements, multiply(this.knownSize(args[0] as Expr), separators))
        return scaled(totalSize, costs.perChar)
      }
      case 'find':
      case 'findAll': {
        const pattern = scaled(this.knownSize(args[0] as Expr), costs.perPatternChar)
        return multiply(scaled(add(size, one), costs.perChar), pattern)
      }
      default:
        return undefined
    }
  }

  private sizeOfElement(list: Expr): Bounds {
    const path = this.paths.get(list)
    return (path === undefined ? undefined : this.sizeAt([...path, '@items'])) ?? unbounded
  }

  private knownSize(expr: Expr): Bounds {
    return this.sizes.get(expr) ?? sizeOfLiteral(expr) ?? this.sizeAt(this.paths.get(expr)) ?? unbounded
  }

  private sizeOf(expr: Expr): Bounds {
    const isUnknown = !this.sizes.has(expr) && isScalar(this.typeOf(expr)) && sizeOfLiteral(expr) === undefined
    return isUnknown ? (this.sizeAt(this.paths.get(expr)) ?? one) : this.knownSize(expr)
  }

  private sizeAt(path: Path | undefined): Bounds | undefined {
    if (path === undefined || this.root === undefined) return undefined
    let type: SizedType | undefined = this.root
    for (const step of path.slice(1)) {
      if (step === '@items' || step === '@values') type = type.element
      else if (step === '@keys') type = type.key
      else type = type.fields?.get(step)
      if (type === undefined) return undefined
    }
    return bounds(0n, BigInt(type.maxElements))
  }
}

const textComparisons: ReadonlySet<string> = new Set([
  ...['less', 'less_equals', 'greater', 'greater_equals'].flatMap((verb) => [`${verb}_string`, `${verb}_bytes`]),
  'equals',
  'not_equals',
])

const isScalar = ({ kind }: Type): boolean =>
  kind === 'bool' || kind === 'int' || kind === 'uint' || kind === 'double' || kind === 'timestamp' || kind === 'duration'

function sizeOfLiteral(expr: Expr): Bounds | undefined {
  if (expr.kind === 'list') return exactly(BigInt(expr.elements.length))
  if (expr.kind === 'map') return exactly(BigInt(expr.entries.length))
  if (expr.kind === 'message') return zero
  if (expr.kind !== 'const') return undefined
  const { value } = expr
  if (typeof value === 'string') return exactly(BigInt(new TextEncoder().encode(value).length))
  if (value instanceof Uint8Array) return exactly(BigInt(value.length))
  return value === null || value instanceof Uint || typeof value !== 'object' ? one : undefined
}
