// Trace of a CEL expression: the value of each subexpression, for users who debug a rule.

import { shorten } from '../base/shorten.js'
import { Program } from './compile.js'
import { planExpression } from './evaluate/plan.js'
import type { Expr } from './syntax/ast.js'
import { printExpression, printLiteral } from './syntax/print-expression.js'
import { formatTimestamp } from './values/time-formats.js'
import { CelError, CelList, CelMap, Duration, Timestamp, type Value } from './values/values.js'

interface TracedExpression {
  readonly text: string
  readonly value: string
}

const maxTraced = 50
const maxChars = 200

/** Outer subexpressions first, equal ones once, without the whole expression. A macro counts as one subexpression. */
export function traceExpression(
  { checked }: Program,
  variables: { readonly [name: string]: Value },
  costLimit: number,
): readonly TracedExpression[] {
  const traced = new Map<string, string>()
  for (const expr of subexpressionsOf(checked.expr)) {
    if (traced.size >= maxTraced) break
    const text = printExpression(expr)
    if (traced.has(text)) continue
    const checkedSubexpression = { ...checked, expr }
    traced.set(
      text,
      printValue(new Program(checkedSubexpression, planExpression(checkedSubexpression)).evaluate(variables, costLimit).value),
    )
  }
  return Array.from(traced, ([text, value]) => ({ text: shorten(text, maxChars), value }))
}

/** Subexpressions, without constants, literals of lists, maps and messages, and operands of selections and indexes. */
function* subexpressionsOf(expr: Expr, isWhole = true): Generator<Expr> {
  switch (expr.kind) {
    case 'const':
      return
    case 'ident':
      if (!isWhole) yield expr
      return
    case 'select':
      if (!isWhole) yield expr
      return
    case 'call': {
      if (!isWhole) yield expr
      if (expr.name === '_[_]') return
      for (const arg of expr.target === undefined ? expr.args : [expr.target, ...expr.args]) yield* subexpressionsOf(arg, false)
      return
    }
    case 'list':
      for (const element of expr.elements) yield* subexpressionsOf(element, false)
      return
    case 'map':
      for (const { key, value } of expr.entries) {
        yield* subexpressionsOf(key, false)
        yield* subexpressionsOf(value, false)
      }
      return
    case 'comprehension':
      if (!isWhole) yield expr
      yield* subexpressionsOf(expr.range, false)
      return
    case 'message':
      for (const { value } of expr.fields) yield* subexpressionsOf(value, false)
      return
  }
}

function printValue(value: Value): string {
  return shorten(print(value, 0), maxChars)
}

function print(value: Value, depth: number): string {
  if (value instanceof CelError) return `error: ${value.message}`
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return `${Number(value.nanos) / 1e9}s`
  if (value instanceof CelList)
    return depth > 5
      ? '[…]'
      : `[${Array.from({ length: Math.min(value.size, 20) }, (_, i) => print(value.at(i), depth + 1)).join(', ')}${value.size > 20 ? ', …' : ''}]`
  if (value instanceof CelMap) {
    const keys = [...value.keys()]
    const shown = keys.slice(0, 20).map((key) => `${print(key, depth + 1)}: ${print(value.find(key) ?? null, depth + 1)}`)
    return depth > 5 ? '{…}' : `{${shown.join(', ')}${keys.length > 20 ? ', …' : ''}}`
  }
  return typeof value === 'object' && value !== null && 'href' in value ? String(value.href) : printLiteral(value)
}
