// The rules of one role, arranged so that a request looks only at those that name its resource.

import { getOrInsert } from '../../base/get-or-insert.js'
import type { PolicyRule } from '../../resources/rbac-authorization/v1.schema.js'
import type { AccessAttributes } from '../authorize.js'
import { RuleTable } from './rule-table.js'
import { everything, has, holds, matchesPath, type Words, wordsOf } from './rule-words.js'

/** What a request asks for, in the words of rules; made once for all roles that it is held against. */
export interface Asked {
  readonly isResource: boolean
  readonly verb: string
  readonly group: string
  /** With its subresource: `pods/log`. */
  readonly resource: string
  /** That part of every resource: `*` and the subresource; empty for whole objects. */
  readonly part: string
  readonly name: string
  readonly path: string
}

export function askedFor({ isResource, verb, group, resource, subresource, name, path }: AccessAttributes): Asked {
  if (subresource === '') return { isResource, verb, group, resource, part: '', name, path }
  return { isResource, verb, group, resource: `${resource}/${subresource}`, part: `*/${subresource}`, name, path }
}

interface Rule {
  readonly verbs: Words
  readonly groups: Words
  /** Undefined: all names. */
  readonly names: Words | undefined
}

interface PathRule {
  readonly verbs: Words
  readonly paths: readonly string[]
}

/** Rules and words in them: what has more is not arranged in one go. */
const mostAtOnce = 1000

export class RoleRules {
  readonly rules: readonly PolicyRule[]
  /** How many rules it has, and words in them. */
  readonly weight: number
  /** Whether it takes steps to ask it. */
  readonly isLarge: boolean
  #table: RuleTable | undefined
  #byResource: Map<string, Rule[]> | undefined
  #paths: readonly PathRule[] | undefined

  constructor(rules: readonly PolicyRule[]) {
    this.rules = rules
    this.weight = weightOf(rules)
    this.isLarge = this.weight > mostAtOnce
  }

  /** The same as `allows` in short steps; what was arranged for one who asks is there for the next. */
  *allowsInSteps(asked: Asked): Generator<undefined, boolean, undefined> {
    if (!this.isLarge) return this.allows(asked)
    this.#table ??= new RuleTable(this.rules)
    return yield* this.#table.allows(asked)
  }

  allows(asked: Asked): boolean {
    if (!asked.isResource) return this.#allowsPath(asked)
    this.#byResource ??= byResource(this.rules)
    const found = this.#byResource
    return (
      allowsOne(found.get(asked.resource), asked) ||
      allowsOne(found.get(everything), asked) ||
      (asked.part !== '' && allowsOne(found.get(asked.part), asked))
    )
  }

  #allowsPath({ verb, path }: Asked): boolean {
    this.#paths ??= this.rules
      .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
      .map(({ verbs = [], nonResourceURLs = [] }) => ({ verbs: wordsOf(verbs), paths: nonResourceURLs }))
    for (const rule of this.#paths) if (holds(rule.verbs, verb) && rule.paths.some((pattern) => matchesPath(pattern, path))) return true
    return false
  }
}

function byResource(rules: readonly PolicyRule[]): Map<string, Rule[]> {
  const found = new Map<string, Rule[]>()
  for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } of rules) {
    if (resources.length === 0) continue
    const rule: Rule = {
      verbs: wordsOf(verbs),
      groups: wordsOf(apiGroups),
      names: resourceNames.length === 0 ? undefined : wordsOf(resourceNames),
    }
    for (const resource of resources) getOrInsert(found, resource, () => []).push(rule)
  }
  return found
}

function allowsOne(rules: readonly Rule[] | undefined, { verb, group, name }: Asked): boolean {
  if (rules === undefined) return false
  for (const rule of rules)
    if (holds(rule.verbs, verb) && holds(rule.groups, group) && (rule.names === undefined || has(rule.names, name))) return true
  return false
}

function weightOf(rules: readonly PolicyRule[]): number {
  let weight = rules.length
  for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules)
    weight += verbs.length + apiGroups.length + resources.length + resourceNames.length + nonResourceURLs.length
  return weight
}
