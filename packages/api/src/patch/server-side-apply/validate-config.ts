// Whether an applied configuration fits its schema, so far as merging needs it: types, known fields, items that can be told apart.

import { shorten } from '../base/shorten.js'
import type { ListTopology, ScalarTopology, StructTopology, Topology } from '../schema/topology.js'
import { elementOf, requireDistinct, UnkeyedListError } from './list-items.js'
import type { Members } from './members.js'
import { printElement } from './path-element.js'
import { isRecord } from './plain.js'

/** What is wrong, one line each, such as `.spec.ports: duplicate entries for key [port=80]`. */
export function configProblems(root: StructTopology, config: Members): readonly string[] {
  const problems: Problem[] = []
  checkStruct(root, config, problems)
  const lines = problems.slice(0, mostProblems).map(({ path, text }) => (path === '' ? text : `${shorten(path)}: ${text}`))
  return problems.length > mostProblems ? [...lines, 'and more'] : lines
}

/** Whether a value has no problems. */
export function fits(node: Topology, value: unknown): boolean {
  if (node.kind === 'scalar') return value === null || value === undefined || fitsScalar(node, value)
  const problems: Problem[] = []
  check(node, value, problems)
  return problems.length === 0
}

/** Of more problems it is only told that there are more; they are not looked for. */
const mostProblems = 100

interface Problem {
  path: string
  readonly text: string
}

function check(node: Topology, value: unknown, problems: Problem[]): void {
  if (value === null || value === undefined || node.kind === 'any') return
  if (node.kind === 'scalar') checkScalar(node, value, problems)
  else if (node.kind === 'list')
    if (Array.isArray(value)) checkList(node, value, problems)
    else expected('list', value, problems)
  else if (!isRecord(value)) expected('map', value, problems)
  else if (node.kind === 'struct') checkStruct(node, value, problems)
  else checkMap(node.value, value, problems)
}

function expected(what: string, value: unknown, problems: Problem[]): void {
  problems.push({ path: '', text: `expected ${what}, got ${describe(value)}` })
}

function describe(value: unknown): string {
  if (typeof value === 'object') return Array.isArray(value) ? 'list' : 'map'
  return typeof value === 'bigint' ? 'number' : typeof value
}

function checkScalar(node: ScalarTopology, value: unknown, problems: Problem[]): void {
  if (!fitsScalar(node, value)) expected(scalarNames[node.accepts], value, problems)
}

function fitsScalar({ accepts }: ScalarTopology, value: unknown): boolean {
  if (accepts === 'scalar') return typeof value !== 'object'
  return accepts === typeof value || (accepts === 'number' && typeof value === 'bigint')
}

const scalarNames = { string: 'string', boolean: 'boolean', number: 'numeric (int or float)', scalar: 'any scalar' }

function checkStruct(node: StructTopology, value: Members, problems: Problem[]): void {
  for (const name in value) {
    if (problems.length > mostProblems) return
    const member = node.fields.get(name)?.node ?? node.rest
    const before = problems.length
    if (member === undefined) problems.push({ path: '', text: 'field not declared in schema' })
    else check(member, value[name], problems)
    if (problems.length > before) prefix(problems, before, `.${name}`)
  }
}

function checkMap(node: Topology, value: Members, problems: Problem[]): void {
  for (const name in value) {
    if (problems.length > mostProblems) return
    const before = problems.length
    check(node, value[name], problems)
    if (problems.length > before) prefix(problems, before, `.${name}`)
  }
}

function checkList(node: ListTopology, items: readonly unknown[], problems: Problem[]): void {
  if (!node.isOne && !areDistinct(node, items, problems)) return
  for (let i = 0; i < items.length; i++) {
    if (problems.length > mostProblems) return
    const before = problems.length
    check(node.item, items[i], problems)
    if (problems.length > before) prefix(problems, before, node.isOne ? `[${i}]` : printElement(elementOf(node, items[i])))
  }
}

/** Of items that cannot be told apart nothing more can be said. */
function areDistinct(node: ListTopology, items: readonly unknown[], problems: Problem[]): boolean {
  try {
    requireDistinct(node, items)
    return true
  } catch (thrown) {
    if (!(thrown instanceof UnkeyedListError)) throw thrown
    const position = items.findIndex((item) => !hasElement(node, item))
    problems.push({ path: '', text: position < 0 ? thrown.message : `element ${position}: ${thrown.message}` })
    return false
  }
}

function hasElement(node: ListTopology, item: unknown): boolean {
  try {
    elementOf(node, item)
    return true
  } catch {
    return false
  }
}

function prefix(problems: Problem[], from: number, path: string): void {
  for (let i = from; i < problems.length; i++) (problems[i] as Problem).path = path + (problems[i] as Problem).path
}
