// What the parts of an expression gave: for whoever wonders why the whole is what it is.

import { shorten } from '../base/shorten.js'
import type { Expr } from './ast.js'
import { Program } from './compile.js'
import { planExpression } from './plan.js'
import { printExpression, printLiteral } from './print-expression.js'
import { formatTimestamp } from './time-text.js'
import { CelError, CelList, CelMap, Duration, Timestamp, type Value } from './values.js'

export interface TracedPart {
  readonly text: string
  readonly value: string
}

const mostParts = 50
const mostLetters = 200

/** In the order of the text, the whole left out. What stands inside of a macro is told by the macro as a whole. */
export function traceExpression(
  { checked }: Program,
  variables: { readonly [name: string]: Value },
  costLimit: number,
): readonly TracedPart[] {
  const parts = new Map<string, string>()
  for (const part of partsOf(checked.expr)) {
    if (parts.size >= mostParts) break
    const text = printExpression(part)
    if (parts.has(text)) continue
    const own = { ...checked, expr: part }
    parts.set(text, printValue(new Program(own, planExpression(own)).evaluate(variables, costLimit).value))
  }
  return Array.from(parts, ([text, value]) => ({ text: shorten(text, mostLetters), value }))
}

/** Names and selections are told as a whole, constants not at all. */
function* partsOf(expr: Expr, isWhole = true): Generator<Expr> {
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
      for (const arg of expr.target === undefined ? expr.args : [expr.target, ...expr.args]) yield* partsOf(arg, false)
      return
    }
    case 'list':
      for (const element of expr.elements) yield* partsOf(element, false)
      return
    case 'map':
      for (const { key, value } of expr.entries) {
        yield* partsOf(key, false)
        yield* partsOf(value, false)
      }
      return
    case 'comprehension':
      if (!isWhole) yield expr
      yield* partsOf(expr.range, false)
      return
    case 'message':
      for (const { value } of expr.fields) yield* partsOf(value, false)
      return
  }
}

export function printValue(value: Value): string {
  return shorten(print(value, 0), mostLetters)
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
