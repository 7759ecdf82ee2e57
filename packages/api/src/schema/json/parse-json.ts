// JSON parser for what JSON.parse cannot report: duplicate members with paths, integers beyond 2^53 and kube-apiserver's error messages.
// Slower than JSON.parse, so callers use it only for texts that need it.

import type { PathElement, PathSet } from '../path.js'
import { isRecord, setMember } from './read.js'

export interface CarefulJson {
  readonly value: unknown
  /** At most a hundred, as in kube-apiserver. */
  readonly duplicates: readonly LocatedPath[]
}

interface LocatedPath {
  readonly path: readonly PathElement[]
  readonly offset: number
}

interface CarefulOptions {
  readonly maxDepth?: number
  /** Paths whose offsets in the text are recorded. */
  readonly wanted?: PathSet
  /** Reads numbers with a decimal point or an exponent. */
  readonly decimal?: (path: readonly PathElement[], digits: string) => unknown
}

/** Invalid JSON, with the message of Go's encoding/json. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
}

export const maxJsonDepth = 1000
const maxDuplicates = 100
/** Longer integers become floats. kube-apiserver converts from 20 digits on. */
const maxIntegerDigits = 64

export function parseJsonCarefully(text: string, { maxDepth = maxJsonDepth, wanted, decimal }: CarefulOptions = {}): CarefulJson {
  const parser = new Parser(text, maxDepth, decimal)
  const value = parser.document(wanted)
  return { value, duplicates: parser.duplicates }
}

const code = (character: string): number => character.charCodeAt(0)
const quote = code('"')
const backslash = code('\\')
const openBrace = code('{')
const closeBrace = code('}')
const openBracket = code('[')
const closeBracket = code(']')
const comma = code(',')
const colon = code(':')
const minus = code('-')
const zero = code('0')
const nine = code('9')
const firstPrintable = code(' ')

/** Matches in linear time: no two parts can match the same character. */
const numberSyntax = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

class Parser {
  readonly duplicates: LocatedPath[] = []
  private readonly text: string
  private readonly maxDepth: number
  private readonly path: PathElement[] = []
  private at = 0
  private depth = 0

  private readonly decimal: CarefulOptions['decimal']

  constructor(text: string, maxDepth: number, decimal: CarefulOptions['decimal']) {
    this.text = text
    this.maxDepth = maxDepth
    this.decimal = decimal
  }

  document(wanted: PathSet | undefined): unknown {
    const value = this.value(wanted)
    this.skipSpace()
    if (this.at < this.text.length) this.throwUnexpected('after top-level value')
    return value
  }

  private value(wanted: PathSet | undefined): unknown {
    const next = this.skipSpace()
    if (next === quote) return this.string()
    if (next === openBrace) return this.object(wanted)
    if (next === openBracket) return this.array(wanted)
    if (next === minus || (next >= zero && next <= nine)) return this.number()
    return this.literal()
  }

  private literal(): boolean | null {
    for (const [literal, value] of literals) {
      if (!this.text.startsWith(literal, this.at)) continue
      this.at += literal.length
      return value
    }
    return this.literalError()
  }

  private object(wanted: PathSet | undefined): Record<string, unknown> {
    this.enter()
    const out: Record<string, unknown> = {}
    const seen = new Map<string, 'once' | 'reported'>()
    for (let next = this.skipSpace(); next !== closeBrace || seen.size > 0; next = this.skipSpace()) {
      if (seen.size > 0) {
        if (next === closeBrace) break
        if (next !== comma) this.throwUnexpected('after object key:value pair')
        this.at++
        this.skipSpace()
      }
      this.member(out, seen, wanted)
    }
    this.leave()
    return out
  }

  private member(out: Record<string, unknown>, seen: Map<string, 'once' | 'reported'>, wanted: PathSet | undefined): void {
    const offset = this.at
    if (this.text.charCodeAt(offset) !== quote) this.throwUnexpected('looking for beginning of object key string')
    const key = this.string()
    if (this.skipSpace() !== colon) this.throwUnexpected('after object key')
    this.at++
    this.path.push(key)
    const inner = wanted?.child(key)
    inner?.recordOffset(offset)
    const value = this.value(inner)
    const before = seen.get(key)
    if (before === undefined) {
      seen.set(key, 'once')
      setMember(out, key, value)
    } else {
      if (before === 'once' && this.duplicates.length < maxDuplicates) {
        seen.set(key, 'reported')
        this.duplicates.push({ path: [...this.path], offset })
      }
      setMember(out, key, mergeDuplicate(out[key], value))
    }
    this.path.pop()
  }

  private array(wanted: PathSet | undefined): unknown[] {
    this.enter()
    const out: unknown[] = []
    if (this.skipSpace() === closeBracket) {
      this.leave()
      return out
    }
    for (;;) {
      this.path.push(out.length)
      out.push(this.value(wanted?.child(out.length)))
      this.path.pop()
      const next = this.skipSpace()
      if (next === closeBracket) break
      if (next !== comma) this.throwUnexpected('after array element')
      this.at++
    }
    this.leave()
    return out
  }

  private string(): string {
    const { text } = this
    const start = this.at
    let at = start + 1
    let isEscaped = false
    for (let next = text.charCodeAt(at); next !== quote; next = text.charCodeAt(++at)) {
      if (next === backslash) {
        const length = escapeLength(text, at)
        if (length === 0) return this.stringError(at)
        at += length - 1
        isEscaped = true
      } else if (!(next >= firstPrintable)) return this.stringError(at) // NaN at the end of the text
    }
    this.at = at + 1
    return isEscaped ? (JSON.parse(text.slice(start, at + 1)) as string) : text.slice(start + 1, at)
  }

  private number(): unknown {
    numberSyntax.lastIndex = this.at
    const match = numberSyntax.exec(this.text)
    if (match === null) {
      this.at++
      return this.throwUnexpected('in numeric literal')
    }
    this.at = numberSyntax.lastIndex
    const digits = match[0]
    if (this.decimal !== undefined && /[.eE]/.test(digits)) return this.decimal(this.path, digits)
    const value = Number(digits)
    const isDecimal = /[.eE]/.test(digits)
    if (Number.isSafeInteger(value) || (isDecimal && Number.isFinite(value))) return value
    if (!isDecimal && digits.length <= maxIntegerDigits) return BigInt(digits)
    if (!Number.isFinite(value)) throw new JsonSyntaxError(`a number of ${digits.length} characters is out of range`)
    return value
  }

  private skipSpace(): number {
    const { text } = this
    for (;;) {
      const next = text.charCodeAt(this.at)
      if (next !== 0x20 && next !== 0x0a && next !== 0x0d && next !== 0x09) return next
      this.at++
    }
  }

  private enter(): void {
    this.at++
    if (++this.depth > this.maxDepth) throw new JsonSyntaxError('exceeded max depth')
  }

  private leave(): void {
    this.at++
    this.depth--
  }

  /** Reports the first character that differs from the literal. */
  private literalError(): never {
    for (const [literal] of literals) {
      if (this.text[this.at] !== literal[0]) continue
      let length = 1
      while (length < literal.length && this.text[this.at + length] === literal[length]) length++
      this.at += length
      return this.throwUnexpected(`in literal ${literal} (expecting ${JSON.stringify(literal[length] ?? '').replaceAll('"', "'")})`)
    }
    return this.throwUnexpected('looking for beginning of value')
  }

  private stringError(at: number): never {
    this.at = at
    if (this.text.charCodeAt(at) !== backslash) return this.throwUnexpected('in string literal')
    if (this.text[at + 1] !== 'u') {
      this.at = at + 1
      return this.throwUnexpected('in string escape code')
    }
    this.at = at + 2 + (/^[0-9a-fA-F]*/.exec(this.text.slice(at + 2, at + 6))?.[0].length ?? 0)
    return this.throwUnexpected('in \\u hexadecimal character escape')
  }

  private throwUnexpected(where: string): never {
    const character = this.text[this.at]
    if (character === undefined) throw new JsonSyntaxError('unexpected end of JSON input')
    throw new JsonSyntaxError(`invalid character ${quoteCharacter(character)} ${where}`)
  }
}

const literals = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

const simpleEscapes = '"\\/bfnrt'

function escapeLength(text: string, at: number): number {
  const name = text[at + 1]
  if (name === 'u') return /^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6)) ? 6 : 0
  return name !== undefined && simpleEscapes.includes(name) ? 2 : 0
}

const quoteCharacter = (character: string): string =>
  character === "'" ? `'\\''` : character === '"' ? `'"'` : `'${JSON.stringify(character).slice(1, -1)}'`

/** Merges duplicate objects as kube-apiserver does. In place: copies would take quadratic time. */
function mergeDuplicate(before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) return after
  for (const key of Object.keys(after))
    setMember(before, key, Object.hasOwn(before, key) ? mergeDuplicate(before[key], after[key]) : after[key])
  return before
}
