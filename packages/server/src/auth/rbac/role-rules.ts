// Rules of one role, indexed by resource, so that a request visits only rules for its resource.

import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { PolicyRule } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import type { AccessAttributes } from '../authorize.js'

/** Values of one field of a rule: a set if there are more than 16. */
export type RuleValues = readonly string[] | ReadonlySet<string>
const maxListLength = 16

const wildcard = '*'

export const ruleValues = (values: readonly string[]): RuleValues => (values.length > maxListLength ? new Set(values) : values)
export const includesValue = (values: RuleValues, value: string): boolean => ('has' in values ? values.has(value) : values.includes(value))
export const matchesValue = (values: RuleValues, value: string): boolean => includesValue(values, value) || includesValue(values, wildcard)

/** A trailing `*` matches any suffix. */
export function matchesPath(pattern: string, path: string): boolean {
  if (pattern === path) return true
  if (!pattern.endsWith(wildcard)) return false
  let end = pattern.length - 1
  while (end > 0 && pattern[end - 1] === wildcard) end--
  return path.startsWith(pattern.slice(0, end))
}

interface RuleQuery {
  readonly isResource: boolean
  readonly verb: string
  readonly group: string
  readonly resource: string
  /** Star, slash and subresource, which match the subresource of every resource; empty without a subresource. */
  readonly subresourceWildcard: string
  readonly name: string
  readonly path: string
}

export function ruleQuery({ isResource, verb, group, resource, subresource, name, path }: AccessAttributes): RuleQuery {
  if (subresource === '') return { isResource, verb, group, resource, subresourceWildcard: '', name, path }
  return { isResource, verb, group, resource: `${resource}/${subresource}`, subresourceWildcard: `*/${subresource}`, name, path }
}

interface Rule {
  readonly verbs: RuleValues
  readonly groups: RuleValues
  /** Undefined: all names. */
  readonly names: RuleValues | undefined
}

interface PathRule {
  readonly verbs: RuleValues
  readonly paths: readonly string[]
}

export class RoleRules {
  readonly rules: readonly PolicyRule[]
  /** Number of rules and of their values: a measure of memory. */
  readonly weight: number
  #byResource: Map<string, Rule[]> | undefined
  #paths: readonly PathRule[] | undefined

  constructor(rules: readonly PolicyRule[]) {
    this.rules = rules
    this.weight = weightOf(rules)
  }

  allows(query: RuleQuery): boolean {
    if (!query.isResource) return this.#allowsPath(query)
    this.#byResource ??= indexByResource(this.rules)
    const rulesByResource = this.#byResource
    return (
      anyAllows(rulesByResource.get(query.resource), query) ||
      anyAllows(rulesByResource.get(wildcard), query) ||
      (query.subresourceWildcard !== '' && anyAllows(rulesByResource.get(query.subresourceWildcard), query))
    )
  }

  #allowsPath({ verb, path }: RuleQuery): boolean {
    this.#paths ??= this.rules
      .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
      .map(({ verbs = [], nonResourceURLs = [] }) => ({ verbs: ruleValues(verbs), paths: nonResourceURLs }))
    for (const rule of this.#paths)
      if (matchesValue(rule.verbs, verb) && rule.paths.some((pattern) => matchesPath(pattern, path))) return true
    return false
  }
}

function indexByResource(rules: readonly PolicyRule[]): Map<string, Rule[]> {
  const found = new Map<string, Rule[]>()
  for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } of rules) {
    if (resources.length === 0) continue
    const names = resourceNames.length === 0 ? undefined : ruleValues(resourceNames)
    const rule: Rule = { verbs: ruleValues(verbs), groups: ruleValues(apiGroups), names }
    for (const resource of resources) getOrInsert(found, resource, () => []).push(rule)
  }
  return found
}

function anyAllows(rules: readonly Rule[] | undefined, { verb, group, name }: RuleQuery): boolean {
  if (rules === undefined) return false
  for (const rule of rules)
    if (matchesValue(rule.verbs, verb) && matchesValue(rule.groups, group) && (rule.names === undefined || includesValue(rule.names, name)))
      return true
  return false
}

function weightOf(rules: readonly PolicyRule[]): number {
  let weight = rules.length
  for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules)
    weight += verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length
  return weight
}
