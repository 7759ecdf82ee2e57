// Very many conditions on labels as one test: what is said of a key is joined, and a test takes as long as the object has labels, or the question
// has keys, whichever is less. One question may have thousands of them, and is asked of every change.

import { onceFor } from '../base/once-for.js'
import { parseInt64 } from './integer.js'
import type { Labels } from './label-selector.js'
import type { Requirement } from './label-selector-syntax.js'

/** What is said of one key; left out: nothing. */
interface Condition {
  /** Whether the key must be there. */
  isRequired: boolean
  /** Whether it must not be there. */
  isForbidden: boolean
  allowed: ReadonlySet<string> | undefined
  denied: Set<string> | undefined
  /** Bounds that are no numbers are met by nothing. */
  above: bigint | undefined
  below: bigint | undefined
}

const nothing: Condition = {
  isRequired: false,
  isForbidden: false,
  allowed: undefined,
  denied: undefined,
  above: undefined,
  below: undefined,
}
/** Most of thousands are one of these, which are never changed. */
const required: Condition = { ...nothing, isRequired: true }
const forbidden: Condition = { ...nothing, isForbidden: true }

/** Whoever is asked by many has his keys looked up once. */
const keysOf = onceFor((labels: Labels) => Object.keys(labels))

export function joinedTest(requirements: readonly Requirement[]): (labels: Labels) => boolean {
  const conditions = new Map<string, Condition>()
  for (const requirement of requirements) join(conditions, requirement)
  let needed = 0
  for (const { isRequired } of conditions.values()) if (isRequired) needed++
  return (labels) => {
    const keys = keysOf(labels)
    if (keys.length < needed) return false
    return keys.length <= conditions.size ? holdForKeys(conditions, labels, keys, needed) : holdForAll(conditions, labels)
  }
}

function holdForKeys(conditions: ReadonlyMap<string, Condition>, labels: Labels, keys: readonly string[], needed: number): boolean {
  let found = 0
  for (const key of keys) {
    const condition = conditions.get(key)
    if (condition === undefined) continue
    if (!holds(condition, labels[key] as string)) return false
    if (condition.isRequired) found++
  }
  return found === needed
}

function holdForAll(conditions: ReadonlyMap<string, Condition>, labels: Labels): boolean {
  for (const [key, condition] of conditions) {
    const isThere = Object.hasOwn(labels, key)
    if (isThere ? !holds(condition, labels[key] as string) : condition.isRequired) return false
  }
  return true
}

function holds({ isForbidden, allowed, denied, above, below }: Condition, value: string): boolean {
  if (isForbidden || (allowed !== undefined && !allowed.has(value)) || denied?.has(value) === true) return false
  if (above === undefined && below === undefined) return true
  const number = parseInt64(value)
  return number !== undefined && (above === undefined || number > above) && (below === undefined || number < below)
}

function join(conditions: Map<string, Condition>, { key, operator, values }: Requirement): void {
  const known = conditions.get(key)
  const shared = known !== undefined ? undefined : operator === '!' ? forbidden : operator === 'exists' ? required : undefined
  if (shared !== undefined) {
    conditions.set(key, shared)
    return
  }
  const isOwn = known !== undefined && known !== forbidden && known !== required
  const condition = isOwn ? known : { ...(known ?? nothing) }
  if (!isOwn) conditions.set(key, condition)
  if (operator === '!') condition.isForbidden = true
  else if (operator === '!=' || operator === 'notin') {
    condition.denied ??= new Set()
    for (const value of values) condition.denied.add(value)
  } else condition.isRequired = true
  if (operator === '=' || operator === '==' || operator === 'in') {
    const { allowed } = condition
    condition.allowed = new Set(allowed === undefined ? values : values.filter((value) => allowed.has(value)))
  }
  if (operator === 'gt' || operator === 'lt') bound(condition, operator, parseInt64(values[0] ?? ''))
}

function bound(condition: Condition, operator: 'gt' | 'lt', value: bigint | undefined): void {
  // What is no number is neither greater nor less than anything.
  if (value === undefined) condition.isForbidden = true
  else if (operator === 'gt') condition.above = condition.above === undefined || value > condition.above ? value : condition.above
  else condition.below = condition.below === undefined || value < condition.below ? value : condition.below
}
