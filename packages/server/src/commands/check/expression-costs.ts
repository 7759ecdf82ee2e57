// Estimated and measured costs of the CEL expressions of CRDs and admission policies, which the command check prints.

import type { EvaluatedExpression, ResourceDefinition } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import type { Program } from '@cluster-apiserver/api/cel/compile.js'
import { maxCost } from '@cluster-apiserver/api/cel/cost/cost-units.js'
import { estimateCost } from '@cluster-apiserver/api/cel/cost/estimate-cost.js'
import type { JsonSchema } from '@cluster-apiserver/api/resources/apiextensions/schema/json-schema.js'
import type { CustomResourceDefinition } from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import { estimateRules } from '@cluster-apiserver/api/resources/apiextensions/validation/crd-cel-rules.js'
import type { ExpressionCost } from './render-result.js'

interface Entry extends Omit<ExpressionCost, 'asked' | 'failed' | 'actual'> {
  asked: number
  failed: number
  actual: number
}

interface Position {
  readonly file: string
  readonly line: number
}

export class ExpressionCosts {
  private readonly entries = new Map<string, Entry>()

  all(): readonly ExpressionCost[] {
    return [...this.entries.values()]
  }

  addDefinition({ spec = {} }: CustomResourceDefinition, object: string, positionOf: (field: string) => Position): void {
    for (const [i, { schema }] of (spec.versions ?? []).entries()) {
      const base = `spec.versions[${i}].schema.openAPIV3Schema`
      for (const { path, text, cost } of estimateRules((schema?.openAPIV3Schema ?? {}) as JsonSchema, base)) {
        const key = keyOf(spec.group ?? '', spec.names?.plural ?? '', text)
        if (this.entries.has(key)) continue
        this.entries.set(key, { ...positionOf(path), object, field: path, text, estimated: bounded(cost), asked: 0, failed: 0, actual: 0 })
      }
    }
  }

  addRuleRun({ group, resource }: ResourceDefinition, { text, cost, isTrue }: EvaluatedExpression): void {
    const entry = this.entries.get(keyOf(String(group), resource, text))
    if (entry !== undefined) count(entry, cost, isTrue)
  }

  addRun(
    key: string,
    { cost, isTrue }: { readonly cost: number; readonly isTrue: boolean },
    describe: () => Position & Pick<ExpressionCost, 'object' | 'field' | 'text'> & { readonly program: Program },
  ): void {
    let entry = this.entries.get(key)
    if (entry === undefined) {
      const { program, ...rest } = describe()
      entry = { ...rest, estimated: bounded(estimateCost(program.checked, undefined)), asked: 0, failed: 0, actual: 0 }
      this.entries.set(key, entry)
    }
    count(entry, cost, isTrue)
  }
}

const keyOf = (group: string, resource: string, text: string): string => `rule ${resource}.${group} ${text}`

const bounded = (cost: bigint): bigint | undefined => (cost >= maxCost ? undefined : cost)

function count(entry: Entry, cost: number, isTrue: boolean): void {
  entry.asked++
  if (!isTrue) entry.failed++
  entry.actual = Math.max(entry.actual, cost)
}
