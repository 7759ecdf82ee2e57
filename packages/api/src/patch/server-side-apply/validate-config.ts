// Validates an applied configuration against the topology: types, unknown fields, list items with distinct keys.

import { shorten } from '../../base/shorten.js'
import type { ListTopology, ScalarTopology, StructTopology, Topology } from '../../schema/topology.js'
import { elementOf, requireDistinct, UnkeyedListError } from '../field-set/list-item-keys.js'
import { printElement } from '../field-set/path-element.js'
import { isRecord, type Members } from '../json-value.js'

/** Returns up to 100 messages such as `.spec.ports: duplicate entries for key [port=80]`, then `and more`. */
export function configProblems(root: StructTopology, config: Members): readonly string[] {
  const problems: Problem[] = []
  checkStruct(root, config, problems)
  const lines = problems.slice(0, maxProblems).map(({ path, text }) => (path === '' ? text : `${shorten(path)}: ${text}`))
  return problems.length > maxProblems ? [...lines, 'and more'] : lines
}

export function fits(node: Topology, value: unknown): boolean {
  if (node.kind === 'scalar') return value === null || value === undefined || fitsScalar(node, value)
  const problems: Problem[] = []
  check(node, value, problems)
  return problems.length === 0
}

const maxProblems = 100

interface Problem {
  path: string
  readonly text: string
}

function check(node: Topology, value: unknown, problems: Problem[]): void {
  if (value === null || value === undefined || node.kind === 'any') return
  if (node.kind === 'scalar') checkScalar(node, value, problems)
  else if (node.kind === 'list')
    if (Array.isArray(value)) checkList(node, value, problems)
    else reportMismatch('list', value, problems)
  else if (!isRecord(value)) reportMismatch('map', value, problems)
  else if (node.kind === 'struct') checkStruct(node, value, problems)
  else checkMap(node.value, value, problems)
}

function reportMismatch(expectedType: string, value: unknown, problems: Problem[]): void {
  problems.push({ path: '', text: `expected ${expectedType}, got ${describe(value)}` })
}

function describe(value: unknown): string {
  if (typeof value === 'object') return Array.isArray(value) ? 'list' : 'map'
  return typeof value === 'bigint' ? 'number' : typeof value
}

function checkScalar(node: ScalarTopology, value: unknown, problems: Problem[]): void {
  if (!fitsScalar(node, value)) reportMismatch(scalarNames[node.accepts], value, problems)
}

function fitsScalar({ accepts }: ScalarTopology, value: unknown): boolean {
  if (accepts === 'scalar') return typeof value !== 'object'
  return accepts === typeof value || (accepts === 'number' && typeof value === 'bigint')
}

const scalarNames = { string: 'string', boolean: 'boolean', number: 'numeric (int or float)', scalar: 'any scalar' }

function checkStruct(node: StructTopology, value: Members, problems: Problem[]): void {
  for (const name in value) {
    if (problems.length > maxProblems) return
    const member = node.fields.get(name)?.node ?? node.rest
    const firstNew = problems.length
    if (member === undefined) problems.push({ path: '', text: 'field not declared in schema' })
    else check(member, value[name], problems)
    if (problems.length > firstNew) prefixPaths(problems, firstNew, `.${name}`)
  }
}

function checkMap(node: Topology, value: Members, problems: Problem[]): void {
  for (const name in value) {
    if (problems.length > maxProblems) return
    const firstNew = problems.length
    check(node, value[name], problems)
    if (problems.length > firstNew) prefixPaths(problems, firstNew, `.${name}`)
  }
}

function checkList(node: ListTopology, items: readonly unknown[], problems: Problem[]): void {
  if (!node.isAtomic && !areDistinct(node, items, problems)) return
  for (let i = 0; i < items.length; i++) {
    if (problems.length > maxProblems) return
    const firstNew = problems.length
    check(node.item, items[i], problems)
    if (problems.length > firstNew) prefixPaths(problems, firstNew, node.isAtomic ? `[${i}]` : printElement(elementOf(node, items[i])))
  }
}

/** Reports items without distinct keys, which are not checked further. */
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

function prefixPaths(problems: Problem[], from: number, path: string): void {
  for (let i = from; i < problems.length; i++) (problems[i] as Problem).path = path + (problems[i] as Problem).path
}
