// Base class of the CEL parser: depth limit and error recovery of grammar rules, and the token sets that may follow them.

import type { Expr } from './ast.js'
import type { Issue } from './syntax-issues.js'
import type { Follow, TokenStream } from './token-stream.js'
import type { TokenType } from './tokenize.js'

/** Limit of nested rules, and of iterations of left-recursive rules. */
export const maxDepth = 250
/** Added to the depth per iteration: the low ten bits count nesting, the higher bits iterations. */
export const iteration = 1024

export class TooDeep extends Error {}

interface Depths {
  expr: number
  or: number
  and: number
  relation: number
  calc: number
  unary: number
  member: number
  list: number
  primary: number
  entries: number
}

export class RuleParser {
  protected readonly stream: TokenStream
  protected readonly report: (issue: Issue) => void
  protected readonly depths: Depths = { expr: 0, or: 0, and: 0, relation: 0, calc: 0, unary: 0, member: 0, list: 0, primary: 0, entries: 0 }

  constructor(stream: TokenStream, report: (issue: Issue) => void) {
    this.stream = stream
    this.report = report
  }

  /** Placeholder after a syntax error. */
  protected placeholder(): Expr {
    return { kind: 'const', at: this.stream.current.at, value: null }
  }

  /** Returns the previous depth, which `end` restores. */
  protected begin(rule: keyof Depths, follow: Follow): number {
    const outerDepth = this.depths[rule]
    this.deepen(rule)
    this.stream.begin(follow)
    return outerDepth
  }

  protected deepen(rule: keyof Depths, by = 1): void {
    const depth = this.depths[rule] + by
    if (depth % iteration > maxDepth || depth > (maxDepth + 1) * iteration) throw new TooDeep()
    this.depths[rule] = depth
  }

  protected end(rule: keyof Depths, outerDepth: number): void {
    this.depths[rule] = outerDepth
    this.stream.end()
  }

  protected recover(rule: keyof Depths, thrown: unknown): Expr {
    this.stream.recover(rule, thrown)
    return this.placeholder()
  }
}

export const setOf = (...types: TokenType[]): ReadonlySet<TokenType> => new Set(types)
export const exactly = (...types: TokenType[]): Follow => ({ tokens: setOf(...types), orEnd: false })
export const thenOrEnd = (...types: TokenType[]): Follow => ({ tokens: setOf(...types), orEnd: true })

export const literals = ['true', 'false', 'null', 'NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES'] as const
export const memberStart = ['[', '{', '(', '.', '-', ...literals, 'IDENTIFIER'] as const
export const expressionStart = setOf(...memberStart, '!')
const withAlso = (...types: TokenType[]): ReadonlySet<TokenType> => new Set([...expressionStart, ...types])
export const argumentStart = withAlso(')')
export const elementStart = withAlso(',', ']')
export const entryStart = withAlso(',', '}')
export const fieldStart = setOf('IDENTIFIER', ',', '}')
export const relations = ['<', '<=', '>=', '>', '==', '!=', 'in'] as const
export const sums = ['+', '-'] as const
export const products = ['*', '/', '%'] as const
const calculations = [...products, ...sums] as const
export const memberNext = ['.', '[', '{'] as const

export const reserved: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(' '),
)

export const afterTerm = { or: thenOrEnd('||'), and: thenOrEnd('&&'), relation: thenOrEnd(...relations), calc: thenOrEnd(...calculations) }
export const afterMember = thenOrEnd(...memberNext)
export const afterCondition = thenOrEnd('?')
export const orEnd = thenOrEnd()
export const beforeColon = exactly(':')
export const afterItem = thenOrEnd(',')
