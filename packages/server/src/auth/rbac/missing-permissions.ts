// Finds permissions of granted rules that the writer does not have, one verb on a resource, object name or path at a time.

import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { PolicyRule } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import { includesValue, matchesPath, matchesValue, type RuleValues, ruleValues } from './role-rules.js'

/** Maximum number of comparisons; a rule is a product of four lists. */
export const maxSteps = 2_000_000
/** Maximum numbers of missing rules and of their verbs in the error message. */
const maxReported = 1000
const maxReportedVerbs = 10_000
const stepsPerYieldCheck = 1000

export class TooManyRulesError extends Error {
  override readonly name = 'TooManyRulesError'
}

interface HeldRule {
  readonly verbs: RuleValues
  readonly groups: RuleValues
  readonly resources: RuleValues
  readonly names: RuleValues | undefined
  readonly paths: readonly string[]
}

/** Returns missing rules in the format of kube-apiserver, sorted; empty if none is missing. */
export async function missingPermissions(
  held: readonly PolicyRule[],
  granted: readonly PolicyRule[],
  budget: TurnBudget,
): Promise<readonly string[]> {
  const check = new CoverageCheck(held.map(compile), budget)
  for (const rule of granted) {
    const [verbs, names, resources] = [unique(rule.verbs), unique(rule.resourceNames), unique(rule.resources)]
    for (const group of unique(rule.apiGroups)) {
      for (const resource of resources) await check.checkResource({ group, resource, names, verbs })
    }
    for (const path of unique(rule.nonResourceURLs)) await check.checkPath(path, verbs)
  }
  return check.missing()
}

const unique = (values: readonly string[] = []): readonly string[] => [...new Set(values)]

interface ResourceGrant {
  readonly group: string
  readonly resource: string
  /** Empty: all names. */
  readonly names: readonly string[]
  readonly verbs: readonly string[]
}

class CoverageCheck {
  readonly #held: readonly HeldRule[]
  readonly #missingRules = new Map<string, { readonly rule: PolicyRule; readonly verbs: Set<string> }>()
  #missingVerbCount = 0
  readonly #missingPaths = new Set<string>()
  #steps = 0
  readonly #budget: TurnBudget

  constructor(held: readonly HeldRule[], budget: TurnBudget) {
    this.#held = held
    this.#budget = budget
  }

  async checkResource({ group, resource, names, verbs }: ResourceGrant): Promise<void> {
    if (this.#count(this.#held.length + 1)) await this.#budget.yieldIfSpent()
    const covering = this.#held.filter((rule) => matchesValue(rule.groups, group) && matchesResource(rule.resources, resource))
    if (covering.some((rule) => rule.names === undefined && includesValue(rule.verbs, '*'))) return
    for (const verb of verbs) {
      if (this.#count(covering.length + 1)) await this.#budget.yieldIfSpent()
      const allowing = covering.filter((rule) => matchesValue(rule.verbs, verb))
      if (allowing.some((rule) => rule.names === undefined)) continue
      if (names.length === 0) this.#addMissing({ apiGroups: [group], resources: [resource] }, verb)
      for (const name of names) {
        if (this.#count(allowing.length + 1)) await this.#budget.yieldIfSpent()
        if (!allowing.some((rule) => rule.names !== undefined && includesValue(rule.names, name)))
          this.#addMissing({ apiGroups: [group], resources: [resource], resourceNames: [name] }, verb)
      }
    }
  }

  async checkPath(path: string, verbs: readonly string[]): Promise<void> {
    const covering: HeldRule[] = []
    for (const rule of this.#held) {
      if (this.#count(rule.paths.length + 1)) await this.#budget.yieldIfSpent()
      if (rule.paths.some((pattern) => matchesPath(pattern, path))) covering.push(rule)
    }
    for (const verb of verbs) {
      if (this.#count(covering.length + 1)) await this.#budget.yieldIfSpent()
      const isHeld = covering.some((rule) => matchesValue(rule.verbs, verb))
      if (!isHeld && this.#missingPaths.size < maxReported) this.#missingPaths.add(describe({ nonResourceURLs: [path], verbs: [verb] }))
    }
  }

  missing(): readonly string[] {
    const rules = [...this.#missingRules.values()].map(({ rule, verbs }) => describe({ ...rule, verbs: [...verbs] }))
    return sortTexts([...new Set([...rules, ...this.#missingPaths])])
  }

  #addMissing(rule: PolicyRule, verb: string): void {
    if (this.#missingVerbCount >= maxReportedVerbs) return
    this.#missingVerbCount += 1
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames])
    const reported = this.#missingRules.get(key)
    if (reported !== undefined) reported.verbs.add(verb)
    else if (this.#missingRules.size < maxReported) this.#missingRules.set(key, { rule, verbs: new Set([verb]) })
  }

  #count(steps: number): boolean {
    const before = this.#steps
    this.#steps += steps
    if (this.#steps > maxSteps) throw new TooManyRulesError()
    return Math.floor(before / stepsPerYieldCheck) !== Math.floor(this.#steps / stepsPerYieldCheck)
  }
}

function compile(rule: PolicyRule): HeldRule {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  return {
    verbs: ruleValues(verbs),
    groups: ruleValues(apiGroups),
    resources: ruleValues(resources),
    names: resourceNames.length === 0 ? undefined : ruleValues(resourceNames),
    paths: nonResourceURLs,
  }
}

/** `*` matches every resource; a star in front of a slash matches that subresource of every resource. */
export function matchesResource(resources: RuleValues, resource: string): boolean {
  if (matchesValue(resources, resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && includesValue(resources, `*${resource.slice(slash)}`)
}

function describe({ apiGroups = [], resources = [], nonResourceURLs = [], resourceNames = [], verbs = [] }: PolicyRule): string {
  const parts = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ] as const
  return `{${parts
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => `${name}:${quoteAll(values)}`)
    .join(', ')}}`
}

export const quoteAll = (values: readonly string[]): string => `[${values.map((value) => JSON.stringify(value)).join(' ')}]`
