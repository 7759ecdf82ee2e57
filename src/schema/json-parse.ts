// A careful JSON parser for what the native one cannot say: duplicate members with their paths and places, integers of
// any length, and errors in the reference's words. The hot path uses it only after the native parser met something odd.

import { setMember } from './read.js'

export interface CarefulJson {
  readonly value: unknown
  /** Paths of members that stood more than once in their object, in the order of the document. */
  readonly duplicates: readonly PlacedPath[]
  /** Where in the text the first member with this path stands. */
  readonly places: ReadonlyMap<string, number>
}

export interface PlacedPath {
  readonly path: string
  readonly place: number
}

/** The text is not JSON; the message says at which character and why. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
}

export const maxJsonDepth = 1000

export function parseJsonCarefully(text: string, maxDepth = maxJsonDepth): CarefulJson {
  const parser = new Parser(text, maxDepth)
  const value = parser.document()
  return { value, duplicates: parser.duplicates, places: parser.places }
}

const numberForm = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const stringForm = /"((?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"/y

class Parser {
  readonly duplicates: PlacedPath[] = []
  readonly places = new Map<string, number>()
  private readonly text: string
  private readonly maxDepth: number
  private at = 0
  private depth = 0

  constructor(text: string, maxDepth: number) {
    this.text = text
    this.maxDepth = maxDepth
  }

  document(): unknown {
    const value = this.value('')
    this.space()
    if (this.at < this.text.length) this.unexpected('after top-level value')
    return value
  }

  private value(path: string): unknown {
    this.space()
    const character = this.text[this.at]
    if (character === '{') return this.object(path)
    if (character === '[') return this.array(path)
    if (character === '"') return this.string()
    if (character === '-' || (character !== undefined && character >= '0' && character <= '9')) return this.number()
    for (const [word, value] of [
      ['true', true],
      ['false', false],
      ['null', null],
    ] as const) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length
        return value
      }
    }
    return this.literalProblem()
  }

  private object(path: string): Record<string, unknown> {
    this.enter()
    const out: Record<string, unknown> = {}
    const seen = new Set<string>()
    for (let first = true; ; first = false) {
      this.space()
      if (this.text[this.at] === '}' && (first || seen.size === 0)) break
      if (!first) {
        if (this.text[this.at] === '}') break
        if (this.text[this.at] !== ',') this.unexpected('after object key:value pair')
        this.at++
        this.space()
      }
      this.member(path, out, seen)
    }
    this.leave()
    return out
  }

  private member(path: string, out: Record<string, unknown>, seen: Set<string>): void {
    if (this.text[this.at] !== '"') this.unexpected('looking for beginning of object key string')
    const place = this.at
    const key = this.string()
    this.space()
    if (this.text[this.at] !== ':') this.unexpected('after object key')
    this.at++
    const memberPath = path === '' ? key : `${path}.${key}`
    const again = seen.has(key)
    if (!again) {
      seen.add(key)
      this.places.set(memberPath, place)
    }
    const value = this.value(memberPath)
    if (again) this.duplicates.push({ path: memberPath, place })
    setMember(out, key, again ? mergeAgain(out[key], value) : value)
  }

  private array(path: string): unknown[] {
    this.enter()
    const out: unknown[] = []
    this.space()
    if (this.text[this.at] === ']') {
      this.leave()
      return out
    }
    for (;;) {
      out.push(this.value(`${path}[${out.length}]`))
      this.space()
      if (this.text[this.at] === ']') break
      if (this.text[this.at] !== ',') this.unexpected('after array element')
      this.at++
    }
    this.leave()
    return out
  }

  private string(): string {
    stringForm.lastIndex = this.at
    const match = stringForm.exec(this.text)
    if (match === null) return this.stringProblem()
    this.at = stringForm.lastIndex
    return JSON.parse(match[0]) as string
  }

  private number(): number | bigint {
    numberForm.lastIndex = this.at
    const match = numberForm.exec(this.text)
    if (match === null) {
      this.at++
      return this.unexpected('in numeric literal')
    }
    this.at = numberForm.lastIndex
    const digits = match[0]
    const value = Number(digits)
    return /[.eE]/.test(digits) || Number.isSafeInteger(value) ? value : BigInt(digits)
  }

  private space(): void {
    while (this.at < this.text.length && ' \t\r\n'.includes(this.text[this.at] as string)) this.at++
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
    for (const word of ['true', 'false', 'null']) {
      if (this.text[this.at] !== word[0]) continue
      let length = 1
      while (length < word.length && this.text[this.at + length] === word[length]) length++
      this.at += length
      return this.unexpected(`in literal ${word} (expecting ${JSON.stringify(word[length] ?? '').replaceAll('"', "'")})`)
    }
    return this.unexpected('looking for beginning of value')
  }

  private stringProblem(): never {
    let i = this.at + 1
    for (; i < this.text.length && this.text[i] !== '"'; i++) {
      if ((this.text[i] as string) < ' ') break
      if (this.text[i] !== '\\') continue
      const next = this.text[i + 1]
      if (next === 'u' && /^[0-9a-fA-F]{4}/.test(this.text.slice(i + 2, i + 6))) i += 5
      else if (next !== undefined && '"\\/bfnrt'.includes(next)) i += 1
      else {
        this.at = i + (next === 'u' ? 2 + (/^[0-9a-fA-F]*/.exec(this.text.slice(i + 2, i + 6))?.[0].length ?? 0) : 1)
        return this.unexpected(next === 'u' ? 'in \\u hexadecimal character escape' : 'in string escape code')
      }
    }
    this.at = i
    return this.unexpected('in string literal')
  }

  private unexpected(where: string): never {
    const character = this.text[this.at]
    if (character === undefined) throw new JsonSyntaxError('unexpected end of JSON input')
    throw new JsonSyntaxError(`invalid character ${showCharacter(character)} ${where}`)
  }
}

const showCharacter = (character: string): string =>
  character === "'" ? `'\\''` : character === '"' ? `'"'` : `'${JSON.stringify(character).slice(1, -1)}'`

/** What a repeated member does: objects flow into one another, of everything else the last one stands. */
function mergeAgain(before: unknown, after: unknown): unknown {
  if (!isPlain(before) || !isPlain(after)) return after
  const out: Record<string, unknown> = { ...before }
  for (const key of Object.keys(after)) setMember(out, key, Object.hasOwn(before, key) ? mergeAgain(before[key], after[key]) : after[key])
  return out
}

const isPlain = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
