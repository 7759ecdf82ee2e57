// CEL attributes: variables, and selections such as `self.a[i].b` from variables, conditionals and results.

import { costs } from '../cost/cost-units.js'
import { CelError, CelList, CelMap, noSuchOverload, typeName, type Value } from '../values/values.js'
import type { Run } from './run.js'
import { type Chunks, evaluateStep, Step } from './step.js'

/** Start of an attribute, from which its keys select. */
abstract class Root {
  readonly operands: readonly Step[]
  /** True for variables of the environment and for conditionals, false for macro variables and computed values: index rules differ. */
  readonly isNative: boolean

  constructor(operands: readonly Step[], isNative: boolean) {
    this.operands = operands
    this.isNative = isNative
  }

  abstract evaluate(run: Run): Value
  abstract evaluateInChunks(run: Run): Chunks<Value>
}

export class Variable extends Root {
  private readonly read: (run: Run) => Value

  constructor(read: (run: Run) => Value, isLocal = false) {
    super([], !isLocal)
    this.read = read
  }

  override evaluate(run: Run): Value {
    return this.read(run)
  }

  // biome-ignore lint/correctness/useYield: reading a variable takes no time
  override *evaluateInChunks(run: Run): Chunks<Value> {
    return this.read(run)
  }
}

class Result extends Root {
  private readonly step: Step

  constructor(step: Step) {
    super([step], false)
    this.step = step
  }

  override evaluate(run: Run): Value {
    return this.step.evaluate(run)
  }

  override evaluateInChunks(run: Run): Chunks<Value> {
    return evaluateStep(this.step, run)
  }
}

class Conditional extends Root {
  private readonly condition: Step
  private readonly yes: Step
  private readonly no: Step

  constructor(condition: Step, yes: Step, no: Step) {
    super([condition, yes, no], true)
    this.condition = condition
    this.yes = yes
    this.no = no
  }

  private branchFor(conditionValue: Value): Step | CelError {
    if (typeof conditionValue === 'boolean') return conditionValue ? this.yes : this.no
    return conditionValue instanceof CelError ? conditionValue : noSuchOverload
  }

  override evaluate(run: Run): Value {
    const branch = this.branchFor(this.condition.evaluate(run))
    return branch instanceof CelError ? branch : resolve(branch, run)
  }

  override *evaluateInChunks(run: Run): Chunks<Value> {
    const branch = this.branchFor(yield* evaluateStep(this.condition, run))
    return branch instanceof CelError ? branch : yield* resolveInChunks(branch, run)
  }
}

const nameCost = Number(costs.selectOrName)

export class Attribute extends Step {
  private readonly root: Root
  private readonly keys: readonly Step[]
  private readonly isFree: boolean

  constructor(root: Root, keys: readonly Step[] = []) {
    super([...root.operands, ...keys])
    this.root = root
    this.keys = keys
    // kube-apiserver counts no cost for conditionals.
    this.isFree = root instanceof Conditional
  }

  static from = (step: Step): Attribute => (step instanceof Attribute ? step : new Attribute(new Result(step)))
  static conditional = (condition: Step, yes: Step, no: Step): Attribute => new Attribute(new Conditional(condition, yes, no))

  select(key: Step): Attribute {
    return new Attribute(this.root, [...this.keys, key])
  }

  resolve(run: Run): Value {
    let value = this.root.evaluate(run)
    for (const key of this.keys) {
      if (value instanceof CelError) return value
      value = select(value, resolve(key, run), this.root.isNative)
      run.spend(nameCost)
    }
    return value
  }

  *resolveInChunks(run: Run): Chunks<Value> {
    let value = yield* this.root.evaluateInChunks(run)
    for (const key of this.keys) {
      if (value instanceof CelError) return value
      value = select(value, yield* resolveInChunks(key, run), this.root.isNative)
      run.spend(nameCost)
    }
    return value
  }

  override evaluate(run: Run): Value {
    const value = this.resolve(run)
    if (!this.isFree) run.spend(nameCost)
    return value
  }

  override *chunks(run: Run): Chunks<Value> {
    const value = yield* this.resolveInChunks(run)
    if (!this.isFree) run.spend(nameCost)
    return value
  }
}

const resolve = (step: Step, run: Run): Value => (step instanceof Attribute ? step.resolve(run) : step.evaluate(run))

function* resolveInChunks(step: Step, run: Run): Chunks<Value> {
  return step instanceof Attribute ? yield* step.resolveInChunks(run) : yield* evaluateStep(step, run)
}

function select(value: Value, key: Value, isNative: boolean): Value {
  if (key instanceof CelError) return key
  if (value instanceof CelMap) {
    const found = value.find(key)
    return found === undefined ? noSuchKey(key) : found
  }
  return value instanceof CelList ? value.get(key, isNative) : noSuchKey(key)
}

const noSuchKey = (key: Value): CelError =>
  new CelError(`no such key: ${typeof key === 'object' && key !== null ? typeName(key) : String(key)}`)
