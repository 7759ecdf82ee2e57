// Regular expressions of users, compiled by RE2JS, which matches in linear time. Compiled expressions are cached.

import { RE2JS } from 're2js'
import { errorMessage } from '../../base/error-message.js'
import { scanRegex } from './regex-scan.js'
import { regexSize } from './regex-size.js'

const maxCached = 512
/** Maximum instructions of all cached expressions. One instruction takes up to 1 KiB. */
const maxCachedSize = 64_000
/** Maximum instructions per expression. The limit of kube-apiserver is 100 times higher. */
const maxInstructions = 20_000
const nsPerInstruction = 4_000

interface CachedRegex {
  readonly pattern: RE2JS | Error
  readonly size: number
}

const cache = new Map<string, CachedRegex>()
let cacheSize = 0

export function compileRegex(text: string): RE2JS | Error {
  const cached = cache.get(text)
  if (cached !== undefined) return cached.pattern
  const size = regexSize(text)
  if (size > maxInstructions) return new Error('error parsing regexp: expression too large')
  const pattern = compileLikeGo(text)
  cache.set(text, { pattern, size })
  cacheSize += size
  for (const [oldest, { size: freed }] of cache) {
    if (cache.size <= maxCached && cacheSize <= maxCachedSize) break
    cache.delete(oldest)
    cacheSize -= freed
  }
  return pattern
}

/** Estimated compile time in nanoseconds; 0 if the expression is cached. */
export const regexCompileNs = (text: string): number =>
  cache.has(text) ? 0 : Math.min(regexSize(text), maxInstructions) * nsPerInstruction

/** Adjusts RE2JS to Go's regexp: `(?<name>` is an error, duplicate group names are not. */
function compileLikeGo(text: string): RE2JS | Error {
  const compiled = compile(text)
  const unsupportedAt = text.includes('(?<') ? scanRegex(text).groups.find((at) => text.startsWith('(?<', at)) : undefined
  if (unsupportedAt !== undefined) {
    const before = compile(text.slice(0, unsupportedAt))
    const isReportedFirst = before instanceof Error && !/missing closing \)|duplicate capture/.test(before.message)
    return isReportedFirst && compiled instanceof Error
      ? compiled
      : new Error('error parsing regexp: invalid or unsupported Perl syntax: `(?<`')
  }
  if (!(compiled instanceof Error) || !compiled.message.includes('duplicate capture group name')) return compiled
  const textWithoutNames = withoutNames(text)
  const compiledWithoutNames = compile(textWithoutNames)
  return compiledWithoutNames instanceof Error
    ? new Error(compiledWithoutNames.message.replace(`\`${textWithoutNames}\``, () => `\`${text}\``))
    : compiledWithoutNames
}

/** Maximum Unicode classes per expression: a class such as `\pL` has hundreds of ranges and takes 0.3 ms to compile. */
const maxUnicodeClasses = 100
const unicodeClass = /\\[pP]/g

function compile(text: string): RE2JS | Error {
  if (text.length > 2 * maxUnicodeClasses && (text.match(unicodeClass)?.length ?? 0) > maxUnicodeClasses)
    return new Error('error parsing regexp: expression too large')
  const loneBrackets = findLoneBrackets(text)
  const escaped = loneBrackets.length === 0 ? text : escapeBrackets(text, loneBrackets)
  try {
    return RE2JS.compile(escaped)
  } catch (thrown) {
    const message = errorMessage(thrown)
    if (message.endsWith('trailing backslash at end of expression')) return new Error(`${message}: \`\``)
    return new Error(escaped === text ? message : unescapeMessage(message, text, escaped, loneBrackets))
  }
}

/** Finds brackets to escape: for each `[:` in a class RE2JS searches for `:]` to the end, which takes quadratic time. */
function findLoneBrackets(text: string): readonly number[] {
  const isSuspicious = text.includes('[:', Math.max(0, text.lastIndexOf(':]') - 1))
  return isSuspicious ? scanRegex(text).loneBrackets : []
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

/** Quotes the original text in an error message about the escaped one. */
function unescapeMessage(message: string, text: string, escaped: string, brackets: readonly number[]): string {
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
  for (const at of scanRegex(text).groups) {
    const end = text.startsWith('(?P<', at) ? text.indexOf('>', at) : -1
    if (end === -1) continue
    out += `${text.slice(last, at)}(`
    last = end + 1
  }
  return out + text.slice(last)
}
