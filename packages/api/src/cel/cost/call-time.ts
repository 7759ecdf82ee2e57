// Worst-case time of a CEL call in nanoseconds, by the sizes of its arguments: an evaluation yields to the event loop after long calls.
// CEL cost, which must equal that of kube-apiserver, is no measure of time.

import type { RE2JS } from 're2js'
import { compileRegex, regexCompileNs } from '../regex/regex.js'
import { CelList, CelMap, type Value } from '../values/values.js'
import { nodesOfText } from './count-nodes.js'

/** Nanoseconds that an evaluation may run on the event loop without yielding. */
export const maxBlockingNs = 5_000_000

/** Calls whose arguments have fewer characters and items in total count as no time. */
const minSize = 1024

/** Nanoseconds per character or item, measured on 512 KiB of the worst input. */
const defaultNsPerChar = 80
const nsPerChar: { readonly [name: string]: number } = { replace: 250, url: 250, getQuery: 300, findAll: 700 }
/** Nanoseconds per character and regex instruction. */
const nsPerInstruction = 40

export type CallTime = (values: readonly Value[]) => number

/** Nanoseconds per node of a value that is compared or traversed. */
const nsPerNode = 600
/** Limit of nodes. A list can contain the same list many times, so nodes can outnumber bytes. */
export const maxNodes = 4 << 20

/** Number of nodes that a call visits, counted up to `limit`. */
export type CallNodes = (values: readonly Value[], limit: number) => number

/** Functions that visit nested values. Counting must not take longer than the call. */
const deepCalls: { readonly [name: string]: CallNodes } = {
  '_==_': nodesOfBoth,
  '_!=_': nodesOfBoth,
  '@in': ([item, container], limit) => nodesOfSearch(container, item, limit),
  indexOf: ([list, item], limit) => nodesOfSearch(list, item, limit),
  lastIndexOf: ([list, item], limit) => nodesOfSearch(list, item, limit),
  isSorted: nodesOfFirst,
  sum: nodesOfFirst,
  max: nodesOfFirst,
  min: nodesOfFirst,
}

export const nodesOfCall = (name: string): CallNodes | undefined => (Object.hasOwn(deepCalls, name) ? deepCalls[name] : undefined)

function nodesOfFirst([value]: readonly Value[], limit: number): number {
  return value instanceof CelList ? countNodes(value, limit) : 0
}

/** A comparison visits at most the nodes of the smaller value. */
function nodesOfBoth([a, b]: readonly Value[], limit: number): number {
  const areSameType = (a instanceof CelList && b instanceof CelList) || (a instanceof CelMap && b instanceof CelMap)
  if (!areSameType || a.size !== b.size) return 0
  for (let bound = Math.min(fewNodes, limit); ; bound = Math.min(bound * 4, limit)) {
    const nodes = Math.min(countNodes(a, bound), countNodes(b, bound))
    if (nodes < bound || bound === limit) return nodes
  }
}

/** Fewer nodes count as no time. */
const fewNodes = 64

function nodesOfSearch(list: Value | undefined, item: Value | undefined, limit: number): number {
  if (!(list instanceof CelList) || item === undefined) return 0
  const nodes = countNodes(item, limit) * list.size
  return nodes < limit ? nodes : Math.min(nodes, countNodes(list, limit))
}

function countNodes(value: Value, limit: number): number {
  if (typeof value === 'string') return nodesOfText(value)
  const jsonNodes = value instanceof CelList || value instanceof CelMap ? value.jsonNodes(limit) : 1
  if (jsonNodes !== undefined) return jsonNodes
  let nodes = 1
  if (value instanceof CelList) for (let i = 0; i < value.size && nodes < limit; i++) nodes += countNodes(value.at(i), limit - nodes)
  else if (value instanceof CelMap) {
    for (const key of value.keys()) {
      if (nodes >= limit) break
      nodes += countNodes(value.find(key) ?? null, limit - nodes)
    }
  }
  return nodes
}

export function timeOfCall(name: string, pattern?: Value): CallTime {
  const factor = nsPerChar[name] ?? defaultNsPerChar
  const nodes = nodesOfCall(name)
  if (nodes !== undefined) return (values) => timeOfSizes(values, factor) + timeOfNodes(nodes, values)
  if (name !== 'matches' && name !== 'find' && name !== 'findAll') return (values) => timeOfSizes(values, factor)
  if (typeof pattern !== 'string') return (values) => timeOfRegexCall(values) + timeOfSizes(values, factor)
  const nsPerTextChar = regexTimeNs(pattern, ' ') + (name === 'findAll' ? factor : 0)
  return ([text]) => (typeof text === 'string' ? nsPerTextChar * text.length : 0)
}

export function regexTimeNs(pattern: string, text: string): number {
  const timeNs = regexCompileNs(pattern)
  if (timeNs > maxBlockingNs) return timeNs
  const compiled = compileRegex(pattern)
  return compiled instanceof Error ? 0 : matchTimeNs(compiled, text)
}

const matchTimeNs = (compiled: RE2JS, text: string): number => compiled.programSize() * text.length * nsPerInstruction

const timeOfRegexCall = ([text, pattern]: readonly Value[]): number =>
  typeof text === 'string' && typeof pattern === 'string' ? regexTimeNs(pattern, text) : 0

function timeOfSizes(values: readonly Value[], factor: number): number {
  let size = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (typeof value === 'string') size += value.length
    else if (typeof value === 'object' && value !== null) size += sizeOfObject(value)
  }
  return size < minSize ? 0 : size * factor
}

function timeOfNodes(nodes: CallNodes, values: readonly Value[]): number {
  const count = nodes(values, maxBlockingNs / nsPerNode + 1)
  return count < fewNodes ? 0 : count * nsPerNode
}

function sizeOfObject(value: object): number {
  if (value instanceof CelList || value instanceof CelMap) return value.size
  return value instanceof Uint8Array ? value.length : 0
}
