// Regular expressions in linear time, compiled once. Whatever users write as a pattern goes through here.

import { RE2JS } from 're2js'
import { patternSize } from './pattern-size.js'
import { readPattern } from './pattern-text.js'

const maxKept = 512
/** In instructions: each takes up to a kilobyte. */
const maxKeptSize = 64_000
/** The reference takes a hundred times as much. A repeat is of a thousand at most, so that nobody meets this who does not look for it. */
const mostInstructions = 20_000
/** Of compiling one instruction. */
const compileNs = 4_000

interface Kept {
  readonly pattern: RE2JS | Error
  readonly size: number
}

const kept = new Map<string, Kept>()
let keptSize = 0

/** The pattern, or what is wrong with it. */
export function patternOf(text: string): RE2JS | Error {
  const known = kept.get(text)
  if (known !== undefined) return known.pattern
  const size = patternSize(text)
  if (size > mostInstructions) return new Error('error parsing regexp: expression too large')
  const pattern = compileAsTheReference(text)
  kept.set(text, { pattern, size })
  keptSize += size
  for (const [oldest, { size: freed }] of kept) {
    if (kept.size <= maxKept && keptSize <= maxKeptSize) break
    kept.delete(oldest)
    keptSize -= freed
  }
  return pattern
}

/** How long it takes to compile a pattern that is not kept, in nanoseconds. */
export const workOfCompiling = (text: string): number => (kept.has(text) ? 0 : Math.min(patternSize(text), mostInstructions) * compileNs)

/** The language of the reference is a little smaller than that of the library, and some of its words are others. */
function compileAsTheReference(text: string): RE2JS | Error {
  const compiled = compile(text)
  const foreign = text.includes('(?<') ? readPattern(text).groups.find((at) => text.startsWith('(?<', at)) : undefined
  if (foreign !== undefined) {
    // What is wrong before the group is told first; that it has no end is not.
    const before = compile(text.slice(0, foreign))
    const isTold = before instanceof Error && !/missing closing \)|duplicate capture/.test(before.message)
    return isTold && compiled instanceof Error ? compiled : new Error('error parsing regexp: invalid or unsupported Perl syntax: `(?<`')
  }
  if (!(compiled instanceof Error) || !compiled.message.includes('duplicate capture group name')) return compiled
  // Two groups may have the same name; nobody asks for groups by their names.
  const plain = withoutNames(text)
  const unnamed = compile(plain)
  return unnamed instanceof Error ? new Error(unnamed.message.replace(`\`${plain}\``, () => `\`${text}\``)) : unnamed
}

/** Each set of letters by its Unicode property (`\pL`) has hundreds of ranges, and takes a third of a millisecond to compile. */
const mostProperties = 100
const property = /\\[pP]/g

function compile(text: string): RE2JS | Error {
  if (text.length > 2 * mostProperties && (text.match(property)?.length ?? 0) > mostProperties)
    return new Error('error parsing regexp: expression too large')
  const loneBrackets = findLoneBrackets(text)
  const escaped = loneBrackets.length === 0 ? text : escapeBrackets(text, loneBrackets)
  try {
    return RE2JS.compile(escaped)
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    if (message.endsWith('trailing backslash at end of expression')) return new Error(`${message}: \`\``)
    return new Error(escaped === text ? message : asWritten(message, text, escaped, loneBrackets))
  }
}

/**
 * At each `[:` in a class the library looks for a `:]` up to the end of the pattern, which takes quadratic time where there are many and none is
 * followed by one. Escaped, they mean the same, and nothing is looked for.
 */
function findLoneBrackets(text: string): readonly number[] {
  const isSuspicious = text.includes('[:', Math.max(0, text.lastIndexOf(':]') - 1))
  return isSuspicious ? readPattern(text).loneBrackets : []
}

function escapeBrackets(text: string, brackets: readonly number[]): string {
  const parts: string[] = []
  let last = 0
  for (const at of brackets) {
    parts.push(text.slice(last, at))
    last = at
  }
  return [...parts, text.slice(last)].join('\\')
}

/** A message about the escaped pattern with the words of the one that was written. Only what goes on to the end can have such a bracket in it. */
function asWritten(message: string, text: string, escaped: string, brackets: readonly number[]): string {
  const start = message.indexOf('`') + 1
  const quoted = message.slice(start, -1)
  if (start === 0 || !escaped.endsWith(quoted)) return message
  const from = escaped.length - quoted.length
  const added = brackets.filter((at, i) => at + i < from).length
  return `${message.slice(0, start)}${text.slice(from - added)}\``
}

function withoutNames(text: string): string {
  let out = ''
  let last = 0
  for (const at of readPattern(text).groups) {
    const end = text.startsWith('(?P<', at) ? text.indexOf('>', at) : -1
    if (end === -1) continue
    out += `${text.slice(last, at)}(`
    last = end + 1
  }
  return out + text.slice(last)
}
