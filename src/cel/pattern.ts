// Regular expressions in linear time, compiled once. Whatever users write as a pattern goes through here.

import { RE2JS } from 're2js'

/** Texts longer than this are not worth a place. */
const maxKeptLength = 1024
const maxKept = 512
const kept = new Map<string, RE2JS | Error>()

/** The pattern, or what is wrong with it. */
export function patternOf(text: string): RE2JS | Error {
  const known = kept.get(text)
  if (known !== undefined) return known
  const pattern = compileAsTheReference(text)
  if (text.length <= maxKeptLength) {
    if (kept.size >= maxKept) kept.delete(kept.keys().next().value as string)
    kept.set(text, pattern)
  }
  return pattern
}

/** The language of the reference is a little smaller than that of the library, and some of its words are others. */
function compileAsTheReference(text: string): RE2JS | Error {
  const compiled = compile(text)
  const foreign = text.includes('(?<') ? findGroup(text, /^\(\?</) : -1
  if (foreign !== -1) {
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

function compile(text: string): RE2JS | Error {
  try {
    return RE2JS.compile(text)
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    return new Error(message.endsWith('trailing backslash at end of expression') ? `${message}: \`\`` : message)
  }
}

/** Where the first group stands that begins like this, from a place on; -1 where there is none. What is escaped or in brackets is no group. */
function findGroup(text: string, start: RegExp, from = 0): number {
  for (let at = from; at < text.length; at++) {
    if (text.startsWith('\\Q', at)) {
      const end = text.indexOf('\\E', at)
      if (end === -1) return -1
      at = end + 1
    } else if (text[at] === '\\') at++
    else if (text[at] === '[') at = endOfClass(text, at)
    else if (text[at] === '(' && start.test(text.slice(at, at + 4))) return at
  }
  return -1
}

/** The bracket that closes a class; a bracket that comes first belongs to it. */
function endOfClass(text: string, from: number): number {
  let at = from + (text[from + 1] === '^' ? 2 : 1)
  if (text[at] === ']') at++
  while (at < text.length && text[at] !== ']') {
    const named = text.startsWith('[:', at) ? text.indexOf(':]', at + 2) : -1
    if (named !== -1) at = named + 2
    else at += text[at] === '\\' ? 2 : 1
  }
  return at
}

function withoutNames(text: string): string {
  let out = ''
  let last = 0
  for (let at = findGroup(text, /^\(\?P</); at !== -1; at = findGroup(text, /^\(\?P</, last)) {
    const end = text.indexOf('>', at)
    out += `${text.slice(last, at)}(`
    last = end + 1
  }
  return out + text.slice(last)
}
