// What evaluating an expression can cost at worst, before any value is known. The units are those of the reference, to the last one.

import type { CallExpr, ComprehensionExpr, Expr } from './ast.js'
import type { Checked } from './check.js'
import { costs, maxCost, scale } from './cost.js'
import type { SizedType } from './schema-type.js'
import { dynType, type Type } from './types.js'
import { Uint } from './uint.js'

/** From and to. */
interface Range {
  readonly min: bigint
  readonly max: bigint
}

interface CallEstimate {
  readonly cost: Range
  readonly size?: Range
}

const range = (min: bigint, max: bigint): Range => ({ min, max })
const exactly = (count: bigint): Range => ({ min: count, max: count })
const nothing = exactly(0n)
const one = exactly(1n)
const anything: Range = { min: 0n, max: maxCost }
const capped = (value: bigint): bigint => (value > maxCost ? maxCost : value)
const add = (a: Range, b: Range): Range => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) })
const multiply = (a: Range, b: Range): Range => ({ min: capped(a.min * b.min), max: capped(a.max * b.max) })
const scaled = (a: Range, factor: number): Range => ({ min: scale(a.min, factor), max: scale(a.max, factor) })
const union = (a: Range, b: Range): Range => ({ min: a.min < b.min ? a.min : b.min, max: a.max > b.max ? a.max : b.max })

/** The worst case. `root` describes `self` and `oldSelf`; without it nothing is known of sizes. */
export const estimateCost = (checked: Checked, root: SizedType | undefined): bigint => new Estimator(checked, root).cost(checked.expr).max

type Path = readonly string[]

class Estimator {
  private readonly checked: Checked
  private readonly root: SizedType | undefined
  private readonly paths = new Map<Expr, Path>()
  private readonly sizes = new Map<Expr, Range>()
  /** What the variables of comprehensions walk over, innermost last. */
  private readonly ranges: { readonly variable: string; readonly over: Expr }[] = []

  constructor(checked: Checked, root: SizedType | undefined) {
    this.checked = checked
    this.root = root
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case 'const':
        return nothing
      case 'message':
        return expr.fields.reduce((sum, { value }) => add(sum, this.cost(value)), exactly(costs.message))
      case 'ident':
        this.follow(expr, this.pathOfName(expr.name))
        return exactly(costs.selectOrName)
      case 'select': {
        const name = this.checked.names.get(expr)
        if (name !== undefined) return exactly(costs.selectOrName)
        if (expr.isTest) return nothing
        const operand = this.cost(expr.operand)
        this.follow(expr, this.within(expr.operand, expr.field))
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
        return this.costOfWalk(expr)
    }
  }

  private typeOf = (expr: Expr): Type => this.checked.types.get(expr) ?? dynType

  private follow(expr: Expr, path: Path | undefined): void {
    if (path !== undefined) this.paths.set(expr, path)
  }

  /** What is computed has no place of its own, so that its parts are looked up at the root, as in the reference. */
  private within(expr: Expr, step: string): Path {
    return [...(this.paths.get(expr) ?? []), step]
  }

  private pathOfName(name: string): Path | undefined {
    for (let i = this.ranges.length - 1; i >= 0; i--) {
      const { variable, over } = this.ranges[i] as { variable: string; over: Expr }
      if (variable !== name) continue
      const { kind } = this.typeOf(over)
      if (kind === 'list') return this.within(over, '@items')
      return kind === 'map' ? this.within(over, '@keys') : undefined
    }
    return name === '__result__' ? undefined : [name]
  }

  private costOfWalk(expr: ComprehensionExpr): Range {
    let sum = add(this.cost(expr.range), this.cost(expr.initial))
    this.ranges.push({ variable: expr.variable, over: expr.range })
    const turn = add(this.cost(expr.condition), this.cost(expr.step))
    this.ranges.pop()
    sum = add(sum, this.cost(expr.result))
    return add(sum, multiply(this.sizeOf(expr.range), turn))
  }

  private costOfCall(expr: CallExpr): Range {
    const { args, target } = expr
    const argCosts = args.map((arg) => this.cost(arg))
    const targetCost = target === undefined ? nothing : this.cost(target)
    let cost: Range | undefined
    let size: Range | undefined
    for (const overload of this.checked.overloads.get(expr) ?? []) {
      const estimate = this.estimateCall(expr, overload, argCosts)
      cost = cost === undefined ? estimate.cost : union(cost, estimate.cost)
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size)
      if (overload === 'index_list') this.follow(expr, this.within(args[0] as Expr, '@items'))
      if (overload === 'index_map') this.follow(expr, this.within(args[0] as Expr, '@values'))
    }
    if (size !== undefined) this.sizes.set(expr, size)
    return add(targetCost, cost ?? nothing)
  }

  private estimateCall(expr: CallExpr, overload: string, argCosts: readonly Range[]): CallEstimate {
    const { args, target } = expr
    const allArgs = argCosts.reduce(add, nothing)
    const sizeOfArg = (index: number): Range => this.sizeOf(args[index] as Expr)
    const library = this.costOfLibrary(expr)
    if (library !== undefined) return { cost: add(library, allArgs) }
    switch (overload) {
      case 'starts_with_string':
      case 'ends_with_string':
      case 'string_to_bytes':
      case 'bytes_to_string':
        return { cost: add(scaled(sizeOfArg(0), costs.perLetter), allArgs) }
      case 'in_list':
        return { cost: add(scaled(sizeOfArg(1), 1), allArgs) }
      case 'matches_string': {
        const text = scaled(add(this.sizeOf(target as Expr), one), costs.perLetter)
        return { cost: add(multiply(text, scaled(sizeOfArg(0), costs.perPatternLetter)), allArgs) }
      }
      case 'contains_string': {
        const text = scaled(this.sizeOf(target as Expr), costs.perLetter)
        return { cost: add(multiply(text, scaled(sizeOfArg(0), costs.perLetter)), allArgs) }
      }
      case 'logical_and':
      case 'logical_or':
        return { cost: range((argCosts[0] as Range).min, allArgs.max) }
      case 'conditional': {
        const [condition, yes, no] = argCosts as [Range, Range, Range]
        return { cost: add(condition, union(yes, no)), size: union(sizeOfArg(1), sizeOfArg(2)) }
      }
      case 'add_list':
        return { cost: add(one, allArgs), size: add(sizeOfArg(0), sizeOfArg(1)) }
      case 'add_string':
      case 'add_bytes': {
        const size = add(sizeOfArg(0), sizeOfArg(1))
        return { cost: add(scaled(size, costs.perLetter), allArgs), size }
      }
      default:
        return { cost: add(comparesTexts.has(overload) ? this.costOfComparison(args) : one, allArgs) }
    }
  }

  private costOfComparison(args: readonly Expr[]): Range {
    const left = this.sizeOf(args[0] as Expr).max
    const right = this.sizeOf(args[1] as Expr).max
    const smaller = left < right ? left : right
    return scaled(range(smaller > 0n ? 1n : 0n, smaller), costs.perLetter)
  }

  /** Functions for lists, strings, regular expressions and URLs. How large their results are is not estimated. */
  private costOfLibrary({ name, target, args }: CallExpr): Range | undefined {
    if (name === 'url') return scaled(this.knownSize(args[0] as Expr), costs.perLetter)
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
        if (type.kind !== 'list') return scaled(size, costs.perLetter)
        const isText = type.element.kind === 'string' || type.element.kind === 'bytes'
        return multiply(size, isText ? add(one, scaled(this.sizeOfElement(target), costs.perLetter)) : one)
      }
      case 'lowerAscii':
      case 'upperAscii':
      case 'substring':
      case 'trim':
        return scaled(size, costs.perLetter)
      case 'replace':
      case 'split':
        return scaled(size, 2 * costs.perLetter)
      case 'join': {
        const elements = type.kind === 'list' ? multiply(size, this.sizeOfElement(target)) : nothing
        const between = range(size.min > 0n ? size.min - 1n : 0n, size.max > 0n ? size.max - 1n : 0n)
        const whole = args.length === 0 ? elements : add(elements, multiply(this.knownSize(args[0] as Expr), between))
        return scaled(whole, costs.perLetter)
      }
      case 'find':
      case 'findAll': {
        const pattern = scaled(this.knownSize(args[0] as Expr), costs.perPatternLetter)
        return multiply(scaled(add(size, one), costs.perLetter), pattern)
      }
      default:
        return undefined
    }
  }

  private sizeOfElement(list: Expr): Range {
    const path = this.paths.get(list)
    return (path === undefined ? undefined : this.sizeAt([...path, '@items'])) ?? anything
  }

  private knownSize(expr: Expr): Range {
    return this.sizes.get(expr) ?? sizeOfLiteral(expr) ?? this.sizeAt(this.paths.get(expr)) ?? anything
  }

  private sizeOf(expr: Expr): Range {
    const isUnknown = !this.sizes.has(expr) && isScalar(this.typeOf(expr)) && sizeOfLiteral(expr) === undefined
    return isUnknown ? (this.sizeAt(this.paths.get(expr)) ?? one) : this.knownSize(expr)
  }

  private sizeAt(path: Path | undefined): Range | undefined {
    if (path === undefined || this.root === undefined) return undefined
    let at: SizedType | undefined = this.root
    for (const step of path.slice(1)) {
      if (step === '@items' || step === '@values') at = at.element
      else if (step === '@keys') at = at.key
      else at = at.fields?.get(step)
      if (at === undefined) return undefined
    }
    return range(0n, BigInt(at.maxElements))
  }
}

const comparesTexts: ReadonlySet<string> = new Set([
  ...['less', 'less_equals', 'greater', 'greater_equals'].flatMap((verb) => [`${verb}_string`, `${verb}_bytes`]),
  'equals',
  'not_equals',
])

const isScalar = ({ kind }: Type): boolean =>
  kind === 'bool' || kind === 'int' || kind === 'uint' || kind === 'double' || kind === 'timestamp' || kind === 'duration'

function sizeOfLiteral(expr: Expr): Range | undefined {
  if (expr.kind === 'list') return exactly(BigInt(expr.elements.length))
  if (expr.kind === 'map') return exactly(BigInt(expr.entries.length))
  if (expr.kind === 'message') return nothing
  if (expr.kind !== 'const') return undefined
  const { value } = expr
  if (typeof value === 'string') return exactly(BigInt(new TextEncoder().encode(value).length))
  if (value instanceof Uint8Array) return exactly(BigInt(value.length))
  return value === null || value instanceof Uint || typeof value !== 'object' ? one : undefined
}
