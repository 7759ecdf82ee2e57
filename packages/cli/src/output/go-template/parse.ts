// Parser of Go templates: text, pipelines, if, with, range, else, break, continue, define, block, template.

import { functionNames } from './functions.js'
import { type Chunk, cutTemplate, type Token, templateFailure } from './tokens.js'

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
  readonly isAssignment: boolean
  readonly commands: readonly (readonly Operand[])[]
  readonly line: number
}

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'show'; readonly pipe: Pipe }
  | { readonly kind: 'if' | 'with' | 'range'; readonly pipe: Pipe; readonly body: readonly Node[]; readonly elseBody: readonly Node[] }
  | { readonly kind: 'template'; readonly name: string; readonly pipe: Pipe | undefined; readonly line: number }
  | { readonly kind: 'break' | 'continue' }

export interface ParsedTemplate {
  readonly main: readonly Node[]
  readonly definitions: ReadonlyMap<string, readonly Node[]>
}

export function parseGoTemplate(text: string): ParsedTemplate {
  return new Parser(cutTemplate(text)).parse()
}

class Parser {
  private readonly chunks: readonly Chunk[]
  private readonly definitions = new Map<string, readonly Node[]>()
  private position = 0
  private rangeDepth = 0
  private declared: string[] = ['$']

  constructor(chunks: readonly Chunk[]) {
    this.chunks = chunks
  }

  parse(): ParsedTemplate {
    const { nodes, endWord } = this.nodes()
    if (endWord !== '') throw templateFailure(this.lineBefore(), `unexpected {{${endWord}}}`)
    return { main: nodes, definitions: this.definitions }
  }

  private nodes(): { readonly nodes: readonly Node[]; readonly endWord: string; readonly elseTokens: readonly Token[] } {
    const nodes: Node[] = []
    while (this.position < this.chunks.length) {
      const chunk = this.chunks[this.position++] as Chunk
      if (chunk.kind === 'text') {
        nodes.push(chunk)
        continue
      }
      const [first, ...rest] = chunk.tokens
      if (first === undefined) throw templateFailure(chunk.line, 'missing value for command')
      const word = first.kind === 'word' ? first.text : ''
      if (word === 'end' || word === 'else') return { nodes, endWord: word, elseTokens: rest }
      nodes.push(...this.node(word, chunk, rest))
    }
    return { nodes, endWord: '', elseTokens: [] }
  }

  private node(word: string, { tokens, line, source }: Extract<Chunk, { kind: 'action' }>, rest: readonly Token[]): readonly Node[] {
    switch (word) {
      case 'if':
      case 'with':
      case 'range':
        return [this.branch(word, rest, line)]
      case 'define': {
        this.definitions.set(nameOf(rest[0], line), this.separateScope(line))
        return []
      }
      case 'block': {
        const name = nameOf(rest[0], line)
        const pipe = this.pipe(rest.slice(1), line)
        this.definitions.set(name, this.separateScope(line))
        return [{ kind: 'template', name, pipe, line }]
      }
      case 'template':
        return [{ kind: 'template', name: nameOf(rest[0], line), pipe: rest.length > 1 ? this.pipe(rest.slice(1), line) : undefined, line }]
      case 'break':
      case 'continue':
        if (this.rangeDepth === 0) throw templateFailure(line, `{{${source}}} outside {{range}}`)
        return [{ kind: word }]
      default:
        return [{ kind: 'show', pipe: this.pipe(tokens, line) }]
    }
  }

  private separateScope(line: number): readonly Node[] {
    const [declared, rangeDepth] = [this.declared, this.rangeDepth]
    this.declared = ['$']
    this.rangeDepth = 0
    const { nodes, endWord } = this.nodes()
    if (endWord !== 'end') throw templateFailure(line, endWord === '' ? 'unexpected EOF' : `unexpected {{${endWord}}}`)
    this.declared = declared
    this.rangeDepth = rangeDepth
    return nodes
  }

  private branch(kind: 'if' | 'with' | 'range', tokens: readonly Token[], line: number): Node {
    const declared = this.declared.length
    const pipe = this.pipe(tokens, line, kind === 'range')
    if (kind === 'range') this.rangeDepth++
    const { nodes: body, endWord, elseTokens } = this.nodes()
    if (kind === 'range') this.rangeDepth--
    if (endWord === '') throw templateFailure(this.lineBefore(), 'unexpected EOF')
    let elseBody: readonly Node[] = []
    const [next, ...condition] = elseTokens
    if (endWord === 'else' && next !== undefined) {
      if (next.text !== kind || kind === 'range') throw templateFailure(line, `unexpected {{else ${next.text}}} of {{${kind}}}`)
      elseBody = [this.branch(kind, condition, line)]
    } else if (endWord === 'else') {
      const tail = this.nodes()
      if (tail.endWord !== 'end')
        throw templateFailure(this.lineBefore(), tail.endWord === '' ? 'unexpected EOF' : 'expected end; found {{else}}')
      elseBody = tail.nodes
    }
    this.declared.length = declared
    return { kind, pipe, body, elseBody }
  }

  private pipe(tokens: readonly Token[], line: number, mayDeclareTwo = false): Pipe {
    const signIndex = tokens.findIndex(({ kind, text }) => kind === 'sign' && (text === ':=' || text === '='))
    const declaration = signIndex < 0 ? [] : tokens.slice(0, signIndex)
    const variables = declaration.filter(({ kind }) => kind === 'variable').map(({ text }) => text)
    const isList = declaration.every(({ kind, text }, i) => (i % 2 === 0 ? kind === 'variable' : text === ','))
    if (!isList || variables.length > (mayDeclareTwo ? 2 : 1)) throw templateFailure(line, 'unexpected declaration of variables')
    const isAssignment = tokens[signIndex]?.text === '='
    if (isAssignment) for (const name of variables) this.requireVariable(name, line)
    const reader = new OperandReader(
      tokens.slice(signIndex + 1),
      line,
      (name) => this.requireVariable(name, line),
      (inner) => this.pipe(inner, line),
    )
    const commands = reader.commands()
    if (!isAssignment) this.declared.push(...variables)
    return { variables, isAssignment, commands, line }
  }

  private requireVariable(name: string, line: number): void {
    if (!this.declared.includes(name)) throw templateFailure(line, `undefined variable ${JSON.stringify(name)}`)
  }

  private lineBefore(): number {
    const last = this.chunks.slice(0, this.position).findLast(({ kind }) => kind === 'action')
    return last?.kind === 'action' ? last.line : 1
  }
}

function nameOf(token: Token | undefined, line: number): string {
  if (token?.kind !== 'value' || typeof token.value !== 'string') throw templateFailure(line, 'template name must be a string')
  return token.value
}

class OperandReader {
  private readonly tokens: readonly Token[]
  private readonly line: number
  private readonly requireVariable: (name: string) => void
  private readonly pipe: (tokens: readonly Token[]) => Pipe

  constructor(tokens: readonly Token[], line: number, requireVariable: (name: string) => void, pipe: (tokens: readonly Token[]) => Pipe) {
    this.tokens = tokens
    this.line = line
    this.requireVariable = requireVariable
    this.pipe = pipe
  }

  commands(): readonly (readonly Operand[])[] {
    const commands: Operand[][] = [[]]
    for (let position = 0; position < this.tokens.length; ) {
      const token = this.tokens[position] as Token
      if (token.kind === 'sign' && token.text === '|') {
        commands.push([])
        position++
        continue
      }
      const { operand, next } = this.operandAt(position)
      commands.at(-1)?.push(operand)
      position = next
    }
    if (commands.some((command) => command.length === 0)) throw templateFailure(this.line, 'missing value for command')
    return commands
  }

  private operandAt(position: number): { readonly operand: Operand; readonly next: number } {
    const token = this.tokens[position] as Token
    let next = position + 1
    let operand: Operand
    if (token.kind === 'sign') {
      if (token.text !== '(') throw templateFailure(this.line, `unexpected ${JSON.stringify(token.text)} in command`)
      const closeIndex = this.closing(position)
      operand = { kind: 'pipe', pipe: this.pipe(this.tokens.slice(position + 1, closeIndex)) }
      next = closeIndex + 1
    } else operand = this.single(token)
    const fields: string[] = []
    while (this.tokens[next]?.kind === 'field' && this.tokens[next]?.hasSpaceBefore === false && this.tokens[next]?.text !== '')
      fields.push((this.tokens[next++] as Token).text)
    if (fields.length === 0) return { operand, next }
    if (operand.kind === 'chain') return { operand: { ...operand, fields: [...operand.fields, ...fields] }, next }
    return { operand: { kind: 'chain', from: operand, fields }, next }
  }

  private single({ kind, text, value }: Token): Operand {
    if (kind === 'field') return text === '' ? { kind: 'dot' } : { kind: 'chain', from: { kind: 'dot' }, fields: [text] }
    if (kind === 'variable') {
      this.requireVariable(text)
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
    for (let position = open; position < this.tokens.length; position++) {
      const { kind, text } = this.tokens[position] as Token
      if (kind === 'sign' && text === '(') depth++
      if (kind === 'sign' && text === ')' && --depth === 0) return position
    }
    throw templateFailure(this.line, 'unclosed left paren')
  }
}
