// A question about labels, compiled once: as a test to run on objects, and as data for an index to answer without running it.

import { compareText } from '../base/text-order.js'
import { parseInt64 } from './integer.js'
import { parseLabelSelector, type Requirement } from './label-selector-syntax.js'
import { joinedTest } from './many-requirements.js'

export type { Operator, Requirement } from './label-selector-syntax.js'

/** The labels of an object; a key is there only if it is the object's own. */
export type Labels = Readonly<Record<string, string>>

export interface CompiledLabelSelector {
  matches(labels: Labels | undefined): boolean
  /** All of them must hold. Ordered by key. */
  readonly requirements: readonly Requirement[]
  /** The one spelling that all equal questions share. */
  readonly text: string
  readonly isEverything: boolean
}

/** The question as an object asks it: `spec.selector` of a workload, `namespaceSelector` of a hook. */
export interface LabelSelectorObject {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly { readonly key?: string; readonly operator?: string; readonly values?: readonly string[] }[]
}

const none: Labels = {}

export const everyLabel: CompiledLabelSelector = { matches: () => true, requirements: [], text: '', isEverything: true }
export const noLabel: CompiledLabelSelector = { matches: () => false, requirements: [], text: '', isEverything: false }

/** From the words of a query, such as `tier in (web,api),!legacy`. Throws a BadRequest that says what was not understood. */
export const compileLabelSelector = (text: string): CompiledLabelSelector =>
  text === '' ? everyLabel : fromRequirements(parseLabelSelector(text))

export function fromRequirements(requirements: readonly Requirement[]): CompiledLabelSelector {
  if (requirements.length === 0) return everyLabel
  const ordered = requirements.toSorted((a, b) => compareText(a.key, b.key))
  const matches = ordered.length > manyRequirements ? joinedTest(ordered) : testOfAll(ordered)
  return {
    matches: (labels) => matches(labels ?? none),
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

/** Labels and values that it speaks of: how long it takes to compile. */
export const requirementsIn = ({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): number =>
  matchExpressions.reduce((sum, { values = [] }) => sum + 1 + values.length, Object.keys(matchLabels).length)

/** An absent selector picks nothing, an empty one everything. The object is taken as valid: an operator it cannot have picks nothing. */
export function fromSelectorObject(selector: LabelSelectorObject | undefined): CompiledLabelSelector {
  if (selector === undefined) return noLabel
  const requirements: Requirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: '=',
    values: [value],
  }))
  for (const expression of selector.matchExpressions ?? []) {
    const operator = operatorsOfObjects[expression.operator ?? '']
    if (operator === undefined) return noLabel
    requirements.push({ key: expression.key ?? '', operator, values: (expression.values ?? []).toSorted(compareText) })
  }
  return fromRequirements(requirements)
}

type Test = (labels: Labels) => boolean

/** From here on it is quicker to look at the labels than at the requirements. */
const manyRequirements = 16

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

/** A label that is no integer is neither greater nor less. */
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
