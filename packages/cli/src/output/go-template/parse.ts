// Go templates as a tree: texts, values that are shown, branches, loops, and templates with names.

import { functionNames } from './functions.js'
import { cutTemplate, type Piece, type Token, templateFailure } from './tokens.js'

export type Operand =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'nil' }
  | { readonly kind: 'dot' }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'pipe'; readonly pipe: Pipe }
  | { readonly kind: 'chain'; readonly from: Operand; readonly fields: readonly string[] }

export interface Pipe {
  readonly variables: readonly string[]
  /** To variables that are there already. */
  readonly isAssignment: boolean
  readonly commands: readonly (readonly Operand[])[]
  readonly line: number
}

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'show'; readonly pipe: Pipe }
  | { readonly kind: 'if' | 'with' | 'range'; readonly pipe: Pipe; readonly body: readonly Node[]; readonly otherwise: readonly Node[] }
  | { readonly kind: 'template'; readonly name: string; readonly pipe: Pipe | undefined; readonly line: number }
  | { readonly kind: 'break' | 'continue' }

export interface Parsed {
  readonly main: readonly Node[]
  readonly named: ReadonlyMap<string, readonly Node[]>
}

export function parseGoTemplate(text: string): Parsed {
  return new Parser(cutTemplate(text)).parse()
}

class Parser {
  private readonly pieces: readonly Piece[]
  private readonly named = new Map<string, readonly Node[]>()
  private at = 0
  private loops = 0
  /** Names that are known where we are, the latest last. */
  private known: string[] = ['$']

  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces
  }

  parse(): Parsed {
    const { nodes, ended } = this.nodes()
    if (ended !== '') throw templateFailure(this.lineBefore(), `unexpected {{${ended}}}`)
    return { main: nodes, named: this.named }
  }

  /** Up to an `end` or `else`, which is taken; what that was, with the words behind `else`. */
  private nodes(): { readonly nodes: readonly Node[]; readonly ended: string; readonly more: readonly Token[] } {
    const nodes: Node[] = []
    while (this.at < this.pieces.length) {
      const piece = this.pieces[this.at++] as Piece
      if (piece.kind === 'text') {
        nodes.push(piece)
        continue
      }
      const [first, ...rest] = piece.tokens
      if (first === undefined) throw templateFailure(piece.line, 'missing value for command')
      const word = first.kind === 'word' ? first.text : ''
      if (word === 'end' || word === 'else') return { nodes, ended: word, more: rest }
      nodes.push(...this.node(word, piece, rest))
    }
    return { nodes, ended: '', more: [] }
  }

  private node(word: string, { tokens, line, source }: Extract<Piece, { kind: 'action' }>, rest: readonly Token[]): readonly Node[] {
    switch (word) {
      case 'if':
      case 'with':
      case 'range':
        return [this.branch(word, rest, line)]
      case 'define': {
        this.named.set(nameOf(rest[0], line), this.apart(line))
        return []
      }
      case 'block': {
        const name = nameOf(rest[0], line)
        const pipe = this.pipe(rest.slice(1), line)
        this.named.set(name, this.apart(line))
        return [{ kind: 'template', name, pipe, line }]
      }
      case 'template':
        return [{ kind: 'template', name: nameOf(rest[0], line), pipe: rest.length > 1 ? this.pipe(rest.slice(1), line) : undefined, line }]
      case 'break':
      case 'continue':
        if (this.loops === 0) throw templateFailure(line, `{{${source}}} outside {{range}}`)
        return [{ kind: word }]
      default:
        return [{ kind: 'show', pipe: this.pipe(tokens, line) }]
    }
  }

  /** A template of its own, in which no variable is known but `$`. */
  private apart(line: number): readonly Node[] {
    const [known, loops] = [this.known, this.loops]
    this.known = ['$']
    this.loops = 0
    const { nodes, ended } = this.nodes()
    if (ended !== 'end') throw templateFailure(line, ended === '' ? 'unexpected EOF' : `unexpected {{${ended}}}`)
    this.known = known
    this.loops = loops
    return nodes
  }

  private branch(kind: 'if' | 'with' | 'range', tokens: readonly Token[], line: number): Node {
    const known = this.known.length
    const pipe = this.pipe(tokens, line, kind === 'range')
    if (kind === 'range') this.loops++
    const { nodes: body, ended, more } = this.nodes()
    if (kind === 'range') this.loops--
    if (ended === '') throw templateFailure(this.lineBefore(), 'unexpected EOF')
    let otherwise: readonly Node[] = []
    const [next, ...condition] = more
    if (ended === 'else' && next !== undefined) {
      if (next.text !== kind || kind === 'range') throw templateFailure(line, `unexpected {{else ${next.text}}} of {{${kind}}}`)
      otherwise = [this.branch(kind, condition, line)]
    } else if (ended === 'else') {
      const tail = this.nodes()
      if (tail.ended !== 'end')
        throw templateFailure(this.lineBefore(), tail.ended === '' ? 'unexpected EOF' : 'expected end; found {{else}}')
      otherwise = tail.nodes
    }
    this.known.length = known
    return { kind, pipe, body, otherwise }
  }

  private pipe(tokens: readonly Token[], line: number, mayDeclareTwo = false): Pipe {
    const signAt = tokens.findIndex(({ kind, text }) => kind === 'sign' && (text === ':=' || text === '='))
    const before = signAt < 0 ? [] : tokens.slice(0, signAt)
    const variables = before.filter(({ kind }) => kind === 'variable').map(({ text }) => text)
    const isList = before.every(({ kind, text }, i) => (i % 2 === 0 ? kind === 'variable' : text === ','))
    if (!isList || variables.length > (mayDeclareTwo ? 2 : 1)) throw templateFailure(line, 'unexpected declaration of variables')
    const isAssignment = tokens[signAt]?.text === '='
    if (isAssignment) for (const name of variables) this.mustKnow(name, line)
    const reader = new OperandReader(
      tokens.slice(signAt + 1),
      line,
      (name) => this.mustKnow(name, line),
      (inner) => this.pipe(inner, line),
    )
    const commands = reader.commands()
    if (!isAssignment) this.known.push(...variables)
    return { variables, isAssignment, commands, line }
  }

  private mustKnow(name: string, line: number): void {
    if (!this.known.includes(name)) throw templateFailure(line, `undefined variable ${JSON.stringify(name)}`)
  }

  private lineBefore(): number {
    const last = this.pieces.slice(0, this.at).findLast(({ kind }) => kind === 'action')
    return last?.kind === 'action' ? last.line : 1
  }
}

function nameOf(token: Token | undefined, line: number): string {
  if (token?.kind !== 'value' || typeof token.value !== 'string') throw templateFailure(line, 'a template is named by a string')
  return token.value
}

class OperandReader {
  private readonly tokens: readonly Token[]
  private readonly line: number
  private readonly mustKnow: (name: string) => void
  private readonly pipe: (tokens: readonly Token[]) => Pipe

  constructor(tokens: readonly Token[], line: number, mustKnow: (name: string) => void, pipe: (tokens: readonly Token[]) => Pipe) {
    this.tokens = tokens
    this.line = line
    this.mustKnow = mustKnow
    this.pipe = pipe
  }

  commands(): readonly (readonly Operand[])[] {
    const commands: Operand[][] = [[]]
    for (let at = 0; at < this.tokens.length; ) {
      const token = this.tokens[at] as Token
      if (token.kind === 'sign' && token.text === '|') {
        commands.push([])
        at++
        continue
      }
      const { operand, next } = this.operandAt(at)
      commands.at(-1)?.push(operand)
      at = next
    }
    if (commands.some((command) => command.length === 0)) throw templateFailure(this.line, 'missing value for command')
    return commands
  }

  private operandAt(at: number): { readonly operand: Operand; readonly next: number } {
    const token = this.tokens[at] as Token
    let next = at + 1
    let operand: Operand
    if (token.kind === 'sign') {
      if (token.text !== '(') throw templateFailure(this.line, `unexpected ${JSON.stringify(token.text)} in command`)
      const close = this.closing(at)
      operand = { kind: 'pipe', pipe: this.pipe(this.tokens.slice(at + 1, close)) }
      next = close + 1
    } else operand = this.single(token)
    const fields: string[] = []
    while (this.tokens[next]?.kind === 'field' && this.tokens[next]?.isApart === false && this.tokens[next]?.text !== '')
      fields.push((this.tokens[next++] as Token).text)
    if (fields.length === 0) return { operand, next }
    if (operand.kind === 'chain') return { operand: { ...operand, fields: [...operand.fields, ...fields] }, next }
    return { operand: { kind: 'chain', from: operand, fields }, next }
  }

  private single({ kind, text, value }: Token): Operand {
    if (kind === 'field') return text === '' ? { kind: 'dot' } : { kind: 'chain', from: { kind: 'dot' }, fields: [text] }
    if (kind === 'variable') {
      this.mustKnow(text)
      return { kind: 'variable', name: text }
    }
    if (kind === 'value') return { kind: 'value', value }
    if (text === 'true' || text === 'false') return { kind: 'value', value: text === 'true' }
    if (text === 'nil') return { kind: 'nil' }
    if (!functionNames.has(text)) throw templateFailure(this.line, `function ${JSON.stringify(text)} not defined`)
    return { kind: 'function', name: text }
  }

  private closing(open: number): number {
    let depth = 0
    for (let at = open; at < this.tokens.length; at++) {
      const { kind, text } = this.tokens[at] as Token
      if (kind === 'sign' && text === '(') depth++
      if (kind === 'sign' && text === ')' && --depth === 0) return at
    }
    throw templateFailure(this.line, 'unclosed left paren')
  }
}
