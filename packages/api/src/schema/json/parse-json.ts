// A careful JSON parser for what the native one cannot say: duplicate members with their paths and places, integers of
// any length, and errors in the reference's words. The hot path uses it only after the native parser met something odd.

import type { PathElement, PathSet } from './path.js'
import { isRecord, setMember } from './read.js'

export interface CarefulJson {
  readonly value: unknown
  /** Members that stood more than once in their object, each once and in the order of the document; the reference, too, tells of a hundred. */
  readonly duplicates: readonly PlacedPath[]
}

export interface PlacedPath {
  readonly path: readonly PathElement[]
  /** Where in the text the second one stands. */
  readonly place: number
}

export interface CarefulOptions {
  readonly maxDepth?: number
  /** Members whose places are wanted. */
  readonly wanted?: PathSet
  /** What becomes of a number with a point or an exponent. */
  readonly decimal?: (path: readonly PathElement[], digits: string) => unknown
}

/** The text is not JSON; the message says at which character and why. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
}

export const maxJsonDepth = 1000
const maxDuplicates = 100
/** Integers with more digits are read as floating-point numbers. The reference does so from 20 digits on. */
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

/** No text matches this in two ways: it takes as long as the number is. */
const numberForm = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

class Parser {
  readonly duplicates: PlacedPath[] = []
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
    this.space()
    if (this.at < this.text.length) this.unexpected('after top-level value')
    return value
  }

  private value(wanted: PathSet | undefined): unknown {
    const next = this.space()
    if (next === quote) return this.string()
    if (next === openBrace) return this.object(wanted)
    if (next === openBracket) return this.array(wanted)
    if (next === minus || (next >= zero && next <= nine)) return this.number()
    return this.literal()
  }

  private literal(): boolean | null {
    for (const [word, value] of literals) {
      if (!this.text.startsWith(word, this.at)) continue
      this.at += word.length
      return value
    }
    return this.literalProblem()
  }

  private object(wanted: PathSet | undefined): Record<string, unknown> {
    this.enter()
    const out: Record<string, unknown> = {}
    const seen = new Map<string, 'once' | 'reported'>()
    for (let next = this.space(); next !== closeBrace || seen.size > 0; next = this.space()) {
      if (seen.size > 0) {
        if (next === closeBrace) break
        if (next !== comma) this.unexpected('after object key:value pair')
        this.at++
        this.space()
      }
      this.member(out, seen, wanted)
    }
    this.leave()
    return out
  }

  private member(out: Record<string, unknown>, seen: Map<string, 'once' | 'reported'>, wanted: PathSet | undefined): void {
    const place = this.at
    if (this.text.charCodeAt(place) !== quote) this.unexpected('looking for beginning of object key string')
    const key = this.string()
    if (this.space() !== colon) this.unexpected('after object key')
    this.at++
    this.path.push(key)
    const below = wanted?.below(key)
    below?.meet(place)
    const value = this.value(below)
    const before = seen.get(key)
    if (before === undefined) {
      seen.set(key, 'once')
      setMember(out, key, value)
    } else {
      if (before === 'once' && this.duplicates.length < maxDuplicates) {
        seen.set(key, 'reported')
        this.duplicates.push({ path: [...this.path], place })
      }
      setMember(out, key, mergeAgain(out[key], value))
    }
    this.path.pop()
  }

  private array(wanted: PathSet | undefined): unknown[] {
    this.enter()
    const out: unknown[] = []
    if (this.space() === closeBracket) {
      this.leave()
      return out
    }
    for (;;) {
      this.path.push(out.length)
      out.push(this.value(wanted?.below(out.length)))
      this.path.pop()
      const next = this.space()
      if (next === closeBracket) break
      if (next !== comma) this.unexpected('after array element')
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
        if (length === 0) return this.stringProblem(at)
        at += length - 1
        isEscaped = true
      } else if (!(next >= firstPrintable)) return this.stringProblem(at) // not a number at the end of the text
    }
    this.at = at + 1
    return isEscaped ? (JSON.parse(text.slice(start, at + 1)) as string) : text.slice(start + 1, at)
  }

  private number(): unknown {
    numberForm.lastIndex = this.at
    const match = numberForm.exec(this.text)
    if (match === null) {
      this.at++
      return this.unexpected('in numeric literal')
    }
    this.at = numberForm.lastIndex
    const digits = match[0]
    if (this.decimal !== undefined && /[.eE]/.test(digits)) return this.decimal(this.path, digits)
    const value = Number(digits)
    const isDecimal = /[.eE]/.test(digits)
    if (Number.isSafeInteger(value) || (isDecimal && Number.isFinite(value))) return value
    if (!isDecimal && digits.length <= maxIntegerDigits) return BigInt(digits)
    if (!Number.isFinite(value)) throw new JsonSyntaxError(`a number of ${digits.length} characters is out of range`)
    return value
  }

  /** Over white space; what comes then, not a number at the end of the text. */
  private space(): number {
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

  /** A word that begins like `true` and goes on otherwise is reported at the letter where it goes wrong. */
  private literalProblem(): never {
    for (const [word] of literals) {
      if (this.text[this.at] !== word[0]) continue
      let length = 1
      while (length < word.length && this.text[this.at + length] === word[length]) length++
      this.at += length
      return this.unexpected(`in literal ${word} (expecting ${JSON.stringify(word[length] ?? '').replaceAll('"', "'")})`)
    }
    return this.unexpected('looking for beginning of value')
  }

  /** What is wrong with a string at a place in it: an escape, or a character that may not stand there. */
  private stringProblem(at: number): never {
    this.at = at
    if (this.text.charCodeAt(at) !== backslash) return this.unexpected('in string literal')
    if (this.text[at + 1] !== 'u') {
      this.at = at + 1
      return this.unexpected('in string escape code')
    }
    this.at = at + 2 + (/^[0-9a-fA-F]*/.exec(this.text.slice(at + 2, at + 6))?.[0].length ?? 0)
    return this.unexpected('in \\u hexadecimal character escape')
  }

  private unexpected(where: string): never {
    const character = this.text[this.at]
    if (character === undefined) throw new JsonSyntaxError('unexpected end of JSON input')
    throw new JsonSyntaxError(`invalid character ${showCharacter(character)} ${where}`)
  }
}

const literals = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

const simpleEscapes = '"\\/bfnrt'

/** How long the escape at a place is; 0 for what is none. */
function escapeLength(text: string, at: number): number {
  const name = text[at + 1]
  if (name === 'u') return /^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6)) ? 6 : 0
  return name !== undefined && simpleEscapes.includes(name) ? 2 : 0
}

const showCharacter = (character: string): string =>
  character === "'" ? `'\\''` : character === '"' ? `'"'` : `'${JSON.stringify(character).slice(1, -1)}'`

/**
 * What a repeated member does: objects flow into one another, of everything else the last one stands. The first object was made here
 * and is changed itself: a copy for each repetition would be as long as all that came before it.
 */
function mergeAgain(before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) return after
  for (const key of Object.keys(after))
    setMember(before, key, Object.hasOwn(before, key) ? mergeAgain(before[key], after[key]) : after[key])
  return before
}
