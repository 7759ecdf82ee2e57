// Syntax tree of a CEL expression after macro expansion. Nodes are compared by identity; `at` is the offset in the source.

import type { Uint } from '../values/uint.js'

type Literal = null | boolean | bigint | Uint | number | string | Uint8Array

interface ConstExpr {
  readonly kind: 'const'
  readonly at: number
  readonly value: Literal
}

interface IdentExpr {
  readonly kind: 'ident'
  readonly at: number
  readonly name: string
}

export interface SelectExpr {
  readonly kind: 'select'
  readonly at: number
  readonly operand: Expr
  readonly field: string
  /** Presence test `has(a.b)`. */
  readonly isTest: boolean
}

export interface CallExpr {
  readonly kind: 'call'
  readonly at: number
  readonly name: string
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
}

interface ListExpr {
  readonly kind: 'list'
  readonly at: number
  readonly elements: readonly Expr[]
}

interface MapExpr {
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

/** Expanded macro: folds a range into an accumulator. */
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

/** Returns `a.b.c` for a chain of selections from an identifier. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.isTest) return undefined
  const operand = qualifiedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}
