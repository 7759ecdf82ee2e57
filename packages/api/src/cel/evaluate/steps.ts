// The steps into which a checked expression is planned, but for attributes.

import type { CallCost } from './call-cost.js'
import { type CallParts, type CallWork, mostParts, mostWork } from './call-work.js'
import { costs } from './cost.js'
import type { CelFunction } from './functions/table.js'
import type { Message } from './messages.js'
import { CostExceeded, type Run } from './run.js'
import { type Pieces, Step, valueIn } from './step.js'
import { CelError, CelList, CelMap, keyText, noSuchOverload, sizeOf, typeName, type Value, ValueList, ValueMap } from './values.js'

/** A step that computes something from the values of others. */
abstract class Computation extends Step {
  protected readonly operands: readonly Step[]

  constructor(operands: readonly Step[]) {
    super(operands)
    this.operands = operands
  }

  /** Whether the values so far decide, so that the others are not looked at. */
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

  override *pieces(run: Run): Pieces<Value> {
    const values: Value[] = []
    for (const operand of this.operands) {
      values.push(operand.walks ? yield* operand.pieces(run) : operand.evaluate(run))
      if (this.isDecided(values)) break
    }
    return this.compute(values, run)
  }
}

/** `has(a.b)`. */
export class Presence extends Computation {
  private readonly field: string

  constructor(operand: Step, field: string) {
    super([operand])
    this.field = field
  }

  protected override compute([operand]: readonly Value[]): Value {
    if (operand instanceof CelError) return operand
    if (!(operand instanceof CelMap)) return new CelError('invalid type for field selection.')
    const found = operand.find(this.field)
    return found instanceof CelError ? found : found !== undefined
  }
}

/** `&&` and `||`: an error counts only where the other side does not decide. */
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

export interface CallTraits {
  /** Of a list as it was checked. */
  readonly elementType: string
  readonly cost: CallCost
  readonly work: CallWork
  /** Of what goes to the bottom of values. */
  readonly parts: CallParts | undefined
}

export class Call extends Computation {
  private readonly operate: CelFunction
  private readonly elementType: string
  private readonly cost: CallCost
  private readonly work: CallWork
  private readonly parts: CallParts | undefined

  constructor(operate: CelFunction, args: readonly Step[], { elementType, cost, work, parts }: CallTraits) {
    super(args)
    this.operate = operate
    this.elementType = elementType
    this.cost = cost
    this.work = work
    this.parts = parts
  }

  /** Of three arguments and more, those behind an error are not looked at. */
  protected override isDecided(values: readonly Value[]): boolean {
    return this.operands.length > 2 && values.at(-1) instanceof CelError
  }

  protected override compute(values: readonly Value[], run: Run): Value {
    const problem = values.find((value) => value instanceof CelError)
    // A call that was not reached costs nothing.
    if (problem !== undefined && values.length < this.operands.length) return problem
    if (problem === undefined) {
      const work = this.work(values)
      if (work > 0) run.weigh(work)
      if (work > mostWork && this.parts !== undefined && this.parts(values, mostParts) >= mostParts) throw new CostExceeded()
    }
    const result = problem ?? this.operate(values, this.elementType)
    run.spend(this.cost(values, result))
    if (typeof result === 'string') run.make(result.length)
    // Appending to a list that an expression made shares it; everything else is a copy.
    else if (result instanceof CelList) run.make(8 * (result instanceof ValueList ? (sizeOf(values.at(-1) as Value) ?? 1) : result.size))
    return result
  }
}

/** `x in [1, 2, 3]` with a list that is known beforehand. */
export class Membership extends Computation {
  private readonly known: ReadonlySet<string>

  constructor(item: Step, known: ReadonlySet<string>) {
    super([item])
    this.known = known
  }

  /** An error is in no list. */
  protected override compute([item]: readonly Value[]): Value {
    const text = keyText(item as Value)
    return text !== undefined && this.known.has(text)
  }
}

/** True unless it is false for certain: what ends a walk. */
export class NotFalse extends Computation {
  constructor(operand: Step) {
    super([operand])
  }

  protected override compute([value]: readonly Value[], run: Run): Value {
    run.spend(1)
    return value !== false
  }
}

/** What is made of all its parts; the first that is an error is what becomes of it. */
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

/** Of keys and values in turn. */
export class MakeMap extends Construction {
  constructor(operands: readonly Step[]) {
    super(operands, costs.map)
  }

  protected override make(values: readonly Value[]): Value {
    const entries = new Map<string, readonly [Value, Value]>()
    for (let i = 0; i < values.length; i += 2) {
      const key = values[i] as Value
      // What cannot be asked for is kept, too.
      entries.set(keyText(key) ?? `\u0000${i}`, [key, values[i + 1] as Value])
    }
    return new ValueMap(entries)
  }
}

/** `google.protobuf.Timestamp{seconds: 1}`. */
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

export interface Walk {
  readonly range: Step
  readonly initial: Step
  readonly condition: Step
  readonly step: Step
  readonly result: Step
  /** Where the accumulator lives; the variable is next to it. */
  readonly slot: number
}

const shownTypes: { readonly [type: string]: string } = {
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

function* itemsOf(over: CelList | CelMap): Iterable<Value> {
  if (over instanceof CelMap) yield* over.keys()
  else for (let i = 0; i < over.size; i++) yield over.at(i)
}

const notIterable = (over: Value): CelError => {
  if (over instanceof CelError) return over
  const type = typeName(over)
  return new CelError(`got '${shownTypes[type] ?? type}', expected iterable type`)
}

export class Comprehension extends Step {
  private readonly walk: Walk

  constructor(walk: Walk) {
    super([], true)
    this.walk = walk
  }

  override evaluate(run: Run): Value {
    const { range, initial, condition, step, result, slot } = this.walk
    const over = range.evaluate(run)
    if (!(over instanceof CelList || over instanceof CelMap)) return notIterable(over)
    const { locals } = run
    locals[slot] = initial.evaluate(run)
    for (const item of itemsOf(over)) {
      locals[slot + 1] = item
      if (condition.evaluate(run) === false) break
      locals[slot] = step.evaluate(run)
    }
    return result.evaluate(run)
  }

  override *pieces(run: Run): Pieces<Value> {
    const { range, initial, condition, step, result, slot } = this.walk
    const over = yield* valueIn(range, run)
    if (!(over instanceof CelList || over instanceof CelMap)) return notIterable(over)
    const { locals } = run
    locals[slot] = yield* valueIn(initial, run)
    for (const item of itemsOf(over)) {
      if (run.isDue()) {
        yield
        run.hasGivenWay()
      }
      locals[slot + 1] = item
      if ((condition.walks ? yield* condition.pieces(run) : condition.evaluate(run)) === false) break
      locals[slot] = step.walks ? yield* step.pieces(run) : step.evaluate(run)
    }
    return yield* valueIn(result, run)
  }
}
