// How far something goes on a line of a YAML text. A body may be one long text: the platform's search goes over half a megabyte in a millisecond,
// where a loop over its characters takes ten before it is compiled.

import { isBlank } from './cursor.js'

// Each matches one character, so that the place behind it tells where it stands.
const breakMark = /[\n\r\x85\u2028\u2029]/g
const nonBlankMark = /[^ \t]/g
const doubleQuotedMark = /["\\\n\r\x85\u2028\u2029]/g
const singleQuotedMark = /['\n\r\x85\u2028\u2029]/g
/** A colon that ends a key, a blank in front of a comment; inside brackets what separates and closes, too. */
const plainMark = /[\n\r\x85\u2028\u2029]|:(?=[ \t\n\r\x85\u2028\u2029]|$)|[ \t](?=#)/g
const flowMark = /[\n\r\x85\u2028\u2029,?[\]{}]|:(?=[ \t\n\r\x85\u2028\u2029]|$)|[ \t](?=#)/g

function find(mark: RegExp, text: string, from: number): number {
  mark.lastIndex = from
  return mark.test(text) ? mark.lastIndex - 1 : text.length
}

function withoutBlanks(text: string, from: number, to: number): number {
  let end = to
  while (end > from && isBlank(text.charCodeAt(end - 1))) end--
  return end
}

/** The place of the line break, or of the end. */
export const endOfLine = (text: string, from: number): number => find(breakMark, text, from)

export const endOfBlanks = (text: string, from: number): number => find(nonBlankMark, text, from)

/** Up to a quote or a backslash; where the line ends before, blanks in front of its end belong to the gap between two lines. */
export function endOfDoubleQuoted(text: string, from: number): number {
  const end = find(doubleQuotedMark, text, from)
  return text[end] === '"' || text[end] === '\\' ? end : withoutBlanks(text, from, end)
}

export function endOfSingleQuoted(text: string, from: number): number {
  const end = find(singleQuotedMark, text, from)
  return text[end] === "'" ? end : withoutBlanks(text, from, end)
}

/** Up to what ends a text without quotes, or the line; the blanks in front of that are no part of it. */
export const endOfPlain = (text: string, from: number, inFlow: boolean): number =>
  withoutBlanks(text, from, find(inFlow ? flowMark : plainMark, text, from))
