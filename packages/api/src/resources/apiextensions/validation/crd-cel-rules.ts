// Whether the rules of a schema that are written as expressions compile, yield a truth value, are cheap enough for the largest object, and
// speak of the value before only where there is one.

import { type FieldError, forbidden, invalid } from '../../api/field-error.js'
import { CelCompileError, compileExpression, type Program } from '../../cel/compile.js'
import { maxCost } from '../../cel/cost.js'
import { estimateCost } from '../../cel/estimate.js'
import { environmentOf, maxOccurrences, type SizedType, typeOfSchema, type ValueSchema } from '../../cel/schema-type.js'
import { additionalSchema, isEmbedded, itemSchema, type JsonSchema, type SchemaRule, schemasOf } from './json-schema.js'
import { hasExpressions } from './schema-expressions.js'

/** What one rule may cost at worst, and all rules of a schema together. */
const ruleLimit = 10_000_000n
const schemaLimit = 100_000_000n
/** Rules that cost less are not blamed for the total, and no more than four are. */
const leastBlamed = schemaLimit / 100n
const mostBlamed = 4

/** Names of types in messages. */
const rootType = 'selfType'

/** Those of schemas that are `faulty`, or have something faulty below them, are not looked at: what is wrong with them may go with that. */
export function validateRuleExpressions(schema: JsonSchema, path: string, faulty: ReadonlySet<string> = new Set()): readonly FieldError[] {
  if (!hasExpressions(schema)) return []
  const check = new DefinitionCheck(faulty)
  check.schema(schema, { path, isRoot: true, occurrences: 1n, uncorrelated: undefined })
  return [...check.errors, ...check.total(path)]
}

export interface EstimatedRule {
  readonly path: string
  readonly text: string
  /** For the largest object that the schema allows. */
  readonly cost: bigint
}

/** What each rule that compiles can cost at worst. */
export function estimateRules(schema: JsonSchema, path: string): readonly EstimatedRule[] {
  const check = new DefinitionCheck(new Set())
  check.schema(schema, { path, isRoot: true, occurrences: 1n, uncorrelated: undefined })
  return check.estimated
}

interface Place {
  readonly path: string
  readonly isRoot: boolean
  /** How often the value can stand in an object; undefined where nothing bounds it. */
  readonly occurrences: bigint | undefined
  /** The list or map above in which values have no past. */
  readonly uncorrelated: string | undefined
}

const capped = (cost: bigint): bigint => (cost > maxCost ? maxCost : cost)

const times = (occurrences: bigint | undefined, most: number | undefined): bigint | undefined =>
  occurrences === undefined || most === undefined ? undefined : capped(occurrences * BigInt(Math.max(most, 0)))

class DefinitionCheck {
  readonly errors: FieldError[] = []
  readonly estimated: EstimatedRule[] = []
  private sum = 0n
  private dearest: { readonly path: string; readonly cost: bigint }[] = []
  private readonly faulty: ReadonlySet<string>

  constructor(faulty: ReadonlySet<string>) {
    this.faulty = faulty
  }

  schema(schema: JsonSchema, place: Place): void {
    if (!hasExpressions(schema)) return
    const { path, occurrences, uncorrelated } = place
    const isCorrelated = schema['x-kubernetes-map-type'] !== 'atomic'
    const below = uncorrelated ?? (isCorrelated ? undefined : path)
    const additional = additionalSchema(schema)
    if (additional !== undefined) {
      const count = times(occurrences, schema.maxProperties)
      this.schema(additional, { path: `${path}.additionalProperties`, isRoot: false, occurrences: count, uncorrelated })
    }
    for (const [name, own] of schemasOf(schema.properties)) {
      this.schema(own, { path: `${path}.properties[${name}]`, isRoot: false, occurrences, uncorrelated: below })
    }
    const items = itemSchema(schema)
    if (items !== undefined) {
      const isKeyed = schema['x-kubernetes-list-type'] === 'map'
      this.schema(items, {
        path: `${path}.items`,
        isRoot: false,
        occurrences: times(occurrences, schema.maxItems),
        uncorrelated: uncorrelated ?? (isKeyed ? undefined : path),
      })
    }
    if (!this.faulty.has(path)) this.rules(schema, place)
  }

  private rules(schema: JsonSchema, place: Place): void {
    const rules = schema['x-kubernetes-validations'] ?? []
    if (rules.length === 0) return
    const path = `${place.path}.x-kubernetes-validations`
    const type = typeOfSchema(schema as ValueSchema, place.isRoot || isEmbedded(schema), rootType)
    if (type === undefined) {
      this.errors.push(invalid(path, '', 'internal error: failed to retrieve type information for x-kubernetes-validations'))
      return
    }
    rules.forEach((rule, i) => {
      this.rule(rule, type, { ...place, path: `${path}[${i}].rule` })
    })
  }

  private rule(rule: SchemaRule, type: SizedType, { path, occurrences, uncorrelated }: Place): void {
    const text = rule.rule ?? ''
    const program = this.compile(rule, type, path)
    if (program === undefined) return
    const cost = capped(estimateCost(program.checked, type) * (occurrences ?? BigInt(maxOccurrences(type))))
    if (cost > ruleLimit) this.errors.push(forbidden(path, tooDear('estimated rule cost', cost, ruleLimit)))
    this.estimated.push({ path, text, cost })
    this.observe(path, cost)
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

  private observe(path: string, cost: bigint): void {
    this.sum = capped(this.sum + cost)
    if (cost < leastBlamed) return
    this.dearest.push({ path, cost })
    this.dearest.sort((a, b) => Number(b.cost - a.cost))
    this.dearest = this.dearest.slice(0, mostBlamed)
  }

  total(path: string): readonly FieldError[] {
    if (this.sum <= schemaLimit) return []
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    const blame = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    return [...this.dearest.map((rule) => forbidden(rule.path, blame)), forbidden(path, tooDear(name, this.sum, schemaLimit))]
  }
}

function tooDear(name: string, cost: bigint, limit: bigint): string {
  const factor = Number(cost) / Number(limit)
  const shown = factor > 100 ? 'more than 100' : factor < 1.5 ? factor.toFixed(6) : factor.toFixed(1)
  const advice = 'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared'
  return `${name} exceeds budget by factor of ${shown}x (${advice})`
}
