// YAML scanner: text to tokens. Buffers tokens from a possible simple key (a key without `?`) until a colon confirms the key.

import { Cursor, endOfText, isBlank, isBlankOrEnd, isBreak, isSpace, isTab } from './cursor.js'
import { endOfLine } from './line-runs.js'
import { scanAnchor, scanDirective, scanTag } from './scan-property.js'
import { scanBlock, scanPlain, scanQuoted } from './scan-scalar.js'
import type { Token, TokenKind } from './token.js'
import { scanError } from './yaml-error.js'

/** Maximum characters of a simple key (a key without `?`), which must be on one line. */
const maxSimpleKeyLength = 1024
const maxDepth = 1000
const maxConsumedTokens = 4096

interface SimpleKey {
  readonly isRequired: boolean
  /** Number of the first token of the key, counted from the start of the text. */
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
  private readonly queue: Token[] = []
  private head = 0
  private isReady = false
  private takenCount = 0
  /** The possible simple key of each flow level. */
  private readonly keys: (SimpleKey | undefined)[] = [undefined]
  /** Possible keys by the number of their token. */
  private readonly keysByToken = new Map<number, SimpleKey>()
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
    this.takenCount++
    if (this.head === this.queue.length) this.queue.length = 0
    else if (this.head > maxConsumedTokens) this.queue.splice(0, this.head)
    else return token
    this.head = 0
    return token
  }

  private get flowLevel(): number {
    return this.keys.length - 1
  }

  private needsMore(): boolean {
    if (this.head === this.queue.length) return true
    const key = this.keysByToken.get(this.takenCount)
    return key !== undefined && this.isStillPossible(key)
  }

  private emit(kind: TokenKind): void {
    this.queue.push({ kind, line: this.cursor.line })
  }

  private emitIndicator(kind: TokenKind, length = 1): void {
    this.emit(kind)
    this.cursor.advance(length)
  }

  private insert(token: Token, number: number): void {
    this.queue.splice(this.head + number - this.takenCount, 0, token)
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

  /** Skips white space and comments. Tabs cannot indent. */
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
    this.emitIndicator(kind, 3)
  }

  private scanIndicator(character: string): boolean {
    const inFlow = this.flowLevel > 0
    const isBeforeBlank = isBlankOrEnd(this.cursor.code(1))
    if (character === '[' || character === '{') this.scanFlowStart(character)
    else if (character === ']' || character === '}') this.scanFlowEnd(character)
    else if (character === ',') this.scanFlowEntry()
    else if (character === '-' && isBeforeBlank) this.scanBlockEntry()
    else if (character === '?' && (inFlow || isBeforeBlank)) this.scanKeyIndicator()
    else if (character === ':' && (inFlow || isBeforeBlank)) this.scanValueIndicator()
    else if (character === '*' || character === '&' || character === '!') this.scanProperty(character)
    else if ((character === '|' || character === '>') && !inFlow) this.scanBlock()
    else if (character === "'" || character === '"') this.scanQuoted()
    else return false
    return true
  }

  private scanFlowStart(bracket: '[' | '{'): void {
    this.savePossibleKey()
    this.keys.push(undefined)
    if (this.flowLevel > maxDepth) throw scanError(`exceeded max depth of ${maxDepth}`, this.cursor.line)
    this.isKeyAllowed = true
    this.emitIndicator(bracket)
  }

  private scanFlowEnd(bracket: ']' | '}'): void {
    this.dropKey()
    if (this.flowLevel > 0) this.keys.pop()
    this.isKeyAllowed = false
    this.emitIndicator(bracket)
  }

  private scanFlowEntry(): void {
    this.dropKey()
    this.isKeyAllowed = true
    this.emitIndicator(',')
  }

  private scanBlockEntry(): void {
    if (this.flowLevel === 0) {
      if (!this.isKeyAllowed) throw scanError('block sequence entries are not allowed in this context', this.cursor.line)
      this.rollIndent('sequence-start')
    }
    this.dropKey()
    this.isKeyAllowed = true
    this.emitIndicator('-')
  }

  private scanKeyIndicator(): void {
    if (this.flowLevel === 0) {
      if (!this.isKeyAllowed) throw scanError('mapping keys are not allowed in this context', this.cursor.line)
      this.rollIndent('mapping-start')
    }
    this.dropKey()
    this.isKeyAllowed = this.flowLevel === 0
    this.emitIndicator('key')
  }

  private scanValueIndicator(): void {
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
    this.emitIndicator('value')
  }

  private scanProperty(sign: '*' | '&' | '!'): void {
    this.savePossibleKey()
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
    this.savePossibleKey()
    this.isKeyAllowed = false
    const line = this.cursor.line
    this.queue.push({ kind: 'scalar', line, value: scanQuoted(this.cursor), isPlain: false })
  }

  private scanPlain(first: number): void {
    const { cursor } = this
    const isDash = first === code('-')
    const canStartPlain = this.flowLevel === 0 && (first === code('?') || first === code(':'))
    if (isDash ? isBlank(cursor.code(1)) : !canStartPlain && (isBlankOrEnd(first) || indicators.has(first)))
      throw scanError('found character that cannot start any token', cursor.line)
    this.savePossibleKey()
    this.isKeyAllowed = false
    const line = cursor.line
    const scalar = scanPlain(cursor, { minColumn: this.indent + 1, inFlow: this.flowLevel > 0 })
    this.queue.push({ kind: 'scalar', line, value: scalar.value, isPlain: true })
    if (scalar.endsLine) this.isKeyAllowed = true
  }

  private savePossibleKey(): void {
    if (!this.isKeyAllowed) return
    this.dropKey()
    const { at, line, column } = this.cursor
    const isRequired = this.flowLevel === 0 && this.indent === column
    const key: SimpleKey = { isRequired, token: this.takenCount + this.queue.length - this.head, at, line, column }
    this.keys[this.keys.length - 1] = key
    this.keysByToken.set(key.token, key)
  }

  /** Discards the possible key of the current flow level. Throws if a colon had to follow. */
  private dropKey(): void {
    const key = this.keys.at(-1)
    if (key?.isRequired) throw scanError("could not find expected ':'", this.cursor.line)
    this.forgetKey()
  }

  private forgetKey(): void {
    const key = this.keys.at(-1)
    if (key !== undefined) this.keysByToken.delete(key.token)
    this.keys[this.keys.length - 1] = undefined
  }

  private isStillPossible(key: SimpleKey): boolean {
    if (key.line === this.cursor.line && key.at + maxSimpleKeyLength >= this.cursor.at) return true
    if (key.isRequired) throw scanError("could not find expected ':'", this.cursor.line)
    this.keysByToken.delete(key.token)
    const index = this.keys.lastIndexOf(key)
    if (index >= 0) this.keys[index] = undefined
    return false
  }

  /** Opens a block collection if the column of the key, or else of the cursor, is deeper than the current indentation. */
  private rollIndent(kind: 'sequence-start' | 'mapping-start', key?: SimpleKey): void {
    const column = key?.column ?? this.cursor.column
    if (this.flowLevel > 0 || this.indent >= column) return
    this.indents.push(this.indent)
    if (this.indents.length > maxDepth) throw scanError(`exceeded max depth of ${maxDepth}`, this.cursor.line)
    this.indent = column
    if (key === undefined) this.emit(kind)
    else this.insert({ kind, line: key.line }, key.token)
  }

  private unrollIndent(column: number): void {
    if (this.flowLevel > 0) return
    while (this.indent > column) {
      this.emit('block-end')
      this.indent = this.indents.pop() ?? -1
    }
  }
}

const indicators = new Set([...'-?:,[]{}#&*!|>\'"%@`'].map(code))
