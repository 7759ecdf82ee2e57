// CEL parser: recursive descent over the grammar of cel-go, with its error messages.

import { overloadsOf } from '../types/function-declarations.js'
import type { CallExpr, Expr } from './ast.js'
import {
  afterCondition,
  afterItem,
  afterMember,
  afterTerm,
  argumentStart,
  beforeColon,
  elementStart,
  entryStart,
  exactly,
  expressionStart,
  fieldStart,
  iteration,
  literals,
  maxDepth,
  memberNext,
  memberStart,
  orEnd,
  products,
  RuleParser,
  relations,
  reserved,
  setOf,
  sums,
  TooDeep,
  thenOrEnd,
} from './grammar-rules.js'
import { numberNames, readLiteral } from './literals.js'
import { expandMacro } from './macros.js'
import { type Issue, renderIssues } from './syntax-issues.js'
import { type Follow, Mismatch, TokenStream } from './token-stream.js'
import { type Token, type TokenType, tokenize } from './tokenize.js'

export class CelSyntaxError extends Error {}

/** Limit of kube-apiserver. */
const maxCodePoints = 100_000

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
    // Frames of code that is not yet compiled are larger: the stack may overflow before the depth limit.
    if (thrown instanceof TooDeep || thrown instanceof RangeError)
      throw new CelSyntaxError(`ERROR: <input>:-1:0: expression recursion limit exceeded: ${maxDepth}`)
    throw thrown
  }
  if (issues.length > 0) throw new CelSyntaxError(renderIssues(text, issues))
  return expr
}

/** One small function per grammar rule, so that expressions up to the depth limit fit into the stack. */
class Parser extends RuleParser {
  parse(): Expr {
    const { stream } = this
    stream.begin(exactly())
    try {
      const expr = this.expression(exactly('<EOF>'))
      stream.match('<EOF>', exactly())
      return expr
    } catch (thrown) {
      stream.recover('start', thrown)
      return this.placeholder()
    } finally {
      stream.end()
    }
  }

  private expression(follow: Follow): Expr {
    const outerDepth = this.begin('expr', follow)
    try {
      const condition = this.disjunction(afterCondition)
      if (!this.stream.is('?')) return condition
      const { at } = this.stream.take()
      const yes = this.disjunction(beforeColon)
      this.stream.match(':', { tokens: expressionStart, orEnd: false })
      const no = this.expression(orEnd)
      return { kind: 'call', at, name: '_?_:_', target: undefined, args: [condition, yes, no] }
    } catch (thrown) {
      return this.recover('expr', thrown)
    } finally {
      this.end('expr', outerDepth)
    }
  }

  private disjunction(follow: Follow): Expr {
    const outerDepth = this.begin('or', follow)
    try {
      const first = this.conjunction(afterTerm.or)
      return this.stream.is('||') ? this.chain(first, '||', '_||_') : first
    } catch (thrown) {
      return this.recover('or', thrown)
    } finally {
      this.end('or', outerDepth)
    }
  }

  private conjunction(follow: Follow): Expr {
    const outerDepth = this.begin('and', follow)
    try {
      const first = this.relation(afterTerm.and)
      return this.stream.is('&&') ? this.chain(first, '&&', '_&&_') : first
    } catch (thrown) {
      return this.recover('and', thrown)
    } finally {
      this.end('and', outerDepth)
    }
  }

  /** Builds a balanced tree, so that many terms do not nest deeply. */
  private chain(first: Expr, operator: '||' | '&&', name: string): Expr {
    const terms = [first]
    const offsets: number[] = []
    while (this.stream.is(operator)) {
      offsets.push(this.stream.take().at)
      terms.push(operator === '||' ? this.conjunction(afterTerm.or) : this.relation(afterTerm.and))
    }
    const balance = (from: number, to: number): Expr => {
      if (from === to) return terms[from] as Expr
      const middle = (from + to) >> 1
      const args = [balance(from, middle), balance(middle + 1, to)]
      return { kind: 'call', at: offsets[middle] as number, name, target: undefined, args }
    }
    return balance(0, terms.length - 1)
  }

  private relation(follow: Follow): Expr {
    const outerDepth = this.begin('relation', follow)
    try {
      let left = this.sum(afterTerm.relation)
      while (this.stream.is(...relations)) {
        const operator = this.takeOperator('relation')
        left = this.binaryCall('relation', operator, [left, this.sum(afterTerm.relation)])
      }
      return left
    } catch (thrown) {
      return this.recover('relation', thrown)
    } finally {
      this.end('relation', outerDepth)
    }
  }

  /** Sums and products share one grammar rule and its depth. */
  private sum(follow: Follow): Expr {
    const outerDepth = this.begin('calc', follow)
    try {
      let left = this.product(afterTerm.calc)
      while (this.stream.is(...sums)) {
        const operator = this.takeOperator('calc')
        left = this.binaryCall('calc', operator, [left, this.product(afterTerm.calc)])
      }
      return left
    } catch (thrown) {
      return this.recover('calc', thrown)
    } finally {
      this.end('calc', outerDepth)
    }
  }

  private product(follow: Follow): Expr {
    const outerDepth = this.depths.calc
    this.stream.begin(follow)
    try {
      let left = this.unary(afterTerm.calc)
      while (this.stream.is(...products)) {
        const operator = this.takeOperator('calc')
        left = this.binaryCall('calc', operator, [left, this.unary(afterTerm.calc)])
      }
      return left
    } catch (thrown) {
      return this.recover('calc', thrown)
    } finally {
      this.end('calc', outerDepth)
    }
  }

  /** The right operand is one level deeper than the left. */
  private takeOperator(rule: 'relation' | 'calc'): Token {
    this.deepen(rule, iteration + 1)
    return this.stream.take()
  }

  private binaryCall(rule: 'relation' | 'calc', { at, type }: Token, args: readonly [left: Expr, right: Expr]): Expr {
    this.depths[rule]--
    return { kind: 'call', at, name: type === 'in' ? '@in' : `_${type}_`, target: undefined, args }
  }

  private unary(follow: Follow): Expr {
    const outerDepth = this.begin('unary', follow)
    try {
      const at = this.stream.current.at
      const operator = this.takeUnaryOperator()
      const operand = this.member(orEnd)
      if (operator === undefined) return operand
      return { kind: 'call', at, name: operator, target: undefined, args: [operand] }
    } catch (thrown) {
      return this.recover('unary', thrown)
    } finally {
      this.end('unary', outerDepth)
    }
  }

  /** An even number of `!` or `-` cancels out. */
  private takeUnaryOperator(): '!_' | '-_' | undefined {
    const { stream } = this
    stream.expect(expressionStart)
    const { type } = stream.current
    const isSign = type === '-' && (stream.peek(1) === 'NUM_INT' || stream.peek(1) === 'NUM_FLOAT')
    if ((type !== '-' && type !== '!') || isSign) return undefined
    let count = 0
    for (; stream.is(type); count++) stream.take()
    if (!stream.is(...memberStart)) stream.expect(setOf(...memberStart, type))
    if (count % 2 === 0) return undefined
    return type === '!' ? '!_' : '-_'
  }

  private member(follow: Follow): Expr {
    const outerDepth = this.begin('member', follow)
    try {
      let operand = this.primary(afterMember)
      while (this.stream.is(...memberNext)) {
        this.deepen('member', iteration)
        const { at, type } = this.stream.take()
        if (type === '.') {
          const { text } = this.stream.match('IDENTIFIER', thenOrEnd('(', ...memberNext))
          operand = this.stream.is('(') ? this.call(text, operand) : { kind: 'select', at, operand, field: text, isTest: false }
        } else if (type === '[') {
          const index = this.expression(exactly(']'))
          this.stream.match(']', afterMember)
          operand = { kind: 'call', at, name: '_[_]', target: undefined, args: [operand, index] }
        } else {
          operand = this.message(at, operand)
        }
      }
      return operand
    } catch (thrown) {
      return this.recover('member', thrown)
    } finally {
      this.end('member', outerDepth)
    }
  }

  private call(name: string, target: Expr | undefined): Expr {
    const { stream } = this
    const { at } = stream.take()
    stream.expect(argumentStart)
    const args = stream.is(')') ? [] : this.expressions(exactly(')'))
    stream.match(')', thenOrEnd(...memberNext))
    const call: CallExpr = { kind: 'call', at, name, target, args }
    const expanded = expandMacro(call)
    if (expanded === undefined) return call
    if ('kind' in expanded) return expanded
    this.report(expanded)
    return this.placeholder()
  }

  private expressions(follow: Follow, closing?: TokenType): Expr[] {
    const { stream } = this
    const list: Expr[] = []
    const outerDepth = this.begin('list', follow)
    try {
      list.push(this.expression(afterItem))
      while (stream.is(',') && stream.peek(1) !== closing) {
        stream.take()
        list.push(this.expression(afterItem))
      }
    } catch (thrown) {
      stream.recover('list', thrown)
    } finally {
      this.end('list', outerDepth)
    }
    return list
  }

  private primary(follow: Follow): Expr {
    const { stream } = this
    const outerDepth = this.begin('primary', follow)
    try {
      const { at, type } = stream.current
      if (type === '(') {
        stream.take()
        const inner = this.expression(exactly(')'))
        stream.match(')', orEnd)
        return inner
      }
      if (type === '[') {
        stream.take()
        stream.expect(elementStart)
        const elements = stream.is(',', ']') ? [] : this.expressions(exactly(',', ']'), ']')
        if (stream.is(',')) stream.take()
        stream.match(']', orEnd)
        return { kind: 'list', at, elements }
      }
      if (type === '{') return this.map()
      if (type === '.' || type === 'IDENTIFIER') return this.name()
      return this.literal()
    } catch (thrown) {
      return this.recover('primary', thrown)
    } finally {
      this.end('primary', outerDepth)
    }
  }

  private map(): Expr {
    const { stream } = this
    const { at } = stream.take()
    stream.expect(entryStart)
    const entries = stream.is(',', '}') ? [] : this.entries()
    if (stream.is(',')) stream.take()
    stream.match('}', orEnd)
    return { kind: 'map', at, entries }
  }

  private entries(): { key: Expr; value: Expr }[] {
    const { stream } = this
    const entries: { key: Expr; value: Expr }[] = []
    const outerDepth = this.begin('entries', exactly(',', '}'))
    try {
      for (;;) {
        const key = this.expression(beforeColon)
        stream.match(':', { tokens: expressionStart, orEnd: false })
        entries.push({ key, value: this.expression(afterItem) })
        if (!stream.is(',') || stream.peek(1) === '}') break
        stream.take()
      }
    } catch (thrown) {
      stream.recover('entries', thrown)
    } finally {
      this.end('entries', outerDepth)
    }
    return entries
  }

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
    // Functions are global, so a leading dot is dropped for known names.
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
