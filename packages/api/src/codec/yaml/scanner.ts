// YAML text to tokens. Indentation becomes tokens too, and a key is known only when its colon comes: until then the tokens
// from where it may begin are held back, so that the key's own can be put before them.

import { Cursor, endOfText, isBlank, isBlankOrEnd, isBreak, isSpace, isTab } from './cursor.js'
import { endOfLine } from './line-runs.js'
import { scanAnchor, scanDirective, scanTag } from './scan-property.js'
import { scanBlock, scanPlain, scanQuoted } from './scan-scalar.js'
import type { Token, TokenKind } from './token.js'
import { scanError } from './yaml-error.js'

/** A key without a question mark is on one line, and no longer than this. */
const maxSimpleKeyLength = 1024
const maxDepth = 1000
/** How many tokens that were taken stay in the queue before it is moved up. */
const maxSpent = 4096

/** A place where a key may have begun. */
interface SimpleKey {
  /** A key must have begun here, for the line stands where keys stand. */
  readonly isRequired: boolean
  /** The number of the token that stands there. */
  readonly token: number
  readonly at: number
  readonly line: number
  readonly column: number
}

const code = (character: string): number => character.charCodeAt(0)
const percent = code('%')
const byteOrderMark = 0xfeff

export class Scanner {
  private readonly cursor: Cursor
  /** Tokens that were scanned and not yet taken; the first of them has the number `taken`. */
  private readonly queue: Token[] = []
  private head = 0
  /** Nothing can come before the first token any more. */
  private isReady = false
  private taken = 0
  /** One place for each bracket that is open, and one for outside. */
  private readonly keys: (SimpleKey | undefined)[] = [undefined]
  private readonly pendingTokens = new Map<number, SimpleKey>()
  private readonly indents: number[] = []
  private indent = -1
  private isKeyAllowed = true

  constructor(text: string) {
    this.cursor = new Cursor(text)
  }

  peek(): Token {
    if (!this.isReady) {
      while (this.needsMore()) this.scan()
      this.isReady = true
    }
    return this.queue[this.head] as Token
  }

  take(): Token {
    const token = this.peek()
    this.isReady = false
    this.head++
    this.taken++
    if (this.head === this.queue.length) this.queue.length = 0
    else if (this.head > maxSpent) this.queue.splice(0, this.head)
    else return token
    this.head = 0
    return token
  }

  private get flowLevel(): number {
    return this.keys.length - 1
  }

  private needsMore(): boolean {
    if (this.head === this.queue.length) return true
    const key = this.pendingTokens.get(this.taken)
    return key !== undefined && this.isStillPossible(key)
  }

  private emit(kind: TokenKind): void {
    this.queue.push({ kind, line: this.cursor.line })
  }

  private emitSign(kind: TokenKind, length = 1): void {
    this.emit(kind)
    this.cursor.advance(length)
  }

  /** Puts a token before the one with this number. */
  private insert(token: Token, number: number): void {
    this.queue.splice(this.head + number - this.taken, 0, token)
  }

  private scan(): void {
    this.skipToToken()
    this.unrollIndent(this.cursor.column)
    const { cursor } = this
    const next = cursor.code()
    if (next === endOfText) this.scanEnd()
    else if (cursor.column === 0 && next === percent) this.scanDirective()
    else if (cursor.isAtDocumentMark('---')) this.scanDocumentMark('document-start')
    else if (cursor.isAtDocumentMark('...')) this.scanDocumentMark('document-end')
    else if (!this.scanIndicator(String.fromCharCode(next))) this.scanPlain(next)
  }

  /** Over white space, comments and line ends. Tabs do not indent. */
  private skipToToken(): void {
    const { cursor } = this
    for (;;) {
      if (cursor.column === 0 && cursor.code() === byteOrderMark) cursor.advance()
      while (isSpace(cursor.code()) || (isTab(cursor.code()) && (this.flowLevel > 0 || !this.isKeyAllowed))) cursor.advance()
      if (cursor.code() === code('#')) cursor.advance(endOfLine(cursor.text, cursor.at) - cursor.at)
      if (!isBreak(cursor.code())) return
      cursor.takeBreak()
      if (this.flowLevel === 0) this.isKeyAllowed = true
    }
  }

  private scanEnd(): void {
    if (this.cursor.column !== 0) {
      this.cursor.column = 0
      this.cursor.line++
    }
    this.unrollIndent(-1)
    this.dropKey()
    this.isKeyAllowed = false
    this.emit('stream-end')
  }

  private scanDirective(): void {
    this.unrollIndent(-1)
    this.dropKey()
    this.isKeyAllowed = false
    const line = this.cursor.line
    this.queue.push({ kind: 'directive', line, ...scanDirective(this.cursor) })
  }

  private scanDocumentMark(kind: 'document-start' | 'document-end'): void {
    this.unrollIndent(-1)
    this.dropKey()
    this.isKeyAllowed = false
    this.emitSign(kind, 3)
  }

  /** Whether the character meant something by itself, and was dealt with. */
  private scanIndicator(character: string): boolean {
    const inFlow = this.flowLevel > 0
    const standsAlone = isBlankOrEnd(this.cursor.code(1))
    if (character === '[' || character === '{') this.scanFlowStart(character)
    else if (character === ']' || character === '}') this.scanFlowEnd(character)
    else if (character === ',') this.scanFlowEntry()
    else if (character === '-' && standsAlone) this.scanBlockEntry()
    else if (character === '?' && (inFlow || standsAlone)) this.scanKeySign()
    else if (character === ':' && (inFlow || standsAlone)) this.scanValueSign()
    else if (character === '*' || character === '&' || character === '!') this.scanProperty(character)
    else if ((character === '|' || character === '>') && !inFlow) this.scanBlock()
    else if (character === "'" || character === '"') this.scanQuoted()
    else return false
    return true
  }

  private scanFlowStart(bracket: '[' | '{'): void {
    this.noteKey()
    this.keys.push(undefined)
    if (this.flowLevel > maxDepth) throw scanError(`exceeded max depth of ${maxDepth}`, this.cursor.line)
    this.isKeyAllowed = true
    this.emitSign(bracket)
  }

  private scanFlowEnd(bracket: ']' | '}'): void {
    this.dropKey()
    if (this.flowLevel > 0) this.keys.pop()
    this.isKeyAllowed = false
    this.emitSign(bracket)
  }

  private scanFlowEntry(): void {
    this.dropKey()
    this.isKeyAllowed = true
    this.emitSign(',')
  }

  private scanBlockEntry(): void {
    if (this.flowLevel === 0) {
      if (!this.isKeyAllowed) throw scanError('block sequence entries are not allowed in this context', this.cursor.line)
      this.rollIndent('sequence-start')
    }
    this.dropKey()
    this.isKeyAllowed = true
    this.emitSign('-')
  }

  private scanKeySign(): void {
    if (this.flowLevel === 0) {
      if (!this.isKeyAllowed) throw scanError('mapping keys are not allowed in this context', this.cursor.line)
      this.rollIndent('mapping-start')
    }
    this.dropKey()
    this.isKeyAllowed = this.flowLevel === 0
    this.emitSign('key')
  }

  private scanValueSign(): void {
    const key = this.keys.at(-1)
    if (key !== undefined && this.isStillPossible(key)) {
      this.insert({ kind: 'key', line: key.line }, key.token)
      this.rollIndent('mapping-start', key)
      this.forgetKey()
      this.isKeyAllowed = false
    } else {
      if (this.flowLevel === 0) {
        if (!this.isKeyAllowed) throw scanError('mapping values are not allowed in this context', this.cursor.line)
        this.rollIndent('mapping-start')
      }
      this.isKeyAllowed = this.flowLevel === 0
    }
    this.emitSign('value')
  }

  private scanProperty(sign: '*' | '&' | '!'): void {
    this.noteKey()
    this.isKeyAllowed = false
    const line = this.cursor.line
    if (sign === '!') this.queue.push({ kind: 'tag', line, ...scanTag(this.cursor) })
    else this.queue.push({ kind: sign === '*' ? 'alias' : 'anchor', line, value: scanAnchor(this.cursor) })
  }

  private scanBlock(): void {
    this.dropKey()
    this.isKeyAllowed = true
    const line = this.cursor.line
    this.queue.push({ kind: 'scalar', line, value: scanBlock(this.cursor, this.indent), isPlain: false })
  }

  private scanQuoted(): void {
    this.noteKey()
    this.isKeyAllowed = false
    const line = this.cursor.line
    this.queue.push({ kind: 'scalar', line, value: scanQuoted(this.cursor), isPlain: false })
  }

  private scanPlain(first: number): void {
    const { cursor } = this
    const isDash = first === code('-')
    const isOpen = this.flowLevel === 0 && (first === code('?') || first === code(':'))
    if (isDash ? isBlank(cursor.code(1)) : !isOpen && (isBlankOrEnd(first) || neverPlain.has(first)))
      throw scanError('found character that cannot start any token', cursor.line)
    this.noteKey()
    this.isKeyAllowed = false
    const line = cursor.line
    const scalar = scanPlain(cursor, { minColumn: this.indent + 1, inFlow: this.flowLevel > 0 })
    this.queue.push({ kind: 'scalar', line, value: scalar.value, isPlain: true })
    if (scalar.endsLine) this.isKeyAllowed = true
  }

  /** A key may begin here. */
  private noteKey(): void {
    if (!this.isKeyAllowed) return
    this.dropKey()
    const { at, line, column } = this.cursor
    const isRequired = this.flowLevel === 0 && this.indent === column
    const key: SimpleKey = { isRequired, token: this.taken + this.queue.length - this.head, at, line, column }
    this.keys[this.keys.length - 1] = key
    this.pendingTokens.set(key.token, key)
  }

  /** No key began where one may have begun. */
  private dropKey(): void {
    const key = this.keys.at(-1)
    if (key?.isRequired) throw scanError("could not find expected ':'", this.cursor.line)
    this.forgetKey()
  }

  private forgetKey(): void {
    const key = this.keys.at(-1)
    if (key !== undefined) this.pendingTokens.delete(key.token)
    this.keys[this.keys.length - 1] = undefined
  }

  private isStillPossible(key: SimpleKey): boolean {
    if (key.line === this.cursor.line && key.at + maxSimpleKeyLength >= this.cursor.at) return true
    if (key.isRequired) throw scanError("could not find expected ':'", this.cursor.line)
    this.pendingTokens.delete(key.token)
    const place = this.keys.lastIndexOf(key)
    if (place >= 0) this.keys[place] = undefined
    return false
  }

  /** A deeper column opens a collection, here or where the key began. */
  private rollIndent(kind: 'sequence-start' | 'mapping-start', key?: SimpleKey): void {
    const column = key?.column ?? this.cursor.column
    if (this.flowLevel > 0 || this.indent >= column) return
    this.indents.push(this.indent)
    if (this.indents.length > maxDepth) throw scanError(`exceeded max depth of ${maxDepth}`, this.cursor.line)
    this.indent = column
    if (key === undefined) this.emit(kind)
    else this.insert({ kind, line: key.line }, key.token)
  }

  /** A column further left closes what was opened to the right of it. */
  private unrollIndent(column: number): void {
    if (this.flowLevel > 0) return
    while (this.indent > column) {
      this.emit('block-end')
      this.indent = this.indents.pop() ?? -1
    }
  }
}

/** Characters with which no plain text begins. */
const neverPlain = new Set([...'-?:,[]{}#&*!|>\'"%@`'].map(code))
