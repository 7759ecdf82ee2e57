// Plans a checked CEL expression as evaluation steps. Lists, maps and conversions of constants are computed here: an error fails
// the plan, and the values cost nothing at evaluation.

import { costOfCall } from '../cost/call-cost.js'
import { nodesOfCall, timeOfCall } from '../cost/call-time.js'
import { messageNamed } from '../functions/protobuf-messages.js'
import { type CelFunction, constantMatches, functions } from '../functions/table.js'
import { compileRegex } from '../regex/regex.js'
import type { CallExpr, ComprehensionExpr, Expr } from '../syntax/ast.js'
import type { Checked } from '../types/type-check.js'
import type { Type } from '../types/types.js'
import { Uint } from '../values/uint.js'
import { CelError, CelList, keyText, TypeValue, type Value } from '../values/values.js'
import { Attribute, Variable } from './attribute.js'
import { Run } from './run.js'
import { Constant, type Step } from './step.js'
import { Call, Comprehension, Logic, MakeList, MakeMap, MakeMessage, Membership, NotFalse, Presence } from './steps.js'

export class CelPlanError extends Error {}

/** Throws {@link CelPlanError}. */
export const planExpression = (checked: Checked): Step => new Planner(checked).plan(checked.expr)

const conversions: ReadonlySet<string> = new Set('bool bytes double duration dyn int string timestamp type uint'.split(' '))
const regexFunctions: ReadonlySet<string> = new Set(['matches', 'find', 'findAll'])

class Planner {
  private readonly checked: Checked
  private readonly scope: { readonly name: string; readonly slot: number }[] = []

  constructor(checked: Checked) {
    this.checked = checked
  }

  plan(expr: Expr): Step {
    switch (expr.kind) {
      case 'const':
        return new Constant(expr.value as Value)
      case 'ident':
        return this.planName(expr.name, expr)
      case 'select': {
        const name = this.checked.names.get(expr)
        if (name !== undefined) return this.planName(name, expr)
        const operand = this.plan(expr.operand)
        if (expr.isTest) return new Presence(operand, expr.field)
        return Attribute.from(operand).select(new Constant(expr.field))
      }
      case 'call':
        return this.planCall(expr)
      case 'list': {
        const elements = expr.elements.map((element) => this.plan(element))
        return fold(new MakeList(elements), elements)
      }
      case 'map': {
        const operands = expr.entries.flatMap(({ key, value }) => [this.plan(key), this.plan(value)])
        return fold(new MakeMap(operands), operands)
      }
      case 'comprehension':
        return this.planComprehension(expr)
      case 'message': {
        const message = messageNamed(expr.name)
        if (message === undefined) throw new CelPlanError(`unknown type: ${expr.name}`)
        const values = expr.fields.map(({ value }) => this.plan(value))
        return new MakeMessage(
          message,
          expr.fields.map(({ name }) => name),
          values,
        )
      }
    }
  }

  private planName(name: string, expr: Expr): Step {
    for (let i = this.scope.length - 1; i >= 0; i--) {
      const { name: local, slot } = this.scope[i] as { name: string; slot: number }
      if (local === name) return new Attribute(new Variable((run) => run.locals[slot] as Value, true))
    }
    const type = this.checked.types.get(expr)
    const variableName = name.startsWith('.') ? name.slice(1) : name
    if (type?.kind === 'type') return new Constant(new TypeValue(variableName))
    const absent = new CelError(`no such attribute(s): ${variableName}`)
    return new Attribute(
      new Variable(({ variables }) => (Object.hasOwn(variables, variableName) ? (variables[variableName] as Value) : absent)),
    )
  }

  private planCall(expr: CallExpr): Step {
    const { name, target } = expr
    const args = (target === undefined ? expr.args : [target, ...expr.args]).map((arg) => this.plan(arg))
    const [first, second, third] = args as [Step, Step, Step]
    switch (name) {
      case '_?_:_':
        return Attribute.conditional(first, second, third)
      case '_&&_':
        return new Logic(first, second, false)
      case '_||_':
        return new Logic(first, second, true)
      case '@not_strictly_false':
        return new NotFalse(first)
      case '_[_]':
        return Attribute.from(first).select(second)
      default:
        return this.planFunction(expr, args)
    }
  }

  private planFunction(expr: CallExpr, args: readonly Step[]): Step {
    const { name, target } = expr
    const overloads = this.checked.overloads.get(expr) ?? []
    const [first, second] = args as [Step, Step]
    if (name === '@in' && overloads.length === 1 && overloads[0] === 'in_list' && second instanceof Constant) {
      const membership = membershipOf(first, second.value)
      if (membership !== undefined) return membership
    }
    if (regexFunctions.has(name) && second instanceof Constant && typeof second.value === 'string') {
      const pattern = compileRegex(second.value)
      if (pattern instanceof Error) throw new CelPlanError(pattern.message)
    }
    const elementType = target === undefined ? '' : elementKind(this.checked.types.get(target))
    const operate = name === 'matches' && second instanceof Constant ? constantMatches : (functions[name] as CelFunction)
    const call = new Call(operate, args, {
      elementType,
      cost: costOfCall(name, overloads),
      time: timeOfCall(name, second instanceof Constant ? second.value : undefined),
      nodes: nodesOfCall(name),
    })
    return conversions.has(name) && args.length === 1 ? fold(call, args) : call
  }

  private planComprehension(expr: ComprehensionExpr): Step {
    const range = this.plan(expr.range)
    const initial = this.plan(expr.initial)
    const slot = this.scope.length
    this.scope.push({ name: expr.accumulator, slot })
    this.scope.push({ name: expr.variable, slot: slot + 1 })
    const condition = this.plan(expr.condition)
    const step = this.plan(expr.step)
    this.scope.pop()
    const result = this.plan(expr.result)
    this.scope.pop()
    return new Comprehension({ range, initial, condition, step, result, slot })
  }
}

const elementKind = (type: Type | undefined): string => (type?.kind === 'list' ? type.element.kind : '')

/** Folds a step whose operands are constants. */
function fold(step: Step, operands: readonly Step[]): Step {
  if (!operands.every((operand) => operand instanceof Constant)) return step
  const value = step.evaluate(new Run({}, Number.POSITIVE_INFINITY))
  if (value instanceof CelError) throw new CelPlanError(value.message)
  return new Constant(value)
}

/** Plans `x in [constants]` as a set lookup; undefined if a constant has no key. */
function membershipOf(item: Step, list: Value): Step | undefined {
  if (!(list instanceof CelList)) return undefined
  if (list.size === 0) return new Constant(false)
  const constantKeys = new Set<string>()
  for (let i = 0; i < list.size; i++) {
    const value = list.at(i)
    const text = keyText(value)
    if (text === undefined || (typeof value === 'object' && !(value instanceof Uint))) return undefined
    constantKeys.add(text)
  }
  return new Membership(item, constantKeys)
}
