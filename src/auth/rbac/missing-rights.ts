// What somebody would give away without having it: every single thing that new rules allow is held against the rules that the giver holds.

import { sortTexts } from '../../base/text-order.js'
import type { PolicyRule } from '../../resources/rbac-authorization/v1.schema.js'
import { has, holds, matchesPath, mostInOne, type Words, wordsInSteps } from './rule-words.js'

/** Rules that come to more than that cannot be looked through: each is a product of four lists. */
export const mostSteps = 2_000_000
/** Beyond these numbers, what is missing is not told: resources, and verbs of all of them together. */
const mostTold = 1000
const mostVerbs = 10_000
/** How many steps are taken before others may have a turn. */
const stepsPerTurn = 1000
const rulesPerTurn = 100

export class TooManyRightsError extends Error {
  override readonly name = 'TooManyRightsError'
}

interface HeldRule {
  readonly verbs: Words
  readonly groups: Words
  readonly resources: Words
  readonly names: Words | undefined
  readonly paths: readonly string[]
}

/** What is missing, in the words of the reference and in order; empty where all is held. Yields where others may have a turn. */
export function* missingRights(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): Generator<undefined, readonly string[], undefined> {
  const compiled: HeldRule[] = []
  for (const rule of held) {
    compiled.push(yield* compile(rule))
    if (compiled.length % rulesPerTurn === 0) yield
  }
  const search = new Search(compiled)
  for (const [i, rule] of wanted.entries()) {
    if ((i + 1) % rulesPerTurn === 0) yield
    const [verbs, names, resources] = [once(rule.verbs), once(rule.resourceNames), once(rule.resources)]
    for (const group of once(rule.apiGroups)) {
      for (const resource of resources) yield* search.resource({ group, resource, names, verbs })
    }
    for (const path of once(rule.nonResourceURLs)) yield* search.path(path, verbs)
  }
  return search.told()
}

/** Each word once; of very many, to find those that are there twice takes longer than to look at them twice. */
const once = (words: readonly string[] = []): readonly string[] => (words.length > mostInOne ? words : [...new Set(words)])

interface Single {
  readonly group: string
  readonly resource: string
  /** Empty: all. */
  readonly names: readonly string[]
  readonly verbs: readonly string[]
}

class Search {
  readonly #held: readonly HeldRule[]
  /** The verbs that are missing of one resource and name, in the order in which they were met. */
  readonly #missing = new Map<string, { readonly rule: PolicyRule; readonly verbs: Set<string> }>()
  #verbs = 0
  readonly #paths = new Set<string>()
  #steps = 0

  constructor(held: readonly HeldRule[]) {
    this.#held = held
  }

  *resource({ group, resource, names, verbs }: Single): Generator<undefined, void, undefined> {
    yield* this.#count(this.#held.length + 1)
    const covering = this.#held.filter((rule) => holds(rule.groups, group) && hasResource(rule.resources, resource))
    if (covering.some((rule) => rule.names === undefined && has(rule.verbs, '*'))) return
    for (const verb of verbs) {
      yield* this.#count(covering.length + 1)
      const allowing = covering.filter((rule) => holds(rule.verbs, verb))
      if (allowing.some((rule) => rule.names === undefined)) continue
      if (names.length === 0) this.#miss({ apiGroups: [group], resources: [resource] }, verb)
      for (const name of names) {
        yield* this.#count(allowing.length + 1)
        if (!allowing.some((rule) => rule.names !== undefined && has(rule.names, name)))
          this.#miss({ apiGroups: [group], resources: [resource], resourceNames: [name] }, verb)
      }
    }
  }

  *path(path: string, verbs: readonly string[]): Generator<undefined, void, undefined> {
    const covering: HeldRule[] = []
    for (const rule of this.#held) {
      yield* this.#count(rule.paths.length + 1)
      if (rule.paths.some((pattern) => matchesPath(pattern, path))) covering.push(rule)
    }
    for (const verb of verbs) {
      yield* this.#count(covering.length + 1)
      const isHeld = covering.some((rule) => holds(rule.verbs, verb))
      if (!isHeld && this.#paths.size < mostTold) this.#paths.add(describe({ nonResourceURLs: [path], verbs: [verb] }))
    }
  }

  told(): readonly string[] {
    const rules = [...this.#missing.values()].map(({ rule, verbs }) => describe({ ...rule, verbs: [...verbs] }))
    return sortTexts([...new Set([...rules, ...this.#paths])])
  }

  #miss(rule: PolicyRule, verb: string): void {
    if (this.#verbs >= mostVerbs) return
    this.#verbs += 1
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames])
    const known = this.#missing.get(key)
    if (known !== undefined) known.verbs.add(verb)
    else if (this.#missing.size < mostTold) this.#missing.set(key, { rule, verbs: new Set([verb]) })
  }

  *#count(steps: number): Generator<undefined, void, undefined> {
    const before = this.#steps
    this.#steps += steps
    if (this.#steps > mostSteps) throw new TooManyRightsError()
    if (Math.floor(before / stepsPerTurn) !== Math.floor(this.#steps / stepsPerTurn)) yield undefined
  }
}

function* compile(rule: PolicyRule): Generator<undefined, HeldRule, undefined> {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  return {
    verbs: yield* wordsInSteps(verbs),
    groups: yield* wordsInSteps(apiGroups),
    resources: yield* wordsInSteps(resources),
    names: resourceNames.length === 0 ? undefined : yield* wordsInSteps(resourceNames),
    paths: nonResourceURLs,
  }
}

/** `*` is everything, and `*` before a slash that part of every resource. */
function hasResource(resources: Words, resource: string): boolean {
  if (holds(resources, resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && has(resources, `*${resource.slice(slash)}`)
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
    .filter(([, words]) => words.length > 0)
    .map(([name, words]) => `${name}:${quoteAll(words)}`)
    .join(', ')}}`
}

export const quoteAll = (words: readonly string[]): string => `[${words.map((word) => JSON.stringify(word)).join(' ')}]`
