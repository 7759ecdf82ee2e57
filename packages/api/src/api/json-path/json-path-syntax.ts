// JSONPath parser, as lenient as kube-apiserver. `parsePath` adds the braces that printer columns omit.

export class JsonPathError extends Error {}

export type PathNode =
  | { readonly kind: 'list'; readonly nodes: readonly PathNode[] }
  /** `isPerValue`: true if each current value becomes the literal, false if all of them become one literal. */
  | { readonly kind: 'literal'; readonly value: unknown; readonly isPerValue: boolean }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'key'; readonly name: string; readonly path: readonly PathNode[] }
  | { readonly kind: 'slice'; readonly slice: Slice }
  | { readonly kind: 'filter'; readonly left: readonly PathNode[]; readonly right: readonly PathNode[]; readonly operator: string }
  | { readonly kind: 'union'; readonly lists: readonly (readonly PathNode[])[] }
  | { readonly kind: 'word'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }

export interface Slice {
  readonly from: number | undefined
  readonly to: number | undefined
  readonly step: number | undefined
  /** `[3]`, which is read as `[3:4]`. */
  readonly isIndex: boolean
}

/** A number literal of the path, or a byte of a string. Columns of type integer or number show no integer literals. */
export class LiteralNumber {
  readonly value: number
  readonly isInteger: boolean

  constructor(value: number, isInteger: boolean) {
    this.value = value
    this.isInteger = isInteger
  }
}

const maxLength = 4096

/** Each `{…}` (an action, as in Go templates) becomes a list node; text between actions becomes a literal. */
export const parseTemplate = (text: string): readonly PathNode[] => new PathParser(text, 0).parse()

export function parsePath(path: string): readonly PathNode[] {
  if (path.length > maxLength) throw new JsonPathError('the path is too long')
  return parseTemplate(`{${path}}`)
}

const terminators = new Set([' ', '\t', '\r', '\n', '', '.', ',', '[', ']', '$', '@', '{', '}'])
const isWordStart = (char: string): boolean => (char < '\x80' ? /\w/ : /[\p{L}\p{Nd}]/u).test(char)

class PathParser {
  private readonly text: string
  private readonly depth: number
  private at = 0

  constructor(text: string, depth: number) {
    if (depth > 50) throw new JsonPathError('the path is too deep')
    this.text = text
    this.depth = depth
  }

  private fail(message: string): never {
    throw new JsonPathError(message)
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
      if (text !== undefined) nodes.push({ kind: 'literal', value: text, isPerValue: false })
      if (this.text[this.at] === '{') nodes.push({ kind: 'list', nodes: this.action() })
    }
    return nodes
  }

  private parseInner(text: string): readonly PathNode[] {
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
      } else if (next === '"' || next === "'") nodes.push({ kind: 'literal', value: this.quoted(next), isPerValue: false })
      else if (/[+\-\d]/.test(next)) nodes.push({ kind: 'literal', value: this.number(), isPerValue: true })
      else if (next === ' ' || next === '@' || next === '$') this.at++
      else if (isWordStart(next)) nodes.push(this.word())
      else this.fail(`unrecognized character in action: ${next}`)
    }
  }

  private recursive(nodes: PathNode[]): void {
    if (nodes.at(-1)?.kind === 'recursive') this.fail('invalid multiple recursive descent')
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
    return name === 'true' || name === 'false' ? { kind: 'literal', value: name === 'true', isPerValue: true } : { kind: 'word', name }
  }

  private number(): unknown {
    const text = this.take(/[+-]?[\d.]*/y) ?? ''
    if (/^[+-]?\d+$/.test(text)) return new LiteralNumber(Number(text), true)
    if (/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) return new LiteralNumber(Number(text), false)
    return this.fail(`cannot parse number ${text}`)
  }

  private quoted(quote: string): string {
    const start = this.at++
    for (;;) {
      const next = this.text[this.at] ?? ''
      if (next === '' || next === '\n') this.fail('unterminated quoted string')
      this.at++
      if (next === quote && this.text[this.at - 2] !== '\\') return this.unescape(this.text.slice(start + 1, this.at - 1), quote)
    }
  }

  private unescape(text: string, quote: string): string {
    return text.replace(/\\(u[\da-fA-F]{4}|x[\da-fA-F]{2}|[0-7]{3}|.?)/gs, (_, code: string) => {
      if (/^[ux]/.test(code) && code.length > 1) return String.fromCharCode(Number.parseInt(code.slice(1), 16))
      if (/^[0-7]{3}$/.test(code)) return String.fromCharCode(Number.parseInt(code, 8))
      const unescaped = code === quote || code === '\\' ? code : escapes[code]
      return unescaped ?? this.fail(`unrecognized escape \\${code}`)
    })
  }

  private brackets(): readonly PathNode[] {
    const bracketed = this.take(/\[[^\]\n]*\]/y)
    if (bracketed === undefined) this.fail('unterminated array')
    const text = bracketed === '[*]' ? ':' : bracketed.slice(1, -1)
    const parts = text.split(',')
    if (parts.length > 1) return [{ kind: 'union', lists: parts.map((part) => this.parseInner(`[${part.replace(/^ +| +$/g, '')}]`)) }]
    const key = /^'([^']*)'$/.exec(text)?.[1]
    if (key !== undefined) return [{ kind: 'key', name: key, path: this.parseInner(`.${key}`) }]
    const slice = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text)
    if (slice === null) {
      const hint = text.startsWith('"') ? `: a name stands in single quotes, [${text.replaceAll('"', "'")}]` : ''
      this.fail(`invalid array index ${text}${hint}`)
    }
    return [{ kind: 'slice', slice: this.slice(slice[1] ?? '', slice[2], slice[3]) }]
  }

  private slice(from: string, to: string | undefined, step: string | undefined): Slice {
    const number = (digits: string): number | undefined => {
      if (digits === '-') this.fail('invalid array index -')
      return digits === '' ? undefined : Number(digits)
    }
    const end = to === undefined ? (number(from) ?? 0) + 1 : number(to.slice(1))
    return { from: number(from), to: end, step: step === undefined ? undefined : number(step.slice(1)), isIndex: to === undefined }
  }

  private filter(): PathNode {
    this.at += 3
    const start = this.at
    let quote = ''
    let isClosed = true
    for (;;) {
      const next = this.text[this.at] ?? ''
      if (next === '' || next === '\n') this.fail('unterminated filter')
      this.at++
      if (next === '"' || next === "'") {
        if (quote === '') {
          quote = next
          isClosed = false
        } else if (next === quote && this.text[this.at - 2] !== '\\') isClosed = true
      } else if (next === ')' && isClosed) break
    }
    const text = this.text.slice(start, this.at - 1)
    if (this.take(/\]/y) === undefined) this.fail('unclosed array expect ]')
    const compared = /^([^!<>=]+)([!<>=]+)(.+)$/.exec(text)
    if (compared === null) return { kind: 'filter', left: this.parseInner(text), right: [], operator: 'exists' }
    const [, left = '', operator = '', right = ''] = compared
    return { kind: 'filter', left: this.parseInner(left), right: this.parseInner(right), operator }
  }
}

const escapes: { readonly [char: string]: string } = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }
