// CEL macros `has`, `all`, `exists`, `exists_one`, `map` and `filter`, expanded while an expression is parsed.

import type { CallExpr, ComprehensionExpr, Expr } from './ast.js'
import type { Issue } from './syntax-issues.js'

const accumulator = '__result__'

type Expansion = Expr | Issue

const call = (at: number, name: string, ...args: Expr[]): CallExpr => ({ kind: 'call', at, name, target: undefined, args })
const result = (at: number): Expr => ({ kind: 'ident', at, name: accumulator })
const constant = (at: number, value: boolean | bigint): Expr => ({ kind: 'const', at, value })

export function expandMacro({ at, name, target, args }: CallExpr): Expansion | undefined {
  if (target === undefined) return name === 'has' && args.length === 1 ? expandHas(at, args[0] as Expr) : undefined
  const expand = comprehensionMacros[`${name}/${args.length}`]
  if (expand === undefined) return undefined
  const [variable] = args as [Expr, ...Expr[]]
  const isMapping = name === 'map' || name === 'filter'
  if (variable.kind !== 'ident') {
    return isMapping ? { at, message: 'argument is not an identifier' } : { at: variable.at, message: 'argument must be a simple name' }
  }
  const body = expand(at, variable.name, args.slice(1))
  return { kind: 'comprehension', at, variable: variable.name, range: target, accumulator, ...body }
}

function expandHas(at: number, arg: Expr): Expansion {
  if (arg.kind !== 'select' || arg.isTest) return { at, message: 'invalid argument to has() macro' }
  return { ...arg, at, isTest: true }
}

type ComprehensionBody = Pick<ComprehensionExpr, 'initial' | 'condition' | 'step' | 'result'>

const append = (at: number, element: Expr): Expr => call(at, '_+_', result(at), { kind: 'list', at, elements: [element] })

const collect = (at: number, step: Expr): ComprehensionBody => ({
  initial: { kind: 'list', at, elements: [] },
  condition: constant(at, true),
  step,
  result: result(at),
})

const comprehensionMacros: { readonly [macro: string]: (at: number, variable: string, args: Expr[]) => ComprehensionBody } = {
  'all/2': (at, _, [predicate]) => ({
    initial: constant(at, true),
    condition: call(at, '@not_strictly_false', result(at)),
    step: call(at, '_&&_', result(at), predicate as Expr),
    result: result(at),
  }),
  'exists/2': (at, _, [predicate]) => ({
    initial: constant(at, false),
    condition: call(at, '@not_strictly_false', call(at, '!_', result(at))),
    step: call(at, '_||_', result(at), predicate as Expr),
    result: result(at),
  }),
  'exists_one/2': (at, _, [predicate]) => ({
    initial: constant(at, 0n),
    condition: constant(at, true),
    step: call(at, '_?_:_', predicate as Expr, call(at, '_+_', result(at), constant(at, 1n)), result(at)),
    result: call(at, '_==_', result(at), constant(at, 1n)),
  }),
  'map/2': (at, _, [transform]) => collect(at, append(at, transform as Expr)),
  'map/3': (at, _, [predicate, transform]) => collect(at, call(at, '_?_:_', predicate as Expr, append(at, transform as Expr), result(at))),
  'filter/2': (at, variable, [predicate]) =>
    collect(at, call(at, '_?_:_', predicate as Expr, append(at, { kind: 'ident', at, name: variable }), result(at))),
}
