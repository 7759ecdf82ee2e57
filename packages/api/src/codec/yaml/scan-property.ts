// Scanner of YAML anchors, tags and directives.

import { type Cursor, endOfText, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd } from './cursor.js'
import { scanError } from './yaml-error.js'

const wordPattern = /[0-9A-Za-z_-]*/y
const uriPattern = /(?:[0-9A-Za-z_\-;/?:@&=+$,.!~*'()[\]]|%[0-9A-Fa-f]{2})*/y

function takePattern(cursor: Cursor, pattern: RegExp): string {
  pattern.lastIndex = cursor.at
  return cursor.take(pattern.exec(cursor.text)?.[0].length ?? 0)
}

export function scanAnchor(cursor: Cursor): string {
  cursor.advance()
  const name = takePattern(cursor, wordPattern)
  const next = cursor.code()
  const isTerminated = isBlankOrEnd(next) || '?:,]}%@`'.includes(String.fromCharCode(next))
  if (name === '' || !isTerminated) throw scanError('did not find expected alphabetic or numeric character', cursor.line)
  return name
}

/** Handle and suffix of a tag, or name and value of a directive. */
interface NameAndValue {
  readonly name: string
  readonly value: string
}

/** `!<verbatim>`, `!!suffix`, `!handle!suffix`, `!suffix`, or `!`. */
export function scanTag(cursor: Cursor): NameAndValue {
  const tag = cursor.text.startsWith('!<', cursor.at) ? takeVerbatimTag(cursor) : takeShortTag(cursor)
  if (!isBlankOrEnd(cursor.code())) throw scanError('did not find expected whitespace or line break', cursor.line)
  return tag
}

function takeVerbatimTag(cursor: Cursor): NameAndValue {
  cursor.advance(2)
  const value = takeUri(cursor)
  if (cursor.code() !== '>'.charCodeAt(0)) throw scanError("did not find the expected '>'", cursor.line)
  cursor.advance()
  return { name: '', value }
}

function takeShortTag(cursor: Cursor): NameAndValue {
  cursor.advance()
  const word = takePattern(cursor, wordPattern)
  if (cursor.code() === '!'.charCodeAt(0)) {
    cursor.advance()
    return { name: `!${word}!`, value: takeUri(cursor) }
  }
  const suffix = word + takePattern(cursor, uriPattern)
  return suffix === '' ? { name: '', value: '!' } : { name: '!', value: decodeUri(suffix, cursor) }
}

function takeUri(cursor: Cursor): string {
  const uri = takePattern(cursor, uriPattern)
  if (uri === '') throw scanError('did not find expected tag URI', cursor.line)
  return decodeUri(uri, cursor)
}

function decodeUri(uri: string, cursor: Cursor): string {
  try {
    return decodeURIComponent(uri)
  } catch {
    throw scanError('found an incorrect trailing UTF-8 octet', cursor.line)
  }
}

/** Reads `%YAML` and its version, which the parser checks. Rejects `%TAG`: a long prefix would be expanded at each use. */
export function scanDirective(cursor: Cursor): NameAndValue {
  cursor.advance()
  const name = takePattern(cursor, wordPattern)
  if (name === 'TAG') throw scanError('found unsupported %TAG directive', cursor.line)
  if (name !== 'YAML') throw scanError('found unknown directive name', cursor.line)
  let length = 0
  while (!isBreakOrEnd(cursor.code(length)) && !isComment(cursor, length)) length++
  const value = cursor.take(length).trim()
  while (!isBreakOrEnd(cursor.code())) cursor.advance()
  if (cursor.code() !== endOfText && isBreak(cursor.code())) cursor.takeBreak()
  return { name, value }
}

const isComment = (cursor: Cursor, ahead: number): boolean =>
  cursor.code(ahead) === '#'.charCodeAt(0) && (ahead === 0 || isBlank(cursor.code(ahead - 1)))
