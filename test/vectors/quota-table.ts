// Replays the table of ResourceQuota: usage, scopes, matching quotas and missing fields.

import { identityOf } from '../../packages/api/src/api/identity.js'
import type { ApiObject } from '../../packages/api/src/api/object.js'
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../packages/api/src/resources/core/v1.schema.js'
import { limitedNames, matchesQuota, type QuotaEvaluator } from '../../packages/api/src/resources/resource-quota/quota-evaluator.js'
import { evaluatorOf } from '../../packages/api/src/resources/resource-quota/quota-usage.js'
import { writeAmounts } from '../../packages/api/src/resources/resource-quota/resource-amounts.js'

interface QuotaCase {
  readonly object: ApiObject
  readonly now?: string
  readonly usage?: { readonly [name: string]: string }
  readonly scopeSelector?: ScopedResourceSelectorRequirement
  readonly quota?: ResourceQuota
  readonly matches?: boolean
  readonly error?: string
  readonly resources?: readonly string[]
  readonly matchingResources?: readonly string[]
  readonly required?: readonly string[]
  readonly constraintError?: string | null
}

const identity = identityOf('kubernetes')
const defaultNow = '2026-01-01T00:00:00Z'

export async function replayQuota(
  text: string,
): Promise<{ readonly compared: readonly string[]; readonly differences: ReadonlyMap<string, string> }> {
  const compared: string[] = []
  const differences = new Map<string, string>()
  for (const [i, row] of (JSON.parse(text) as readonly QuotaCase[]).entries()) {
    const name = `${i} ${row.object.kind}`
    compared.push(name)
    const [actual, expected] = evaluate(row).map((value) => JSON.stringify(value))
    if (actual !== expected) differences.set(name, `${actual} and not ${expected} for ${JSON.stringify(row)}`)
  }
  return { compared, differences }
}

const irregularPlurals: { readonly [kind: string]: string } = {}

/** Actual and expected result. */
function evaluate(row: QuotaCase): readonly [unknown, unknown] {
  const evaluator = evaluatorFor(row.object)
  if (row.usage !== undefined) {
    const used = writeAmounts(evaluator.usage(row.object, { identity, now: Date.parse(row.now ?? defaultNow) }))
    return [sorted(used), sorted(row.usage)]
  }
  if (row.scopeSelector !== undefined) {
    const scope = row.scopeSelector
    return [tryMatch(() => evaluator.isInScope(scope, row.object)), { matches: row.matches, error: row.error }]
  }
  if (row.quota !== undefined) {
    const { quota } = row
    return [tryMatch(() => matchesQuota(evaluator, quota, row.object, identity)), { matches: row.matches, error: row.error }]
  }
  if (row.resources !== undefined) {
    const hard = Object.fromEntries(row.resources.map((name) => [name, '1']))
    return [[...limitedNames(evaluator, hard, identity)].sort(), [...new Set(row.matchingResources)].sort()]
  }
  return [evaluator.constraintProblem(row.required ?? [], row.object) ?? null, row.constraintError]
}

const sorted = (amounts: { readonly [name: string]: string }): unknown => Object.entries(amounts).sort(([a], [b]) => (a < b ? -1 : 1))

function tryMatch(match: () => boolean): unknown {
  try {
    return { matches: match() }
  } catch (thrown) {
    return { matches: false, error: (thrown as Error).message }
  }
}

function evaluatorFor({ kind = '', apiVersion = '' }: ApiObject): QuotaEvaluator {
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : ''
  const plural = irregularPlurals[kind] ?? `${kind.toLowerCase()}${kind.endsWith('s') ? 'es' : 's'}`
  return evaluatorOf(`${plural}${group}`) as QuotaEvaluator
}
