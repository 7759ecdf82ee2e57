// Validates the CEL rules of a CRD schema: they compile, return a bool, stay within the cost limit, use oldSelf only where it exists.

import { type FieldError, forbidden, invalid } from '../../../api/field-error.js'
import { CelCompileError, compileExpression, type Program } from '../../../cel/compile.js'
import { maxCost } from '../../../cel/cost/cost-units.js'
import { estimateCost } from '../../../cel/cost/estimate-cost.js'
import {
  environmentOf,
  maxOccurrences,
  type SizedType,
  typeOfSchema,
  type ValueSchema,
} from '../../../cel/types/structural-schema-types.js'
import { additionalSchema, isEmbedded, itemSchema, type JsonSchema, type SchemaRule, schemasOf } from '../schema/json-schema.js'
import { hasExpressions } from '../schema/schema-search.js'

const maxRuleCost = 10_000_000n
const maxSchemaCost = 100_000_000n
/** Minimum cost of rules that are reported if the total exceeds its limit; at most four rules are reported. */
const minReportedCost = maxSchemaCost / 100n
const maxReportedRules = 4

const rootType = 'selfType'

/** Skips schemas in `invalidPaths`. */
export function validateRuleExpressions(
  schema: JsonSchema,
  path: string,
  invalidPaths: ReadonlySet<string> = new Set(),
): readonly FieldError[] {
  if (!hasExpressions(schema)) return []
  const check = new CrdRuleCheck(invalidPaths)
  check.checkSchema(schema, { path, isRoot: true, occurrences: 1n, uncorrelated: undefined })
  return [...check.errors, ...check.totalErrors(path)]
}

interface EstimatedRule {
  readonly path: string
  readonly text: string
  readonly cost: bigint
}

export function estimateRules(schema: JsonSchema, path: string): readonly EstimatedRule[] {
  const check = new CrdRuleCheck(new Set())
  check.checkSchema(schema, { path, isRoot: true, occurrences: 1n, uncorrelated: undefined })
  return check.estimated
}

interface SchemaPosition {
  readonly path: string
  readonly isRoot: boolean
  /** Maximum occurrences in an object; undefined if unbounded. */
  readonly occurrences: bigint | undefined
  /** Path of the list or map above whose items have no old value. */
  readonly uncorrelated: string | undefined
}

const capped = (cost: bigint): bigint => (cost > maxCost ? maxCost : cost)

const times = (occurrences: bigint | undefined, maxCount: number | undefined): bigint | undefined =>
  occurrences === undefined || maxCount === undefined ? undefined : capped(occurrences * BigInt(Math.max(maxCount, 0)))

class CrdRuleCheck {
  readonly errors: FieldError[] = []
  readonly estimated: EstimatedRule[] = []
  private sum = 0n
  private mostExpensive: { readonly path: string; readonly cost: bigint }[] = []
  private readonly invalidPaths: ReadonlySet<string>

  constructor(invalidPaths: ReadonlySet<string>) {
    this.invalidPaths = invalidPaths
  }

  checkSchema(schema: JsonSchema, position: SchemaPosition): void {
    if (!hasExpressions(schema)) return
    const { path, occurrences, uncorrelated } = position
    const isCorrelated = schema['x-kubernetes-map-type'] !== 'atomic'
    const below = uncorrelated ?? (isCorrelated ? undefined : path)
    const additional = additionalSchema(schema)
    if (additional !== undefined) {
      const count = times(occurrences, schema.maxProperties)
      this.checkSchema(additional, { path: `${path}.additionalProperties`, isRoot: false, occurrences: count, uncorrelated })
    }
    for (const [name, property] of schemasOf(schema.properties)) {
      this.checkSchema(property, { path: `${path}.properties[${name}]`, isRoot: false, occurrences, uncorrelated: below })
    }
    const items = itemSchema(schema)
    if (items !== undefined) {
      const isKeyed = schema['x-kubernetes-list-type'] === 'map'
      this.checkSchema(items, {
        path: `${path}.items`,
        isRoot: false,
        occurrences: times(occurrences, schema.maxItems),
        uncorrelated: uncorrelated ?? (isKeyed ? undefined : path),
      })
    }
    if (!this.invalidPaths.has(path)) this.checkRules(schema, position)
  }

  private checkRules(schema: JsonSchema, position: SchemaPosition): void {
    const rules = schema['x-kubernetes-validations'] ?? []
    if (rules.length === 0) return
    const path = `${position.path}.x-kubernetes-validations`
    const type = typeOfSchema(schema as ValueSchema, position.isRoot || isEmbedded(schema), rootType)
    if (type === undefined) {
      this.errors.push(invalid(path, '', 'internal error: failed to retrieve type information for x-kubernetes-validations'))
      return
    }
    rules.forEach((rule, i) => {
      this.checkRule(rule, type, { ...position, path: `${path}[${i}].rule` })
    })
  }

  private checkRule(rule: SchemaRule, type: SizedType, { path, occurrences, uncorrelated }: SchemaPosition): void {
    const text = rule.rule ?? ''
    const program = this.compile(rule, type, path)
    if (program === undefined) return
    const cost = capped(estimateCost(program.checked, type) * (occurrences ?? BigInt(maxOccurrences(type))))
    if (cost > maxRuleCost) this.errors.push(forbidden(path, overLimit('estimated rule cost', cost, maxRuleCost)))
    this.estimated.push({ path, text, cost })
    this.addCost(path, cost)
    if (uncorrelated !== undefined && program.mentions('oldSelf')) {
      const problem = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`
      this.errors.push(invalid(path, text, problem))
    }
  }

  private compile(rule: SchemaRule, type: SizedType, path: string): Program | undefined {
    try {
      const program = compileExpression(rule.rule ?? '', environmentOf(type, ['self', 'oldSelf']))
      if (program.type.kind === 'bool') return program
      this.errors.push(invalid(path, rule, 'cel expression must evaluate to a bool'))
    } catch (thrown) {
      if (!(thrown instanceof CelCompileError)) throw thrown
      this.errors.push(invalid(path, rule, thrown.message))
    }
    return undefined
  }

  private addCost(path: string, cost: bigint): void {
    this.sum = capped(this.sum + cost)
    if (cost < minReportedCost) return
    this.mostExpensive.push({ path, cost })
    this.mostExpensive.sort((a, b) => Number(b.cost - a.cost))
    this.mostExpensive = this.mostExpensive.slice(0, maxReportedRules)
  }

  totalErrors(path: string): readonly FieldError[] {
    if (this.sum <= maxSchemaCost) return []
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    const message = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    return [...this.mostExpensive.map((rule) => forbidden(rule.path, message)), forbidden(path, overLimit(name, this.sum, maxSchemaCost))]
  }
}

function overLimit(name: string, cost: bigint, limit: bigint): string {
  const factor = Number(cost) / Number(limit)
  const shown = factor > 100 ? 'more than 100' : factor < 1.5 ? factor.toFixed(6) : factor.toFixed(1)
  const advice = 'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared'
  return `${name} exceeds budget by factor of ${shown}x (${advice})`
}
