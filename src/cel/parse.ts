// From text to a syntax tree, by recursive descent over the grammar of the language.

import type { CallExpr, Expr } from './ast.js'
import { overloadsOf } from './declarations.js'
import { readBytes, readDouble, readInt, readString, readUint } from './literals.js'
import { expandMacro } from './macros.js'
import { type Issue, renderIssues } from './source.js'
import { type Follow, Mismatch, TokenStream } from './token-stream.js'
import { type Token, type TokenType, tokenize } from './tokens.js'

/** The expression is no expression; the message shows where. */
export class CelSyntaxError extends Error {}

/** Longer expressions are not read at all. */
const maxCodePoints = 100_000
/** How deep rules may call themselves: left-recursive ones count each turn, so that the tree is no deeper than this for each. */
const maxDepth = 250

const setOf = (...types: TokenType[]): ReadonlySet<TokenType> => new Set(types)
const then = (...types: TokenType[]): Follow => ({ tokens: setOf(...types), orEnd: false })
const thenOrEnd = (...types: TokenType[]): Follow => ({ tokens: setOf(...types), orEnd: true })

const literals = ['true', 'false', 'null', 'NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES'] as const
const memberStart = ['[', '{', '(', '.', '-', ...literals, 'IDENTIFIER'] as const
const expressionStart = setOf(...memberStart, '!')
const withAlso = (...types: TokenType[]): ReadonlySet<TokenType> => new Set([...expressionStart, ...types])
const argumentStart = withAlso(')')
const elementStart = withAlso(',', ']')
const entryStart = withAlso(',', '}')
const fieldStart = setOf('IDENTIFIER', ',', '}')
const relations = ['<', '<=', '>=', '>', '==', '!=', 'in'] as const
const sums = ['+', '-'] as const
const products = ['*', '/', '%'] as const
const calculations = [...products, ...sums] as const
const memberNext = ['.', '[', '{'] as const

const reserved: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(' '),
)

class TooDeep extends Error {}

/** Throws {@link CelSyntaxError}. */
export function parseExpression(text: string): Expr {
  const length = text.length <= maxCodePoints ? text.length : Array.from(text).length
  if (length > maxCodePoints) {
    throw new CelSyntaxError(`expression code point size exceeds limit: size: ${length}, limit ${maxCodePoints}`)
  }
  const issues: Issue[] = []
  const report = (issue: Issue): void => {
    issues.push(issue)
  }
  let expr: Expr
  try {
    expr = new Parser(new TokenStream(tokenize(text, report), report), report).parse()
  } catch (thrown) {
    // Before its code is compiled, each level takes so much of the stack that the limit may not be reached.
    if (thrown instanceof TooDeep || thrown instanceof RangeError)
      throw new CelSyntaxError(`ERROR: <input>:-1:0: expression recursion limit exceeded: ${maxDepth}`)
    throw thrown
  }
  if (issues.length > 0) throw new CelSyntaxError(renderIssues(text, issues))
  return expr
}

class Parser {
  private readonly stream: TokenStream
  private readonly report: (issue: Issue) => void
  private readonly depths = new Map<string, number>()

  constructor(stream: TokenStream, report: (issue: Issue) => void) {
    this.stream = stream
    this.report = report
  }

  parse(): Expr {
    const { stream } = this
    return stream.rule(
      'start',
      then(),
      () => {
        const expr = this.expression(then('<EOF>'))
        stream.match('<EOF>', then())
        return expr
      },
      () => this.nothing(),
    )
  }

  /** Stands for what could not be read; there is a complaint already. */
  private nothing(): Expr {
    return { kind: 'const', at: this.stream.current.at, value: null }
  }

  /** Counts how deep a rule is in itself. */
  private enter<T>(rule: string, follow: Follow, read: (deeper: () => void) => T, otherwise: () => T): T {
    const before = this.depths.get(rule) ?? 0
    const deeper = (): void => {
      const depth = (this.depths.get(rule) ?? 0) + 1
      if (depth > maxDepth) throw new TooDeep()
      this.depths.set(rule, depth)
    }
    deeper()
    try {
      return this.stream.rule(rule, follow, () => read(deeper), otherwise)
    } finally {
      this.depths.set(rule, before)
    }
  }

  private read(rule: string, follow: Follow, read: (deeper: () => void) => Expr): Expr {
    return this.enter(rule, follow, read, () => this.nothing())
  }

  private expression(follow: Follow): Expr {
    const { stream } = this
    return this.read('expr', follow, () => {
      const condition = this.disjunction(thenOrEnd('?'))
      if (!stream.is('?')) return condition
      const { at } = stream.take()
      const yes = this.disjunction(then(':'))
      stream.match(':', { tokens: expressionStart, orEnd: false })
      const no = this.expression(thenOrEnd())
      return { kind: 'call', at, name: '_?_:_', target: undefined, args: [condition, yes, no] }
    })
  }

  private disjunction(follow: Follow): Expr {
    return this.read('or', follow, () => this.chain('||', '_||_', () => this.conjunction(thenOrEnd('||'))))
  }

  private conjunction(follow: Follow): Expr {
    return this.read('and', follow, () => this.chain('&&', '_&&_', () => this.relation(thenOrEnd('&&'))))
  }

  /** Terms side by side become a balanced tree, so that many of them are not deep. */
  private chain(operator: '||' | '&&', name: string, readTerm: () => Expr): Expr {
    const terms = [readTerm()]
    const places: number[] = []
    while (this.stream.is(operator)) {
      places.push(this.stream.take().at)
      terms.push(readTerm())
    }
    const balance = (from: number, to: number): Expr => {
      if (from === to) return terms[from] as Expr
      const middle = (from + to) >> 1
      return { kind: 'call', at: places[middle] as number, name, target: undefined, args: [balance(from, middle), balance(middle + 1, to)] }
    }
    return balance(0, terms.length - 1)
  }

  private relation(follow: Follow): Expr {
    const { stream } = this
    return this.read('relation', follow, (deeper) => {
      let left = this.sum(thenOrEnd(...relations))
      while (stream.is(...relations)) {
        deeper()
        const { at, type } = stream.take()
        const right = this.sum(thenOrEnd(...relations))
        left = { kind: 'call', at, name: type === 'in' ? '@in' : `_${type}_`, target: undefined, args: [left, right] }
      }
      return left
    })
  }

  private sum(follow: Follow): Expr {
    return this.leftToRight('calc', follow, sums, (next) => this.leftToRight('calc', next, products, (last) => this.unary(last)))
  }

  private leftToRight(rule: string, follow: Follow, operators: readonly TokenType[], readTerm: (follow: Follow) => Expr): Expr {
    const { stream } = this
    return this.read(rule, follow, (deeper) => {
      let left = readTerm(thenOrEnd(...calculations))
      while (stream.is(...operators)) {
        deeper()
        const { at, type } = stream.take()
        const right = readTerm(thenOrEnd(...calculations))
        left = { kind: 'call', at, name: `_${type}_`, target: undefined, args: [left, right] }
      }
      return left
    })
  }

  private unary(follow: Follow): Expr {
    const { stream } = this
    return this.read('unary', follow, () => {
      stream.expect(expressionStart)
      const { at, type } = stream.current
      const isSign = type === '-' && (stream.peek(1) === 'NUM_INT' || stream.peek(1) === 'NUM_FLOAT')
      if ((type !== '-' && type !== '!') || isSign) return this.member(thenOrEnd())
      let count = 0
      for (; stream.is(type); count++) stream.take()
      if (!stream.is(...memberStart)) stream.expect(setOf(...memberStart, type))
      const operand = this.member(thenOrEnd())
      if (count % 2 === 0) return operand
      return { kind: 'call', at, name: type === '!' ? '!_' : '-_', target: undefined, args: [operand] }
    })
  }

  private member(follow: Follow): Expr {
    const { stream } = this
    return this.read('member', follow, (deeper) => {
      let operand = this.primary(thenOrEnd(...memberNext))
      while (stream.is(...memberNext)) {
        deeper()
        const { at, type } = stream.take()
        if (type === '.') {
          const { text } = stream.match('IDENTIFIER', thenOrEnd('(', ...memberNext))
          operand = stream.is('(') ? this.call(text, operand) : { kind: 'select', at, operand, field: text, isTest: false }
        } else if (type === '[') {
          const index = this.expression(then(']'))
          stream.match(']', thenOrEnd(...memberNext))
          operand = { kind: 'call', at, name: '_[_]', target: undefined, args: [operand, index] }
        } else {
          operand = this.message(at, operand)
        }
      }
      return operand
    })
  }

  /** From the bracket on. */
  private call(name: string, target: Expr | undefined): Expr {
    const { stream } = this
    const { at } = stream.take()
    stream.expect(argumentStart)
    const args = stream.is(')') ? [] : this.expressions(then(')'))
    stream.match(')', thenOrEnd(...memberNext))
    const call: CallExpr = { kind: 'call', at, name, target, args }
    const expanded = expandMacro(call)
    if (expanded === undefined) return call
    if ('kind' in expanded) return expanded
    this.report(expanded)
    return this.nothing()
  }

  private expressions(follow: Follow, closing?: TokenType): Expr[] {
    const { stream } = this
    const list: Expr[] = []
    this.enter(
      'list',
      follow,
      () => {
        list.push(this.expression(thenOrEnd(',')))
        while (stream.is(',') && stream.peek(1) !== closing) {
          stream.take()
          list.push(this.expression(thenOrEnd(',')))
        }
      },
      () => undefined,
    )
    return list
  }

  private primary(follow: Follow): Expr {
    const { stream } = this
    return this.read('primary', follow, () => {
      const { at, type } = stream.current
      if (type === '(') {
        stream.take()
        const inner = this.expression(then(')'))
        stream.match(')', thenOrEnd())
        return inner
      }
      if (type === '[') {
        stream.take()
        stream.expect(elementStart)
        const elements = stream.is(',', ']') ? [] : this.expressions(then(',', ']'), ']')
        if (stream.is(',')) stream.take()
        stream.match(']', thenOrEnd())
        return { kind: 'list', at, elements }
      }
      if (type === '{') return this.map()
      if (type === '.' || type === 'IDENTIFIER') return this.name()
      return this.literal()
    })
  }

  private map(): Expr {
    const { stream } = this
    const { at } = stream.take()
    const entries: { key: Expr; value: Expr }[] = []
    const readEntry = (): void => {
      const key = this.expression(then(':'))
      stream.match(':', { tokens: expressionStart, orEnd: false })
      entries.push({ key, value: this.expression(thenOrEnd(',')) })
    }
    stream.expect(entryStart)
    if (!stream.is(',', '}')) {
      this.enter(
        'entries',
        then(',', '}'),
        () => {
          readEntry()
          while (stream.is(',') && stream.peek(1) !== '}') {
            stream.take()
            readEntry()
          }
        },
        () => undefined,
      )
    }
    if (stream.is(',')) stream.take()
    stream.match('}', thenOrEnd())
    return { kind: 'map', at, entries }
  }

  /** `Name{field: value}`. */
  private message(at: number, operand: Expr): Expr {
    const { stream } = this
    const fields: { at: number; name: string; value: Expr }[] = []
    stream.expect(fieldStart)
    while (stream.is('IDENTIFIER')) {
      const { text } = stream.take()
      const colon = stream.match(':', { tokens: expressionStart, orEnd: false })
      fields.push({ at: colon.at, name: text, value: this.expression(thenOrEnd(',')) })
      if (stream.is(',') && stream.peek(1) === 'IDENTIFIER') stream.take()
    }
    if (stream.is(',')) stream.take()
    stream.match('}', thenOrEnd(...memberNext))
    return { kind: 'message', at, name: operand.kind === 'ident' ? operand.name : nameOf(operand), fields }
  }

  private name(): Expr {
    const { stream } = this
    const dot = stream.is('.') ? stream.take() : undefined
    const { at, text, type } = stream.match('IDENTIFIER', thenOrEnd('('))
    if (type === 'IDENTIFIER' && reserved.has(text)) this.report({ at: dot?.at ?? at, message: `reserved identifier: ${text}` })
    const name = dot === undefined ? text : `.${text}`
    if (!stream.is('(')) return { kind: 'ident', at, name }
    // A leading point says that the name is complete, which those of functions always are.
    return this.call(overloadsOf(text) === undefined ? name : text, undefined)
  }

  private literal(): Expr {
    const { stream } = this
    const sign = stream.is('-') ? stream.take() : undefined
    if (!stream.is(...literals)) throw new Mismatch(setOf(...literals))
    const token = stream.take()
    const at = sign?.at ?? token.at
    const text = `${sign?.text ?? ''}${token.text}`
    const value = readLiteral(token, text)
    const numberName = numberNames[token.type]
    if (value === undefined) {
      this.report({ at, message: numberName === undefined ? 'unable to unescape string' : `invalid ${numberName} literal` })
    }
    return { kind: 'const', at, value: value ?? null }
  }
}

const nameOf = (expr: Expr): string =>
  expr.kind === 'select' ? `${nameOf(expr.operand)}.${expr.field}` : expr.kind === 'ident' ? expr.name : ''

const numberNames: { readonly [type in TokenType]?: string } = {
  NUM_INT: 'int',
  NUM_UINT: 'uint',
  NUM_FLOAT: 'double',
}

function readLiteral(token: Token, text: string) {
  switch (token.type) {
    case 'true':
      return true
    case 'false':
      return false
    case 'NUM_INT':
      return readInt(text)
    case 'NUM_UINT':
      return readUint(text)
    case 'NUM_FLOAT':
      return readDouble(text)
    case 'STRING':
      return readString(text)
    case 'BYTES':
      return readBytes(text)
    default:
      return null
  }
}
