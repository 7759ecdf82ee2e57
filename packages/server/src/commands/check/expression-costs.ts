// What expressions of definitions and policies can cost, and what they did cost on the objects of a check.

import type { AskedExpression, ResourceDefinition } from '../../api/definition.js'
import type { Program } from '../../cel/compile.js'
import { maxCost } from '../../cel/cost.js'
import { estimateCost } from '../../cel/estimate.js'
import { estimateRules } from '../../resources/apiextensions/definition-expressions.js'
import type { JsonSchema } from '../../resources/apiextensions/json-schema.js'
import type { CustomResourceDefinition } from '../../resources/apiextensions/v1.schema.js'
import type { ExpressionCost } from './findings.js'

interface Entry extends Omit<ExpressionCost, 'asked' | 'failed' | 'actual'> {
  asked: number
  failed: number
  actual: number
}

interface Place {
  readonly file: string
  readonly line: number
}

export class ExpressionBook {
  private readonly entries = new Map<string, Entry>()

  all(): readonly ExpressionCost[] {
    return [...this.entries.values()]
  }

  /** Rules of the same words in one definition count as one. */
  addDefinition({ spec = {} }: CustomResourceDefinition, object: string, placeOf: (field: string) => Place): void {
    for (const [i, { schema }] of (spec.versions ?? []).entries()) {
      const base = `spec.versions[${i}].schema.openAPIV3Schema`
      for (const { path, text, cost } of estimateRules((schema?.openAPIV3Schema ?? {}) as JsonSchema, base)) {
        const key = keyOf(spec.group ?? '', spec.names?.plural ?? '', text)
        if (this.entries.has(key)) continue
        this.entries.set(key, { ...placeOf(path), object, field: path, text, estimated: bounded(cost), asked: 0, failed: 0, actual: 0 })
      }
    }
  }

  askRule({ group, resource }: ResourceDefinition, { text, cost, holds }: AskedExpression): void {
    const entry = this.entries.get(keyOf(String(group), resource, text))
    if (entry !== undefined) count(entry, cost, holds)
  }

  /** `describe` is asked once for each expression. */
  ask(
    key: string,
    { cost, holds }: { readonly cost: number; readonly holds: boolean },
    describe: () => Place & Pick<ExpressionCost, 'object' | 'field' | 'text'> & { readonly program: Program },
  ): void {
    let entry = this.entries.get(key)
    if (entry === undefined) {
      const { program, ...rest } = describe()
      entry = { ...rest, estimated: bounded(estimateCost(program.checked, undefined)), asked: 0, failed: 0, actual: 0 }
      this.entries.set(key, entry)
    }
    count(entry, cost, holds)
  }
}

const keyOf = (group: string, resource: string, text: string): string => `rule ${resource}.${group} ${text}`

const bounded = (cost: bigint): bigint | undefined => (cost >= maxCost ? undefined : cost)

function count(entry: Entry, cost: number, holds: boolean): void {
  entry.asked++
  if (!holds) entry.failed++
  entry.actual = Math.max(entry.actual, cost)
}
