// Variables, and selections from them or from what a step gives: `self.a[i].b`.

import { costs } from './cost.js'
import type { Run } from './run.js'
import { type Pieces, Step, valueIn } from './step.js'
import { CelError, CelList, CelMap, noSuchOverload, typeName, type Value } from './values.js'

/** Where an attribute begins. */
export abstract class Root {
  readonly parts: readonly Step[]

  constructor(parts: readonly Step[]) {
    this.parts = parts
  }

  abstract begin(run: Run): Value
  abstract beginInPieces(run: Run): Pieces<Value>
}

export class Variable extends Root {
  private readonly read: (run: Run) => Value

  constructor(read: (run: Run) => Value) {
    super([])
    this.read = read
  }

  override begin(run: Run): Value {
    return this.read(run)
  }

  // biome-ignore lint/correctness/useYield: it is at once
  override *beginInPieces(run: Run): Pieces<Value> {
    return this.read(run)
  }
}

class Result extends Root {
  private readonly step: Step

  constructor(step: Step) {
    super([step])
    this.step = step
  }

  override begin(run: Run): Value {
    return this.step.evaluate(run)
  }

  override beginInPieces(run: Run): Pieces<Value> {
    return valueIn(this.step, run)
  }
}

/** `condition ? yes : no`. */
class Choice extends Root {
  private readonly condition: Step
  private readonly yes: Step
  private readonly no: Step

  constructor(condition: Step, yes: Step, no: Step) {
    super([condition, yes, no])
    this.condition = condition
    this.yes = yes
    this.no = no
  }

  private choose(decided: Value): Step | CelError {
    if (typeof decided === 'boolean') return decided ? this.yes : this.no
    return decided instanceof CelError ? decided : noSuchOverload
  }

  override begin(run: Run): Value {
    const chosen = this.choose(this.condition.evaluate(run))
    return chosen instanceof CelError ? chosen : resolve(chosen, run)
  }

  override *beginInPieces(run: Run): Pieces<Value> {
    const chosen = this.choose(yield* valueIn(this.condition, run))
    return chosen instanceof CelError ? chosen : yield* resolveInPieces(chosen, run)
  }
}

const nameCost = Number(costs.selectOrName)

/** A variable, a choice, or the result of a step, and selections from it: `self.a[i].b`. */
export class Attribute extends Step {
  private readonly root: Root
  private readonly keys: readonly Step[]
  private readonly isFree: boolean

  constructor(root: Root, keys: readonly Step[] = []) {
    super([...root.parts, ...keys])
    this.root = root
    this.keys = keys
    // A choice between others costs nothing by itself.
    this.isFree = root instanceof Choice
  }

  static from = (step: Step): Attribute => (step instanceof Attribute ? step : new Attribute(new Result(step)))
  static choice = (condition: Step, yes: Step, no: Step): Attribute => new Attribute(new Choice(condition, yes, no))

  select(key: Step): Attribute {
    return new Attribute(this.root, [...this.keys, key])
  }

  /** Without the cost of the attribute itself: what an index or a choice asks for. */
  resolve(run: Run): Value {
    let value = this.root.begin(run)
    for (const key of this.keys) {
      if (value instanceof CelError) return value
      value = select(value, resolve(key, run))
      run.spend(nameCost)
    }
    return value
  }

  *resolveInPieces(run: Run): Pieces<Value> {
    let value = yield* this.root.beginInPieces(run)
    for (const key of this.keys) {
      if (value instanceof CelError) return value
      value = select(value, yield* resolveInPieces(key, run))
      run.spend(nameCost)
    }
    return value
  }

  override evaluate(run: Run): Value {
    const value = this.resolve(run)
    if (!this.isFree) run.spend(nameCost)
    return value
  }

  override *pieces(run: Run): Pieces<Value> {
    const value = yield* this.resolveInPieces(run)
    if (!this.isFree) run.spend(nameCost)
    return value
  }
}

const resolve = (step: Step, run: Run): Value => (step instanceof Attribute ? step.resolve(run) : step.evaluate(run))

function* resolveInPieces(step: Step, run: Run): Pieces<Value> {
  return step instanceof Attribute ? yield* step.resolveInPieces(run) : yield* valueIn(step, run)
}

function select(value: Value, key: Value): Value {
  if (key instanceof CelError) return key
  if (value instanceof CelMap) {
    const found = value.find(key)
    return found === undefined ? noSuchKey(key) : found
  }
  if (!(value instanceof CelList)) return noSuchKey(key)
  if (typeof key === 'number') return new CelError(`unsupported index: ${key}`)
  if (typeof key !== 'bigint') return new CelError(`unsupported index type '${typeName(key)}' in list`)
  return key < 0n || key >= BigInt(value.size) ? new CelError(`index out of bounds: ${key}`) : value.at(Number(key))
}

const noSuchKey = (key: Value): CelError =>
  new CelError(`no such key: ${typeof key === 'object' && key !== null ? typeName(key) : String(key)}`)
