// Evaluation steps of CEL expressions, except constants and attributes: presence, logic, calls, membership, lists, maps, messages, macros.

import type { CallCost } from '../cost/call-cost.js'
import { type CallNodes, type CallTime, maxBlockingNs, maxNodes } from '../cost/call-time.js'
import { costs } from '../cost/cost-units.js'
import type { Message } from '../functions/protobuf-messages.js'
import type { CelFunction } from '../functions/table.js'
import {
  CelError,
  CelList,
  CelMap,
  entryKey,
  keyText,
  noSuchOverload,
  sizeOf,
  typeName,
  type Value,
  ValueList,
  ValueMap,
} from '../values/values.js'
import { CostExceeded, type Run } from './run.js'
import { type Chunks, evaluateStep, Step } from './step.js'

abstract class Computation extends Step {
  protected readonly operands: readonly Step[]

  constructor(operands: readonly Step[]) {
    super(operands)
    this.operands = operands
  }

  /** True if the remaining operands need not be evaluated. */
  protected isDecided(_values: readonly Value[]): boolean {
    return false
  }

  protected abstract compute(values: readonly Value[], run: Run): Value

  override evaluate(run: Run): Value {
    const values: Value[] = []
    for (const operand of this.operands) {
      values.push(operand.evaluate(run))
      if (this.isDecided(values)) break
    }
    return this.compute(values, run)
  }

  override *chunks(run: Run): Chunks<Value> {
    const values: Value[] = []
    for (const operand of this.operands) {
      values.push(operand.hasComprehension ? yield* operand.chunks(run) : operand.evaluate(run))
      if (this.isDecided(values)) break
    }
    return this.compute(values, run)
  }
}

/** Presence test `has(operand.field)`. */
export class Presence extends Computation {
  private readonly field: string

  constructor(operand: Step, field: string) {
    super([operand])
    this.field = field
  }

  protected override compute([operand]: readonly Value[]): Value {
    if (operand instanceof CelError) return operand
    // As in kube-apiserver, lists are searched for the name.
    if (operand instanceof CelList) return operand.contains(this.field)
    if (!(operand instanceof CelMap)) return new CelError('invalid type for field selection.')
    const found = operand.find(this.field)
    return found instanceof CelError ? found : found !== undefined
  }
}

/** `&&` and `||`: `decider` is the value that decides the result. */
export class Logic extends Computation {
  private readonly decider: boolean

  constructor(left: Step, right: Step, decider: boolean) {
    super([left, right])
    this.decider = decider
  }

  protected override isDecided(values: readonly Value[]): boolean {
    return values[0] === this.decider
  }

  protected override compute([left, right]: readonly Value[]): Value {
    if (left === this.decider || right === this.decider) return this.decider
    if (typeof left === 'boolean' && typeof right === 'boolean') return !this.decider
    if (left instanceof CelError) return left
    return right instanceof CelError ? right : noSuchOverload
  }
}

interface CallTraits {
  readonly elementType: string
  readonly cost: CallCost
  readonly time: CallTime
  readonly nodes: CallNodes | undefined
}

export class Call extends Computation {
  private readonly operate: CelFunction
  private readonly elementType: string
  private readonly cost: CallCost
  private readonly time: CallTime
  private readonly nodes: CallNodes | undefined

  constructor(operate: CelFunction, args: readonly Step[], { elementType, cost, time, nodes }: CallTraits) {
    super(args)
    this.operate = operate
    this.elementType = elementType
    this.cost = cost
    this.time = time
    this.nodes = nodes
  }

  /** Calls with three or more operands stop at the first error, as in kube-apiserver. */
  protected override isDecided(values: readonly Value[]): boolean {
    return this.operands.length > 2 && values.at(-1) instanceof CelError
  }

  protected override compute(values: readonly Value[], run: Run): Value {
    const error = values.find((value) => value instanceof CelError)
    // A call that was not evaluated costs nothing.
    if (error !== undefined && values.length < this.operands.length) return error
    if (error === undefined) {
      const ns = this.time(values)
      if (ns > 0) run.addTime(ns)
      if (ns > maxBlockingNs && this.nodes !== undefined && this.nodes(values, maxNodes) >= maxNodes) throw new CostExceeded()
    }
    const result = error ?? this.operate(values, this.elementType)
    run.spend(this.cost(values, result))
    if (typeof result === 'string') run.countCreated(result.length)
    else if (result instanceof CelList) run.countCreated(8 * createdItems(values, result))
    return result
  }
}

/** The first append to a ValueList shares its items; all other results are copies. */
function createdItems(values: readonly Value[], result: CelList): number {
  if (!(result instanceof ValueList)) return result.size
  const added = sizeOf(values.at(-1) as Value) ?? 1
  return values.includes(result) ? added : result.copied + added
}

/** `x in [constants]`, as a set lookup. */
export class Membership extends Computation {
  private readonly constantKeys: ReadonlySet<string>

  constructor(item: Step, constantKeys: ReadonlySet<string>) {
    super([item])
    this.constantKeys = constantKeys
  }

  /** An error is in no list, as in kube-apiserver. */
  protected override compute([item]: readonly Value[]): Value {
    const text = keyText(item as Value)
    return text !== undefined && this.constantKeys.has(text)
  }
}

/** `@not_strictly_false`: loop condition of macros, true also for errors. */
export class NotFalse extends Computation {
  constructor(operand: Step) {
    super([operand])
  }

  protected override compute([value]: readonly Value[], run: Run): Value {
    run.spend(1)
    return value !== false
  }
}

abstract class Construction extends Computation {
  private readonly cost: number

  constructor(operands: readonly Step[], cost: bigint) {
    super(operands)
    this.cost = Number(cost)
  }

  protected abstract make(values: readonly Value[]): Value

  protected override isDecided(values: readonly Value[]): boolean {
    return values.at(-1) instanceof CelError
  }

  protected override compute(values: readonly Value[], run: Run): Value {
    run.spend(this.cost)
    const last = values.at(-1)
    return last instanceof CelError ? last : this.make(values)
  }
}

export class MakeList extends Construction {
  constructor(operands: readonly Step[]) {
    super(operands, costs.list)
  }

  protected override make(values: readonly Value[]): Value {
    return new ValueList([...values])
  }
}

export class MakeMap extends Construction {
  constructor(operands: readonly Step[]) {
    super(operands, costs.map)
  }

  protected override make(values: readonly Value[]): Value {
    const entries = new Map<string, readonly [Value, Value]>()
    for (let i = 0; i < values.length; i += 2) {
      const key = values[i] as Value
      entries.set(entryKey(key) ?? `\u0000${i}`, [key, values[i + 1] as Value])
    }
    return new ValueMap(entries)
  }
}

export class MakeMessage extends Construction {
  private readonly message: Message
  private readonly names: readonly string[]

  constructor(message: Message, names: readonly string[], values: readonly Step[]) {
    super(values, costs.message)
    this.message = message
    this.names = names
  }

  protected override make(values: readonly Value[]): Value {
    const fields: { [name: string]: bigint } = {}
    for (const [i, value] of values.entries()) {
      if (typeof value !== 'bigint') return new CelError(`unsupported field type for ${this.names[i]}: ${typeName(value)}`)
      fields[this.names[i] as string] = value
    }
    return this.message.make(fields)
  }
}

interface ComprehensionSteps {
  readonly range: Step
  readonly initial: Step
  readonly condition: Step
  readonly step: Step
  readonly result: Step
  /** Index of the accumulator in `run.locals`; the loop variable has the next one. */
  readonly slot: number
}

const goTypes: { readonly [type: string]: string } = {
  int: 'types.Int',
  uint: 'types.Uint',
  double: 'types.Double',
  string: 'types.String',
  bool: 'types.Bool',
  bytes: 'types.Bytes',
  null_type: 'types.Null',
  'google.protobuf.Timestamp': 'types.Timestamp',
  'google.protobuf.Duration': 'types.Duration',
}

function* itemsOf(collection: CelList | CelMap): Iterable<Value> {
  if (collection instanceof CelMap) yield* collection.keys()
  else for (let i = 0; i < collection.size; i++) yield collection.at(i)
}

const notIterable = (collection: Value): CelError => {
  if (collection instanceof CelError) return collection
  const type = typeName(collection)
  return new CelError(`got '${goTypes[type] ?? type}', expected iterable type`)
}

/** `map` and `filter` make one list, not a sum of lists. */
const joined = (value: Value): Value => (value instanceof ValueList ? value.joined() : value)

export class Comprehension extends Step {
  private readonly steps: ComprehensionSteps

  constructor(steps: ComprehensionSteps) {
    super([], true)
    this.steps = steps
  }

  override evaluate(run: Run): Value {
    const { range, initial, condition, step, result, slot } = this.steps
    const collection = range.evaluate(run)
    if (!(collection instanceof CelList || collection instanceof CelMap)) return notIterable(collection)
    const { locals } = run
    locals[slot] = initial.evaluate(run)
    for (const item of itemsOf(collection)) {
      locals[slot + 1] = item
      if (condition.evaluate(run) === false) break
      locals[slot] = step.evaluate(run)
    }
    return joined(result.evaluate(run))
  }

  override *chunks(run: Run): Chunks<Value> {
    const { range, initial, condition, step, result, slot } = this.steps
    const collection = yield* evaluateStep(range, run)
    if (!(collection instanceof CelList || collection instanceof CelMap)) return notIterable(collection)
    const { locals } = run
    locals[slot] = yield* evaluateStep(initial, run)
    for (const item of itemsOf(collection)) {
      if (run.shouldYield()) {
        yield
        run.resetAfterYield()
      }
      locals[slot + 1] = item
      if ((condition.hasComprehension ? yield* condition.chunks(run) : condition.evaluate(run)) === false) break
      locals[slot] = step.hasComprehension ? yield* step.chunks(run) : step.evaluate(run)
    }
    return joined(yield* evaluateStep(result, run))
  }
}
