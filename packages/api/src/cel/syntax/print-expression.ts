// Prints a CEL syntax tree as source text, for traces.

import { Uint } from '../values/uint.js'
import type { CallExpr, ComprehensionExpr, Expr } from './ast.js'

const binary = /^_(\[_\]|[^_]+)_?$/
const precedences: { readonly [operator: string]: number } = {
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '<': 3,
  '<=': 3,
  '>': 3,
  '>=': 3,
  in: 3,
  '+': 4,
  '-': 4,
  '*': 5,
  '/': 5,
  '%': 5,
}
const maxPrecedence = 9

export const printExpression = (expr: Expr): string => print(expr)

function print(expr: Expr, minPrecedence = 0): string {
  switch (expr.kind) {
    case 'const':
      return printLiteral(expr.value)
    case 'ident':
      return expr.name
    case 'select': {
      const text = `${print(expr.operand, maxPrecedence)}.${expr.field}`
      return expr.isTest ? `has(${text})` : text
    }
    case 'call':
      return printCall(expr, minPrecedence)
    case 'list':
      return `[${expr.elements.map((element) => print(element)).join(', ')}]`
    case 'map':
      return `{${expr.entries.map(({ key, value }) => `${print(key)}: ${print(value)}`).join(', ')}}`
    case 'message':
      return `${expr.name}{${expr.fields.map(({ name, value }) => `${name}: ${print(value)}`).join(', ')}}`
    case 'comprehension':
      return printComprehension(expr)
  }
}

export function printLiteral(value: unknown): string {
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof Uint8Array) return `b${JSON.stringify(new TextDecoder().decode(value))}`
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number' && Number.isInteger(value)) return `${value}.0`
  return String(value)
}

function printCall({ name, target, args }: CallExpr, minPrecedence: number): string {
  if (target !== undefined) return `${print(target, maxPrecedence)}.${name}(${args.map((arg) => print(arg)).join(', ')})`
  const [first, second, third] = args as [Expr, Expr, Expr]
  if (name === '_?_:_') return inBrackets(`${print(first, 1)} ? ${print(second, 1)} : ${print(third)}`, minPrecedence > 0)
  if (name === '_[_]') return `${print(first, maxPrecedence)}[${print(second)}]`
  if (name === '!_' || name === '-_') return `${name[0]}${print(first, maxPrecedence)}`
  const operator = name === '@in' ? 'in' : binary.exec(name)?.[1]
  const precedence = operator === undefined ? undefined : precedences[operator]
  if (precedence === undefined || args.length !== 2) return `${name}(${args.map((arg) => print(arg)).join(', ')})`
  return inBrackets(`${print(first, precedence)} ${operator} ${print(second, precedence + 1)}`, precedence < minPrecedence)
}

const inBrackets = (text: string, isNeeded: boolean): string => (isNeeded ? `(${text})` : text)

function printComprehension({ range, variable, step, initial, result }: ComprehensionExpr): string {
  const [name, ...args] = macroOf(step, initial, result)
  return `${print(range, maxPrecedence)}.${name}(${[variable, ...args.map((arg) => print(arg))].join(', ')})`
}

function macroOf(step: Expr, initial: Expr, result: Expr): readonly [string, ...Expr[]] {
  if (step.kind !== 'call') return ['comprehension']
  const [first, second] = step.args as [Expr, Expr]
  if (step.name === '_&&_') return ['all', second]
  if (step.name === '_||_') return ['exists', second]
  if (step.name === '_+_') return ['map', elementOf(second)]
  if (result.kind === 'call' || initial.kind === 'const') return ['exists_one', first]
  const added = elementOf(second.kind === 'call' ? (second.args[1] as Expr) : second)
  return added.kind === 'ident' ? ['filter', first] : ['map', first, added]
}

const elementOf = (expr: Expr): Expr => (expr.kind === 'list' ? (expr.elements[0] as Expr) : expr)
