// The rules of a role that has very many, or very long ones: arranged in short steps, once for all who ask, so that a look-up passes by what cannot
// match. What is kept grows with the rules and not with their products.

import type { PolicyRule } from '../../resources/rbac-authorization/v1.schema.js'
import type { Asked } from './role-rules.js'
import { everything, has, holds, matchesPath, type Words, wordsInSteps, wordsPerStep } from './rule-words.js'

const rulesPerStep = 50
const rulesPerMap = 1000
/** A rule that stands for more single rights than that is kept as it is, and gone through. */
const mostSingle = 8

interface WideRule {
  readonly verbs: Words
  readonly groups: Words
  readonly resources: Words
  /** Undefined: all names. */
  readonly names: Words | undefined
}

interface PathRule {
  readonly verbs: Words
  readonly paths: readonly string[]
}

/** The names for which a verb is allowed on a resource; undefined: all. */
type SingleRights = Map<string, Set<string> | undefined>

/** Unlike a separator, lengths cannot stand in a word. */
const keyOf = (verb: string, group: string, resource: string): string => `${verb.length} ${group.length} ${verb}${group}${resource}`

export class RuleTable {
  /** Of so many rules each: a map that grows arranges all that it has anew, and very large ones would take long for it. */
  readonly #single: SingleRights[] = []
  readonly #wide: WideRule[] = []
  readonly #paths: PathRule[] = []
  /** Whoever asks goes on with it where the one before has stopped. */
  readonly #arranging: Generator<undefined, void, undefined>

  constructor(rules: readonly PolicyRule[]) {
    this.#arranging = this.#arrange(rules)
  }

  *allows(asked: Asked): Generator<undefined, boolean, undefined> {
    while (this.#arranging.next().done !== true) yield
    if (!asked.isResource) return yield* this.#allowsPath(asked)
    return this.#allowsSingle(asked) || (yield* this.#allowsWide(asked))
  }

  #allowsSingle({ verb, group, resource, part, name }: Asked): boolean {
    const resources = part === '' ? [resource, everything] : [resource, everything, part]
    for (const aVerb of [verb, everything]) {
      for (const aGroup of [group, everything]) {
        for (const aResource of resources) if (this.#hasSingle(keyOf(aVerb, aGroup, aResource), name)) return true
      }
    }
    return false
  }

  #hasSingle(key: string, name: string): boolean {
    for (const rights of this.#single) {
      const names = rights.get(key)
      if (names === undefined ? rights.has(key) : names.has(name)) return true
    }
    return false
  }

  *#allowsWide({ verb, group, resource, part, name }: Asked): Generator<undefined, boolean, undefined> {
    let looked = 0
    for (const { verbs, groups, resources, names } of this.#wide) {
      const isMeant = holds(resources, resource) || (part !== '' && has(resources, part))
      if (isMeant && holds(verbs, verb) && holds(groups, group) && (names === undefined || has(names, name))) return true
      looked += 1
      if (looked % wordsPerStep === 0) yield
    }
    return false
  }

  *#allowsPath({ verb, path }: Asked): Generator<undefined, boolean, undefined> {
    let looked = 0
    for (const { verbs, paths } of this.#paths) {
      looked += 1
      if (looked % wordsPerStep === 0) yield
      if (!holds(verbs, verb)) continue
      for (const pattern of paths) {
        if (matchesPath(pattern, path)) return true
        looked += 1
        if (looked % wordsPerStep === 0) yield
      }
    }
    return false
  }

  *#arrange(rules: readonly PolicyRule[]): Generator<undefined, void, undefined> {
    let rights: SingleRights = new Map()
    let arranged = 0
    for (const rule of rules) {
      if (arranged % rulesPerMap === 0) {
        rights = new Map()
        this.#single.push(rights)
      }
      const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
      if (resources.length * verbs.length * apiGroups.length * Math.max(1, resourceNames.length) > mostSingle) yield* this.#addWide(rule)
      else addSingle(rights, rule)
      if (nonResourceURLs.length > 0) this.#paths.push({ verbs: yield* wordsInSteps(verbs), paths: nonResourceURLs })
      arranged += 1
      if (arranged % rulesPerStep === 0) yield
    }
  }

  *#addWide({ verbs = [], apiGroups = [], resources = [], resourceNames = [] }: PolicyRule): Generator<undefined, void, undefined> {
    this.#wide.push({
      verbs: yield* wordsInSteps(verbs),
      groups: yield* wordsInSteps(apiGroups),
      resources: yield* wordsInSteps(resources),
      names: resourceNames.length === 0 ? undefined : yield* wordsInSteps(resourceNames),
    })
  }
}

function addSingle(rights: SingleRights, { verbs = [], apiGroups = [], resources = [], resourceNames = [] }: PolicyRule): void {
  for (const verb of verbs) {
    for (const group of apiGroups) {
      for (const resource of resources) allow(rights, keyOf(verb, group, resource), resourceNames)
    }
  }
}

function allow(rights: SingleRights, key: string, names: readonly string[]): void {
  const known = rights.get(key)
  if (names.length === 0) rights.set(key, undefined)
  else if (known !== undefined) for (const name of names) known.add(name)
  else if (!rights.has(key)) rights.set(key, new Set(names))
}
