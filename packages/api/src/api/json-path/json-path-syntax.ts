// How paths into custom objects are written: the syntax of the reference, whose braces a column leaves out, with its leniency.

/** The path cannot be read. */
export class JsonPathError extends Error {}

export type PathNode =
  | { readonly kind: 'list'; readonly nodes: readonly PathNode[] }
  | { readonly kind: 'literal'; readonly value: unknown; readonly isForEach: boolean }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'slice'; readonly slice: Slice }
  | { readonly kind: 'filter'; readonly left: readonly PathNode[]; readonly right: readonly PathNode[]; readonly operator: string }
  | { readonly kind: 'union'; readonly lists: readonly (readonly PathNode[])[] }
  | { readonly kind: 'word'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }

export interface Slice {
  readonly from: number | undefined
  readonly to: number | undefined
  /** Undefined: one. */
  readonly by: number | undefined
  /** Only the first index was given. */
  readonly isOne: boolean
}

/** A number that the path itself has, or a byte of a text: whole ones are not integers of the object, and tables do not show them as such. */
export class LiteralNumber {
  readonly value: number
  readonly isWhole: boolean

  constructor(value: number, isWhole: boolean) {
    this.value = value
    this.isWhole = isWhole
  }
}

/** Longer paths than this have no honest use. */
const maxLength = 4096

/** What stands in braces is one list each, and what stands between is text. */
export function parsePath(path: string): readonly PathNode[] {
  if (path.length > maxLength) throw new JsonPathError('the path is too long')
  return new PathParser(`{${path}}`, 0).parse()
}

const terminators = new Set([' ', '\t', '\r', '\n', '', '.', ',', '[', ']', '$', '@', '{', '}'])
const isWordStart = (letter: string): boolean => (letter < '\x80' ? /\w/ : /[\p{L}\p{Nd}]/u).test(letter)

class PathParser {
  private readonly text: string
  private readonly depth: number
  private at = 0

  constructor(text: string, depth: number) {
    if (depth > 50) throw new JsonPathError('the path is too deep')
    this.text = text
    this.depth = depth
  }

  private fail(why: string): never {
    throw new JsonPathError(`${why} in ${this.text} at ${this.at}`)
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0]
    if (found !== undefined) this.at += found.length
    return found
  }

  parse(): readonly PathNode[] {
    const nodes: PathNode[] = []
    while (this.at < this.text.length) {
      const text = this.take(/[^{]+/y)
      if (text !== undefined) nodes.push({ kind: 'literal', value: text, isForEach: false })
      if (this.text[this.at] === '{') nodes.push({ kind: 'list', nodes: this.action() })
    }
    return nodes
  }

  /** What stands in a pair of braces of its own. */
  private inner(text: string): readonly PathNode[] {
    const [first] = new PathParser(`{${text}}`, this.depth + 1).parse()
    return first?.kind === 'list' ? first.nodes : []
  }

  private action(): readonly PathNode[] {
    const nodes: PathNode[] = []
    this.at++
    for (;;) {
      const next = this.text[this.at] ?? ''
      if (next === '}') {
        this.at++
        return nodes
      }
      if (next === '' || next === '\n' || next === '\r') this.fail('unclosed action')
      if (this.text.startsWith('..', this.at)) this.recursive(nodes)
      else if (this.text.startsWith('[?(', this.at)) nodes.push(this.filter())
      else if (next === '[') nodes.push(...this.brackets())
      else if (next === '.') {
        this.at++
        nodes.push(this.field())
      } else if (next === '"' || next === "'") nodes.push({ kind: 'literal', value: this.quoted(next), isForEach: false })
      else if (/[+\-\d]/.test(next)) nodes.push({ kind: 'literal', value: this.number(), isForEach: true })
      else if (next === ' ' || next === '@' || next === '$') this.at++
      else if (isWordStart(next)) nodes.push(this.word())
      else this.fail('an unknown character')
    }
  }

  private recursive(nodes: PathNode[]): void {
    if (nodes.at(-1)?.kind === 'recursive') this.fail('descends twice')
    this.at += 2
    nodes.push({ kind: 'recursive' })
    if (isWordStart(this.text[this.at] ?? '')) nodes.push(this.field())
  }

  private field(): PathNode {
    let name = ''
    for (;;) {
      const next = this.text[this.at] ?? ''
      if (next === '\\') {
        name += this.text[this.at + 1] ?? ''
        this.at += 2
      } else if (terminators.has(next)) return name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') }
      else {
        name += next
        this.at++
      }
    }
  }

  private word(): PathNode {
    let name = ''
    for (let next = this.text[this.at] ?? ''; !terminators.has(next); next = this.text[this.at] ?? '') {
      name += next
      this.at++
    }
    return name === 'true' || name === 'false' ? { kind: 'literal', value: name === 'true', isForEach: true } : { kind: 'word', name }
  }

  private number(): unknown {
    const text = this.take(/[+-]?[\d.]*/y) ?? ''
    if (/^[+-]?\d+$/.test(text)) return new LiteralNumber(Number(text), true)
    if (/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) return new LiteralNumber(Number(text), false)
    return this.fail('no number')
  }

  private quoted(quote: string): string {
    const start = this.at++
    for (;;) {
      const next = this.text[this.at] ?? ''
      if (next === '' || next === '\n') this.fail('an open quote')
      this.at++
      if (next === quote && this.text[this.at - 2] !== '\\') return this.unescape(this.text.slice(start + 1, this.at - 1), quote)
    }
  }

  private unescape(text: string, quote: string): string {
    return text.replace(/\\(u[\da-fA-F]{4}|x[\da-fA-F]{2}|[0-7]{3}|.?)/gs, (_, code: string) => {
      if (/^[ux]/.test(code) && code.length > 1) return String.fromCharCode(Number.parseInt(code.slice(1), 16))
      if (/^[0-7]{3}$/.test(code)) return String.fromCharCode(Number.parseInt(code, 8))
      const plain = code === quote || code === '\\' ? code : escapes[code]
      return plain ?? this.fail('an unknown escape')
    })
  }

  private brackets(): readonly PathNode[] {
    const inside = this.take(/\[[^\]\n]*\]/y)
    if (inside === undefined) this.fail('an open bracket')
    const text = inside === '[*]' ? ':' : inside.slice(1, -1)
    const parts = text.split(',')
    if (parts.length > 1) return [{ kind: 'union', lists: parts.map((part) => this.inner(`[${part.replace(/^ +| +$/g, '')}]`)) }]
    const key = /^'([^']*)'$/.exec(text)?.[1]
    if (key !== undefined) return this.inner(`.${key}`)
    const slice = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text)
    if (slice === null) this.fail('no index')
    return [{ kind: 'slice', slice: this.slice(slice[1] ?? '', slice[2], slice[3]) }]
  }

  private slice(from: string, to: string | undefined, by: string | undefined): Slice {
    const number = (digits: string): number | undefined => {
      if (digits === '-') this.fail('no index')
      return digits === '' ? undefined : Number(digits)
    }
    const end = to === undefined ? (number(from) ?? 0) + 1 : number(to.slice(1))
    return { from: number(from), to: end, by: by === undefined ? undefined : number(by.slice(1)), isOne: to === undefined }
  }

  private filter(): PathNode {
    this.at += 3
    const start = this.at
    let quote = ''
    let isClosed = true
    for (;;) {
      const next = this.text[this.at] ?? ''
      if (next === '' || next === '\n') this.fail('an open filter')
      this.at++
      if (next === '"' || next === "'") {
        if (quote === '') {
          quote = next
          isClosed = false
        } else if (next === quote && this.text[this.at - 2] !== '\\') isClosed = true
      } else if (next === ')' && isClosed) break
    }
    const text = this.text.slice(start, this.at - 1)
    if (this.take(/\]/y) === undefined) this.fail('an open bracket')
    const compared = /^([^!<>=]+)([!<>=]+)(.+)$/.exec(text)
    if (compared === null) return { kind: 'filter', left: this.inner(text), right: [], operator: 'exists' }
    const [, left = '', operator = '', right = ''] = compared
    return { kind: 'filter', left: this.inner(left), right: this.inner(right), operator }
  }
}

const escapes: { readonly [letter: string]: string } = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }
