// Label selectors, compiled to a predicate and to requirements that a label index can evaluate.

import { compareText } from '../../base/text-order.js'
import { parseInt64 } from '../integer.js'
import { parseLabelSelector, type Requirement } from './label-selector-syntax.js'

export type { Operator, Requirement } from './label-selector-syntax.js'

export type Labels = Readonly<Record<string, string>>

export interface CompiledLabelSelector {
  matches(labels: Labels | undefined): boolean
  /** All requirements must match. Sorted by key. */
  readonly requirements: readonly Requirement[]
  /** Canonical spelling. */
  readonly text: string
  readonly isEverything: boolean
}

/** `spec.selector` of a workload, `namespaceSelector` of a webhook. */
export interface LabelSelectorObject {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly { readonly key?: string; readonly operator?: string; readonly values?: readonly string[] }[]
}

const noLabels: Labels = {}

export const everythingSelector: CompiledLabelSelector = { matches: () => true, requirements: [], text: '', isEverything: true }
export const nothingSelector: CompiledLabelSelector = { matches: () => false, requirements: [], text: '', isEverything: false }

/** Parses a query such as `tier in (web,api),!legacy`. Throws a BadRequest. */
export const compileLabelSelector = (text: string): CompiledLabelSelector =>
  text === '' ? everythingSelector : fromRequirements(parseLabelSelector(text))

export function fromRequirements(requirements: readonly Requirement[]): CompiledLabelSelector {
  if (requirements.length === 0) return everythingSelector
  const ordered = requirements.toSorted((a, b) => compareText(a.key, b.key))
  const matches = testOfAll(ordered)
  return {
    matches: (labels) => matches(labels ?? noLabels),
    requirements: ordered,
    text: ordered.map(showRequirement).join(','),
    isEverything: false,
  }
}

const operatorsOfObjects: { readonly [word: string]: Requirement['operator'] } = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
}

/** Number of keys and values, which determines the compile time. */
export const requirementsIn = ({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): number =>
  matchExpressions.reduce((sum, { values = [] }) => sum + 1 + values.length, Object.keys(matchLabels).length)

/** An undefined selector matches nothing, an empty one everything, an unknown operator nothing. */
export function fromSelectorObject(selector: LabelSelectorObject | undefined): CompiledLabelSelector {
  if (selector === undefined) return nothingSelector
  const requirements: Requirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: '=',
    values: [value],
  }))
  for (const expression of selector.matchExpressions ?? []) {
    const operator = operatorsOfObjects[expression.operator ?? '']
    if (operator === undefined) return nothingSelector
    requirements.push({ key: expression.key ?? '', operator, values: (expression.values ?? []).toSorted(compareText) })
  }
  return fromRequirements(requirements)
}

type Test = (labels: Labels) => boolean

function testOfAll(requirements: readonly Requirement[]): Test {
  const tests = requirements.map(testOf)
  const [only] = tests
  return tests.length === 1 && only !== undefined ? only : (labels) => tests.every((test) => test(labels))
}

function testOf(requirement: Requirement): Test {
  const { key, operator } = requirement
  const isOneOf = memberTest(requirement.values)
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return (labels) => Object.hasOwn(labels, key) && isOneOf(labels[key] as string)
    case '!=':
    case 'notin':
      return (labels) => !Object.hasOwn(labels, key) || !isOneOf(labels[key] as string)
    case 'exists':
      return (labels) => Object.hasOwn(labels, key)
    case '!':
      return (labels) => !Object.hasOwn(labels, key)
    case 'gt':
    case 'lt':
      return comparisonTest(key, operator, parseInt64(requirement.values[0] ?? ''))
  }
}

function memberTest(values: readonly string[]): (value: string) => boolean {
  const [first] = values
  if (values.length === 1) return (value) => value === first
  const set = new Set(values)
  return (value) => set.has(value)
}

function comparisonTest(key: string, operator: 'gt' | 'lt', bound: bigint | undefined): Test {
  return (labels) => {
    if (!Object.hasOwn(labels, key)) return false
    const value = parseInt64(labels[key] as string)
    return value !== undefined && bound !== undefined && (operator === 'gt' ? value > bound : value < bound)
  }
}

function showRequirement({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'exists':
      return key
    case '!':
      return `!${key}`
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`
    case 'gt':
      return `${key}>${values[0]}`
    case 'lt':
      return `${key}<${values[0]}`
    default:
      return `${key}${operator}${values[0]}`
  }
}
