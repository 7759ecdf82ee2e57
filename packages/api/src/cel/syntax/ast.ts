// The syntax tree of an expression, macros expanded. Nodes are compared by identity; `at` is their place in the text.

import type { Uint } from './uint.js'

export type Literal = null | boolean | bigint | Uint | number | string | Uint8Array

export interface ConstExpr {
  readonly kind: 'const'
  readonly at: number
  readonly value: Literal
}

export interface IdentExpr {
  readonly kind: 'ident'
  readonly at: number
  readonly name: string
}

export interface SelectExpr {
  readonly kind: 'select'
  readonly at: number
  readonly operand: Expr
  readonly field: string
  /** `has(a.b)`: whether it is there. */
  readonly isTest: boolean
}

export interface CallExpr {
  readonly kind: 'call'
  readonly at: number
  readonly name: string
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
}

export interface ListExpr {
  readonly kind: 'list'
  readonly at: number
  readonly elements: readonly Expr[]
}

export interface MapExpr {
  readonly kind: 'map'
  readonly at: number
  readonly entries: readonly { readonly key: Expr; readonly value: Expr }[]
}

export interface MessageExpr {
  readonly kind: 'message'
  readonly at: number
  readonly name: string
  readonly fields: readonly { readonly at: number; readonly name: string; readonly value: Expr }[]
}

/** What macros become: a walk over a range with an accumulator. */
export interface ComprehensionExpr {
  readonly kind: 'comprehension'
  readonly at: number
  readonly variable: string
  readonly range: Expr
  readonly accumulator: string
  readonly initial: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

export type Expr = ConstExpr | IdentExpr | SelectExpr | CallExpr | ListExpr | MapExpr | MessageExpr | ComprehensionExpr

/** `a.b.c` as one name, where it is one. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.isTest) return undefined
  const operand = qualifiedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}
