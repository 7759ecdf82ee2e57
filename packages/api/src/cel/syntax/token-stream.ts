// Token stream with ANTLR's error recovery, on which kube-apiserver's messages depend: delete one token if the next fits, insert one if
// the current fits after it, else skip to a token that can follow an open rule.

import type { Issue } from './syntax-issues.js'
import { describeTokens, type Token, type TokenType } from './tokenize.js'

/** Tokens that may follow a rule or token. */
export interface Follow {
  readonly tokens: ReadonlySet<TokenType>
  /** The rule may end here, so tokens that follow the outer rule fit, too. */
  readonly orEnd: boolean
}

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

  take(): Token {
    const token = this.current
    this.isRecovering = false
    this.consume()
    return token
  }

  private consume(): void {
    if (this.index < this.tokens.length - 1) this.index++
  }

  match(type: TokenType, next: Follow): Token {
    if (this.current.type === type) return this.take()
    const expected = new Set([type])
    if (this.deleteOne(expected)) return this.take()
    if (this.canFollow(next)) {
      const { at, text } = this.current
      this.reportError(at, `missing ${describeTokens(expected)} at '${text}'`)
      return { type, text: `<missing ${type}>`, at }
    }
    throw new Mismatch(expected)
  }

  expect(expected: ReadonlySet<TokenType>): void {
    if (!expected.has(this.current.type) && !this.deleteOne(expected)) throw new Mismatch(expected)
  }

  private deleteOne(expected: ReadonlySet<TokenType>): boolean {
    if (!expected.has(this.peek(1)) || this.index === this.tokens.length - 1) return false
    this.reportError(this.current.at, `extraneous input '${this.current.text}' expecting ${describeTokens(expected)}`)
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

  begin(follow: Follow): void {
    this.follows.push(follow)
  }

  end(): void {
    this.follows.pop()
  }

  recover(name: string, thrown: unknown): void {
    if (!(thrown instanceof Mismatch)) throw thrown
    this.reportError(this.current.at, `mismatched input '${this.current.text}' expecting ${describeTokens(thrown.expected)}`)
    this.skip(name)
  }

  private skip(name: string): void {
    // The same rule failed here before: skip a token, or recovery would never end.
    if (this.lastErrorIndex === this.index && this.lastErrorRules.has(name)) this.consume()
    if (this.lastErrorIndex !== this.index) this.lastErrorRules = new Set()
    this.lastErrorIndex = this.index
    this.lastErrorRules.add(name)
    while (!this.is('<EOF>') && !this.follows.some(({ tokens }) => tokens.has(this.current.type))) this.consume()
  }

  private reportError(at: number, message: string): void {
    if (this.isRecovering) return
    this.isRecovering = true
    this.report({ at, message: `Syntax error: ${message}` })
  }
}
