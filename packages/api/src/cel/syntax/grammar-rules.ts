// What may stand where in an expression: the first tokens of each part, and what may follow it.

import type { Follow } from './token-stream.js'
import type { TokenType } from './tokens.js'

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
