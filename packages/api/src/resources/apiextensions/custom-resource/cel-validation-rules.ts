// Evaluates x-kubernetes-validations (CEL) of a custom resource, with transition rules and a cost budget per object.

import type { RuleContext } from '../../../api/definition/resource-definition.js'
import { type FieldError, invalid } from '../../../api/field-error.js'
import { CelCompileError, compileExpression, type Program } from '../../../cel/compile.js'
import type { Chunks } from '../../../cel/evaluate/step.js'
import { traceExpression } from '../../../cel/trace.js'
import { environmentOf, typeOfSchema, type ValueSchema, withTypeAndMetadata } from '../../../cel/types/structural-schema-types.js'
import { valueBySchema } from '../../../cel/values/json-values.js'
import { CelError, type Value } from '../../../cel/values/values.js'
import { isRecord } from '../../../schema/json/read.js'
import { writeAny } from '../../../schema/json/write.js'
import { additionalSchema, isEmbedded, itemSchema, type JsonSchema, type SchemaRule } from '../schema/json-schema.js'
import { hasExpressions } from '../schema/schema-search.js'

const maxCallCost = 1_000_000
const maxObjectCost = 10_000_000

interface CompiledRule {
  readonly rule: SchemaRule
  readonly program: Program | undefined
  readonly problem: string | undefined
  readonly isTransition: boolean
}

const compiled = new WeakMap<JsonSchema, readonly CompiledRule[]>()

/** Compiles the rules once per schema node. */
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

const ruleText = ({ message = '', rule = '' }: SchemaRule): string => (message === '' ? rule.trim() : message.trim())

/** Reasons of schema errors after which CEL rules are not evaluated. */
const blockingReasons: ReadonlySet<FieldError['reason']> = new Set([
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

interface RuleInput {
  readonly schema: JsonSchema
  readonly object: unknown
  readonly old: unknown
}

type CheckContext = Pick<RuleContext, 'onExpression'>

/** Generator that pauses between values and rules, for time slices. `errors`: results of schema validation. */
export function* checkExpressions(
  input: RuleInput,
  errors: readonly FieldError[],
  context: CheckContext = {},
): Chunks<readonly FieldError[]> {
  if (!hasExpressions(input.schema)) return []
  if (errors.some(({ reason }) => blockingReasons.has(reason))) {
    const message =
      'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
    return [invalid('<nil>', null, message)]
  }
  const check = new ExpressionCheck(context)
  yield* check.checkValue(input.schema, input.object, input.old, '', true)
  return check.errors
}

/** Evaluates the rules on a default value, which is also its own old value. */
export function checkDefault(schema: JsonSchema, value: unknown, path: string): readonly FieldError[] {
  if (!hasExpressions(schema)) return []
  const check = new ExpressionCheck({})
  const work = check.checkValue(schema, value, value, path, false)
  while (work.next().done !== true);
  return check.errors
}

class ExpressionCheck {
  readonly errors: FieldError[] = []
  private readonly context: CheckContext
  private budget = maxObjectCost

  constructor(context: CheckContext) {
    this.context = context
  }

  private get isExhausted(): boolean {
    return this.budget < 0
  }

  *checkValue(schema: JsonSchema | undefined, value: unknown, old: unknown, path: string, isRoot: boolean): Chunks<void> {
    if (schema === undefined || value === null || value === undefined || this.isExhausted) return
    yield* this.checkRules(schema, value, old ?? undefined, path, isRoot || isEmbedded(schema))
    if (Array.isArray(value)) yield* this.checkItems(schema, value, old, path)
    else if (isRecord(value)) yield* this.checkMembers(schema, value, isRecord(old) ? old : {}, path)
  }

  private *checkItems(schema: JsonSchema, items: readonly unknown[], old: unknown, path: string): Chunks<void> {
    const item = itemSchema(schema)
    if (item === undefined || !hasExpressions(item)) return
    const before = keyedItems(schema, old)
    for (let i = 0; i < items.length && !this.isExhausted; i++) {
      yield
      yield* this.checkValue(item, items[i], before?.get(keyOf(schema, items[i])), `${path}[${i}]`, false)
    }
  }

  private *checkMembers(schema: JsonSchema, members: Record<string, unknown>, old: Record<string, unknown>, path: string): Chunks<void> {
    const isCorrelated = schema['x-kubernetes-map-type'] !== 'atomic'
    const additional = additionalSchema(schema)
    for (const [name, member] of Object.entries(members)) {
      if (this.isExhausted) return
      const property = schema.properties !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
      const inner = property ?? additional
      if (inner === undefined || !hasExpressions(inner)) continue
      yield
      const before = isCorrelated && Object.hasOwn(old, name) ? old[name] : undefined
      const memberPath = property === undefined ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
      yield* this.checkValue(inner, member, before, memberPath, false)
    }
  }

  private *checkRules(schema: JsonSchema, value: unknown, old: unknown, path: string, isRoot: boolean): Chunks<void> {
    const rules = rulesOf(schema, isRoot)
    if (rules.length === 0) return
    const fail = (message: string): void => void this.errors.push(invalid(path === '' ? '<nil>' : path, schema.type ?? '', message))
    if (this.budget === 0) {
      fail(exhausted)
      this.budget = -1
      return
    }
    const typedSchema = (isRoot ? withTypeAndMetadata(schema as ValueSchema) : schema) as ValueSchema
    const self = valueBySchema(value, typedSchema)
    const variables: { readonly [name: string]: Value } = old === undefined ? { self } : { self, oldSelf: valueBySchema(old, typedSchema) }
    for (const { rule, program, problem, isTransition } of rules) {
      yield
      if (program === undefined) fail(`rule compile error: ${problem}`)
      else if (!isTransition || old !== undefined) {
        const { value: result, cost } = yield* program.evaluateInChunks(variables, maxCallCost)
        this.context.onExpression?.({
          path,
          text: rule.rule ?? '',
          cost,
          isTrue: result === true,
          trace: () => traceExpression(program, variables, maxCallCost),
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
  if (!(result instanceof CelError)) return rule.message ? rule.message : `failed rule: ${ruleText(rule)}`
  const { message } = result
  if (message.startsWith('no such overload')) {
    return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText(rule)}`
  }
  if (message.startsWith('operation cancelled')) {
    return `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText(rule)}`
  }
  return `${message} evaluating rule: ${ruleText(rule)}`
}

/** Only items of lists with map keys have an old value. */
function keyedItems(schema: JsonSchema, old: unknown): ReadonlyMap<string, unknown> | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return undefined
  return new Map(old.map((item) => [keyOf(schema, item), item]))
}

const keyOf = (schema: JsonSchema, item: unknown): string =>
  writeAny((schema['x-kubernetes-list-map-keys'] ?? []).map((key) => (isRecord(item) && Object.hasOwn(item, key) ? item[key] : null)))
