// Tokens with recovery from errors: what cannot stand there is deleted, what is missing is assumed, or the rule is left.
//
// Clients see the messages that come of it, and they depend on how one recovers. So this follows the strategy of the parser generator that the
// reference uses: delete one token if the next fits, insert one if the present one fits behind it, else skip to what can follow any rule that
// is being read; and say nothing more until a token matches again.

import type { Issue } from './source.js'
import { describeTokens, type Token, type TokenType } from './tokens.js'

/** What may follow a rule where it was called. */
export interface Follow {
  readonly tokens: ReadonlySet<TokenType>
  /** The calling rule may end there, too. */
  readonly orEnd: boolean
}

/** Thrown inside a rule, caught at its end. */
export class Mismatch extends Error {
  readonly expected: ReadonlySet<TokenType>

  constructor(expected: ReadonlySet<TokenType>) {
    super('mismatched input')
    this.expected = expected
  }
}

export class TokenStream {
  private readonly tokens: readonly Token[]
  private readonly report: (issue: Issue) => void
  private readonly follows: Follow[] = []
  private index = 0
  private isRecovering = false
  private lastErrorIndex = -1
  private lastErrorRules = new Set<string>()

  constructor(tokens: readonly Token[], report: (issue: Issue) => void) {
    this.tokens = tokens
    this.report = report
  }

  get current(): Token {
    return this.tokens[this.index] as Token
  }

  peek(distance: number): TokenType {
    return (this.tokens[Math.min(this.index + distance, this.tokens.length - 1)] as Token).type
  }

  is(...types: readonly TokenType[]): boolean {
    return types.includes(this.current.type)
  }

  /** The present token, which fits. */
  take(): Token {
    const token = this.current
    this.isRecovering = false
    this.consume()
    return token
  }

  private consume(): void {
    if (this.index < this.tokens.length - 1) this.index++
  }

  /** A token of that type; `next` is what may stand behind it. */
  match(type: TokenType, next: Follow): Token {
    if (this.current.type === type) return this.take()
    const expected = new Set([type])
    if (this.deleteOne(expected)) return this.take()
    if (this.canFollow(next)) {
      const { at, text } = this.current
      this.complain(at, `missing ${describeTokens(expected)} at '${text}'`)
      return { type, text: `<missing ${type}>`, at }
    }
    throw new Mismatch(expected)
  }

  /** Sees to it that one of these comes next, by deleting one token if need be. */
  expect(expected: ReadonlySet<TokenType>): void {
    if (!expected.has(this.current.type) && !this.deleteOne(expected)) throw new Mismatch(expected)
  }

  private deleteOne(expected: ReadonlySet<TokenType>): boolean {
    if (!expected.has(this.peek(1)) || this.index === this.tokens.length - 1) return false
    this.complain(this.current.at, `extraneous input '${this.current.text}' expecting ${describeTokens(expected)}`)
    this.consume()
    this.isRecovering = false
    return true
  }

  private canFollow({ tokens, orEnd }: Follow): boolean {
    const { type } = this.current
    if (tokens.has(type)) return true
    if (!orEnd) return false
    for (let i = this.follows.length - 1; i >= 0; i--) {
      const follow = this.follows[i] as Follow
      if (follow.tokens.has(type)) return true
      if (!follow.orEnd) return false
    }
    return false
  }

  /** A rule begins, behind which `follow` may stand. */
  begin(follow: Follow): void {
    this.follows.push(follow)
  }

  end(): void {
    this.follows.pop()
  }

  /** What was thrown in a rule: a mismatch ends the rule, anything else goes on. */
  recover(name: string, thrown: unknown): void {
    if (!(thrown instanceof Mismatch)) throw thrown
    this.complain(this.current.at, `mismatched input '${this.current.text}' expecting ${describeTokens(thrown.expected)}`)
    this.skip(name)
  }

  private skip(name: string): void {
    // The same rule fails at the same place again: go on by one token, or it would do so for ever.
    if (this.lastErrorIndex === this.index && this.lastErrorRules.has(name)) this.consume()
    if (this.lastErrorIndex !== this.index) this.lastErrorRules = new Set()
    this.lastErrorIndex = this.index
    this.lastErrorRules.add(name)
    while (!this.is('<EOF>') && !this.follows.some(({ tokens }) => tokens.has(this.current.type))) this.consume()
  }

  private complain(at: number, message: string): void {
    if (this.isRecovering) return
    this.isRecovering = true
    this.report({ at, message: `Syntax error: ${message}` })
  }
}
