// How long a call takes at worst, in nanoseconds and by the sizes of its values: what cannot be cut and takes too long is done elsewhere.
//
// Cost (call-cost) is what the reference counts; for long texts it is far from the time that a call takes.

import type { RE2JS } from 're2js'
import { partsOfText } from './parts.js'
import { patternOf, workOfCompiling } from './pattern.js'
import { CelList, CelMap, type Value } from './values.js'

/** An evaluation that takes longer than this at a time would hold the event loop. */
export const mostWork = 5_000_000

/** Texts and lists that are shorter need no look. */
const shortest = 1024

/** Per letter or item, measured with texts of half a megabyte of the worst shape. */
const usual = 80
const perLetter: { readonly [name: string]: number } = { replace: 250, url: 250, getQuery: 300, findAll: 700 }
/** Per letter and instruction of a regular expression, where its states are so many that none is met twice. */
const perInstruction = 40

export type CallWork = (values: readonly Value[]) => number

/** Per part of a value that is counted and then compared, or walked through to the bottom. */
const perPart = 600
/** Nobody compares more parts: a list of lists that are one and the same has as many as one likes. */
export const mostParts = 4 << 20

/** How many parts are looked at, `most` or more where these are as many. */
export type CallParts = (values: readonly Value[], most: number) => number

/** What goes to the bottom of values. To count may not take longer than the call itself: a rule may ask the same for each of thousands of items. */
const toBottom: { readonly [name: string]: CallParts } = {
  '_==_': partsOfBoth,
  '_!=_': partsOfBoth,
  '@in': ([item, container], most) => partsOfSearch(container, item, most),
  indexOf: ([list, item], most) => partsOfSearch(list, item, most),
  lastIndexOf: ([list, item], most) => partsOfSearch(list, item, most),
  isSorted: partsOfFirst,
  sum: partsOfFirst,
  max: partsOfFirst,
  min: partsOfFirst,
}

/** Undefined for what looks at the values themselves only. */
export const partsOfCall = (name: string): CallParts | undefined => (Object.hasOwn(toBottom, name) ? toBottom[name] : undefined)

function partsOfFirst([value]: readonly Value[], most: number): number {
  return value instanceof CelList ? countParts(value, most) : 0
}

/** Values of different sizes differ, and of others no more is compared than the one with fewer parts has. */
function partsOfBoth([a, b]: readonly Value[], most: number): number {
  const areAlike = (a instanceof CelList && b instanceof CelList) || (a instanceof CelMap && b instanceof CelMap)
  if (!areAlike || a.size !== b.size) return 0
  for (let bound = Math.min(fewParts, most); ; bound = Math.min(bound * 4, most)) {
    const parts = Math.min(countParts(a, bound), countParts(b, bound))
    if (parts < bound || bound === most) return parts
  }
}

/** Values that have fewer need no look: the clock is looked at often enough for these. */
const fewParts = 64

/** A map is not searched. */
function partsOfSearch(list: Value | undefined, item: Value | undefined, most: number): number {
  if (!(list instanceof CelList) || item === undefined) return 0
  const parts = countParts(item, most) * list.size
  return parts < most ? parts : Math.min(parts, countParts(list, most))
}

function countParts(value: Value, most: number): number {
  if (typeof value === 'string') return partsOfText(value)
  const known = value instanceof CelList || value instanceof CelMap ? value.rawParts(most) : 1
  if (known !== undefined) return known
  let parts = 1
  if (value instanceof CelList) for (let i = 0; i < value.size && parts < most; i++) parts += countParts(value.at(i), most - parts)
  else if (value instanceof CelMap) {
    for (const key of value.keys()) {
      if (parts >= most) break
      parts += countParts(value.find(key) ?? null, most - parts)
    }
  }
  return parts
}

/** `pattern`: what is looked for, where that is known beforehand. */
export function workOfCall(name: string, pattern?: Value): CallWork {
  const factor = perLetter[name] ?? usual
  const parts = partsOfCall(name)
  if (parts !== undefined) return (values) => workOfSizes(values, factor) + workOfParts(parts, values)
  if (name !== 'matches' && name !== 'find' && name !== 'findAll') return (values) => workOfSizes(values, factor)
  if (typeof pattern !== 'string') return (values) => workOfPattern(values) + workOfSizes(values, factor)
  const perLetterOfText = patternWork(pattern, ' ') + (name === 'findAll' ? factor : 0)
  return ([text]) => (typeof text === 'string' ? perLetterOfText * text.length : 0)
}

/** Of looking for a pattern in a text. */
export function patternWork(pattern: string, text: string): number {
  const workNs = workOfCompiling(pattern)
  // It is known to be too much without being done.
  if (workNs > mostWork) return workNs
  const compiled = patternOf(pattern)
  return compiled instanceof Error ? 0 : compiledWork(compiled, text)
}

const compiledWork = (compiled: RE2JS, text: string): number => compiled.programSize() * text.length * perInstruction

const workOfPattern = ([text, pattern]: readonly Value[]): number =>
  typeof text === 'string' && typeof pattern === 'string' ? patternWork(pattern, text) : 0

function workOfSizes(values: readonly Value[], factor: number): number {
  let size = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (typeof value === 'string') size += value.length
    else if (typeof value === 'object' && value !== null) size += sizeOfObject(value)
  }
  return size < shortest ? 0 : size * factor
}

function workOfParts(parts: CallParts, values: readonly Value[]): number {
  const count = parts(values, mostWork / perPart + 1)
  return count < fewParts ? 0 : count * perPart
}

function sizeOfObject(value: object): number {
  if (value instanceof CelList || value instanceof CelMap) return value.size
  return value instanceof Uint8Array ? value.length : 0
}
