// Rules of custom kinds that are written as expressions, over the values of an object and, for rules about changes, over those before.

import type { RuleContext } from '../../../api/definition.js'
import { type FieldError, invalid } from '../../../api/field-error.js'
import { CelCompileError, compileExpression, type Program } from '../../../cel/compile.js'
import { valueOfData } from '../../../cel/data.js'
import { environmentOf, typeOfSchema, type ValueSchema, withTypeAndMetadata } from '../../../cel/schema-type.js'
import type { Pieces } from '../../../cel/step.js'
import { traceExpression } from '../../../cel/trace.js'
import { CelError, type Value } from '../../../cel/values.js'
import { isRecord } from '../../../schema/read.js'
import { writeAny } from '../../../schema/write.js'
import { additionalSchema, isEmbedded, itemSchema, type JsonSchema, type SchemaRule } from '../json-schema.js'
import { hasExpressions } from '../schema-expressions.js'

/** What one rule may cost, and all rules of one object. */
export const callLimit = 1_000_000
export const objectBudget = 10_000_000

interface CompiledRule {
  readonly rule: SchemaRule
  readonly program: Program | undefined
  readonly problem: string | undefined
  /** It speaks of the value before. */
  readonly isTransition: boolean
}

const compiled = new WeakMap<JsonSchema, readonly CompiledRule[]>()

/** Compiled once for each place of a schema. */
function rulesOf(schema: JsonSchema, isRoot: boolean): readonly CompiledRule[] {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const rules = (schema['x-kubernetes-validations'] ?? []).flatMap((rule) => compileRule(schema, rule, isRoot))
  compiled.set(schema, rules)
  return rules
}

function compileRule(schema: JsonSchema, rule: SchemaRule, isRoot: boolean): readonly CompiledRule[] {
  const text = rule.rule ?? ''
  const root = typeOfSchema(schema as ValueSchema, isRoot, 'selfType')
  if (text.trim() === '' || root === undefined) return []
  try {
    const program = compileExpression(text, environmentOf(root, ['self', 'oldSelf']))
    return [{ rule, program, problem: undefined, isTransition: program.mentions('oldSelf') }]
  } catch (thrown) {
    if (!(thrown instanceof CelCompileError)) throw thrown
    return [{ rule, program: undefined, problem: thrown.message, isTransition: false }]
  }
}

const nameOf = ({ message = '', rule = '' }: SchemaRule): string => (message === '' ? rule.trim() : message.trim())

/** The rules are not asked of an object that is wrong in itself. */
const blocking: ReadonlySet<FieldError['reason']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

export interface RuleSubject {
  readonly schema: JsonSchema
  readonly object: unknown
  /** Undefined where there was none. */
  readonly old: unknown
}

export type CheckContext = Pick<RuleContext, 'onExpression'>

/** What the rules find; gives way where it yields. `errors` is what other checks have found. */
export function* checkExpressions(
  subject: RuleSubject,
  errors: readonly FieldError[],
  context: CheckContext = {},
): Pieces<readonly FieldError[]> {
  if (!hasExpressions(subject.schema)) return []
  if (errors.some(({ reason }) => blocking.has(reason))) {
    const message =
      'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
    return [invalid('<nil>', null, message)]
  }
  const check = new ExpressionCheck(context)
  yield* check.value(subject.schema, subject.object, subject.old, '', true)
  return check.errors
}

/** The same of a default, which is looked at as if it had been there before. */
export function checkDefault(schema: JsonSchema, value: unknown, path: string): readonly FieldError[] {
  if (!hasExpressions(schema)) return []
  const check = new ExpressionCheck({})
  const work = check.value(schema, value, value, path, false)
  while (work.next().done !== true);
  return check.errors
}

class ExpressionCheck {
  readonly errors: FieldError[] = []
  private readonly context: CheckContext
  private budget = objectBudget

  constructor(context: CheckContext) {
    this.context = context
  }

  private get isOver(): boolean {
    return this.budget < 0
  }

  *value(schema: JsonSchema | undefined, value: unknown, old: unknown, path: string, isRoot: boolean): Pieces<void> {
    if (schema === undefined || value === null || value === undefined || this.isOver) return
    yield* this.rules(schema, value, old ?? undefined, path, isRoot || isEmbedded(schema))
    if (Array.isArray(value)) yield* this.items(schema, value, old, path)
    else if (isRecord(value)) yield* this.members(schema, value, isRecord(old) ? old : {}, path)
  }

  private *items(schema: JsonSchema, items: readonly unknown[], old: unknown, path: string): Pieces<void> {
    const item = itemSchema(schema)
    if (item === undefined || !hasExpressions(item)) return
    const before = keyedItems(schema, old)
    for (let i = 0; i < items.length && !this.isOver; i++) {
      yield
      yield* this.value(item, items[i], before?.get(keyOf(schema, items[i])), `${path}[${i}]`, false)
    }
  }

  private *members(schema: JsonSchema, members: Record<string, unknown>, old: Record<string, unknown>, path: string): Pieces<void> {
    const isCorrelated = schema['x-kubernetes-map-type'] !== 'atomic'
    const additional = additionalSchema(schema)
    for (const [name, member] of Object.entries(members)) {
      if (this.isOver) return
      const own = schema.properties !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
      const inner = own ?? additional
      if (inner === undefined || !hasExpressions(inner)) continue
      yield
      const before = isCorrelated && Object.hasOwn(old, name) ? old[name] : undefined
      const place = own === undefined ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
      yield* this.value(inner, member, before, place, false)
    }
  }

  private *rules(schema: JsonSchema, value: unknown, old: unknown, path: string, isRoot: boolean): Pieces<void> {
    const rules = rulesOf(schema, isRoot)
    if (rules.length === 0) return
    const fail = (message: string): void => void this.errors.push(invalid(path === '' ? '<nil>' : path, schema.type ?? '', message))
    if (this.budget === 0) {
      fail(exhausted)
      this.budget = -1
      return
    }
    const whole = (isRoot ? withTypeAndMetadata(schema as ValueSchema) : schema) as ValueSchema
    const self = valueOfData(value, whole)
    const variables: { readonly [name: string]: Value } = old === undefined ? { self } : { self, oldSelf: valueOfData(old, whole) }
    for (const { rule, program, problem, isTransition } of rules) {
      yield
      if (program === undefined) fail(`rule compile error: ${problem}`)
      else if (!isTransition || old !== undefined) {
        const { value: result, cost } = yield* program.evaluateInPieces(variables, callLimit)
        this.context.onExpression?.({
          path,
          text: rule.rule ?? '',
          cost,
          holds: result === true,
          trace: () => traceExpression(program, variables, callLimit),
        })
        if (cost > this.budget) {
          fail(exhausted)
          this.budget = -1
          return
        }
        this.budget -= cost
        if (result !== true) fail(explain(rule, result))
        if (result instanceof CelError && result.message.startsWith('operation cancelled')) {
          this.budget = -1
          return
        }
      }
    }
  }
}

const exhausted = 'validation failed due to running out of cost budget, no further validation rules will be run'

function explain(rule: SchemaRule, result: Value): string {
  if (!(result instanceof CelError)) return rule.message ? rule.message : `failed rule: ${nameOf(rule)}`
  const { message } = result
  if (message.startsWith('no such overload')) {
    return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${nameOf(rule)}`
  }
  if (message.startsWith('operation cancelled')) {
    return `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${nameOf(rule)}`
  }
  return `${message} evaluating rule: ${nameOf(rule)}`
}

/** Items of a keyed list are told apart by their keys; those of other lists have no past. */
function keyedItems(schema: JsonSchema, old: unknown): ReadonlyMap<string, unknown> | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return undefined
  return new Map(old.map((item) => [keyOf(schema, item), item]))
}

const keyOf = (schema: JsonSchema, item: unknown): string =>
  writeAny((schema['x-kubernetes-list-map-keys'] ?? []).map((key) => (isRecord(item) && Object.hasOwn(item, key) ? item[key] : null)))
