// The type check: which overloads a call can mean, and the type of every node.

import { type CallExpr, type ComprehensionExpr, type Expr, type MessageExpr, qualifiedName, type SelectExpr } from './ast.js'
import { type Overload, overloadsOf, typeOfName } from './declarations.js'
import { messageNamed } from './messages.js'
import { type Issue, renderIssues } from './source.js'
import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  errorType,
  formatType,
  intType,
  isDynOrError,
  isSameType,
  listOf,
  mapOf,
  mostGeneral,
  nullType,
  Substitutions,
  stringType,
  type Type,
  uintType,
} from './types.js'
import { Uint } from './uint.js'

/** What an expression may name. */
export interface Environment {
  readonly variables: { readonly [name: string]: Type }
  /** The type of a field of an object, under its escaped name. */
  fieldType(object: string, field: string): Type | undefined
  /** Whether there are objects of that name. */
  hasObject(name: string): boolean
}

export interface Checked {
  readonly expr: Expr
  readonly types: ReadonlyMap<Expr, Type>
  /** The overloads that a call can mean. */
  readonly overloads: ReadonlyMap<Expr, readonly string[]>
  /** Selections that are names in truth, such as `google.protobuf.Timestamp`. */
  readonly names: ReadonlyMap<Expr, string>
}

export class CelTypeError extends Error {}

/** Throws {@link CelTypeError}. */
export function checkTypes(text: string, expr: Expr, environment: Environment): Checked {
  const checker = new Checker(environment)
  checker.check(expr)
  if (checker.issues.length > 0) throw new CelTypeError(renderIssues(text, checker.issues))
  return checker.finish(expr)
}

class Checker {
  readonly issues: Issue[] = []
  private readonly environment: Environment
  private readonly types = new Map<Expr, Type>()
  private readonly overloads = new Map<Expr, readonly string[]>()
  private readonly names = new Map<Expr, string>()
  private readonly substitutions = new Substitutions()
  private readonly locals: { readonly name: string; readonly type: Type }[] = []
  private freshCount = 0

  constructor(environment: Environment) {
    this.environment = environment
  }

  finish(expr: Expr): Checked {
    const types = new Map<Expr, Type>()
    for (const [node, type] of this.types) types.set(node, this.substitutions.resolve(type, true))
    return { expr, types, overloads: this.overloads, names: this.names }
  }

  private complain(at: number, message: string): void {
    this.issues.push({ at, message })
  }

  private undeclared(at: number, name: string): void {
    this.complain(at, `undeclared reference to '${name}' (in container '')`)
  }

  private mismatch(at: number, wanted: Type | undefined, given: Type | undefined): void {
    this.complain(at, `expected type '${formatType(wanted)}' but found '${formatType(given)}'`)
  }

  private fresh(): Type {
    return { kind: 'parameter', name: `_var${this.freshCount++}` }
  }

  private typeOf(expr: Expr): Type {
    return this.types.get(expr) ?? errorType
  }

  check(expr: Expr): void {
    const type = this.infer(expr)
    if (type !== undefined) this.types.set(expr, type)
  }

  /** Undefined where nothing can be said. */
  private infer(expr: Expr): Type | undefined {
    switch (expr.kind) {
      case 'const':
        return typeOfLiteral(expr.value)
      case 'ident': {
        const type = this.lookUp(expr.name)
        if (type === undefined) this.undeclared(expr.at, expr.name)
        return type ?? errorType
      }
      case 'select':
        return this.inferSelect(expr)
      case 'call':
        return this.inferCall(expr)
      case 'list': {
        const element = this.join(expr.elements)
        return listOf(element ?? this.fresh())
      }
      case 'map': {
        const key = this.join(expr.entries.map((entry) => entry.key))
        const value = this.join(expr.entries.map((entry) => entry.value))
        return mapOf(key ?? this.fresh(), value ?? this.fresh())
      }
      case 'message':
        return this.inferMessage(expr)
      case 'comprehension':
        return this.inferComprehension(expr)
    }
  }

  private lookUp(name: string): Type | undefined {
    const plain = name.startsWith('.') ? name.slice(1) : name
    if (plain === name) {
      for (let i = this.locals.length - 1; i >= 0; i--) {
        const local = this.locals[i] as { name: string; type: Type }
        if (local.name === name) return local.type
      }
    }
    const { variables } = this.environment
    if (Object.hasOwn(variables, plain)) return variables[plain]
    const type = typeOfName(plain)
    if (type !== undefined) return type
    return this.environment.hasObject(plain) ? { kind: 'object', name: plain } : undefined
  }

  private inferSelect(expr: SelectExpr): Type {
    const name = qualifiedName(expr)
    const named = name === undefined ? undefined : this.lookUp(name)
    if (named !== undefined) {
      this.names.set(expr, name as string)
      return named
    }
    this.check(expr.operand)
    const type = this.fieldOf(expr, this.substitutions.resolve(this.typeOf(expr.operand), false))
    return expr.isTest ? boolType : type
  }

  private fieldOf({ at, field }: SelectExpr, operand: Type): Type {
    if (operand.kind === 'map') return operand.value
    if (operand.kind === 'object') {
      const type = this.environment.fieldType(operand.name, field)
      if (type === undefined) this.complain(at, `undefined field '${field}'`)
      return type ?? errorType
    }
    if (operand.kind === 'parameter') {
      this.substitutions.assign(dynType, operand)
      return dynType
    }
    if (isDynOrError(operand)) return dynType
    this.complain(at, `type '${describeType(operand)}' does not support field selection`)
    return errorType
  }

  private inferCall(expr: CallExpr): Type | undefined {
    const { at, name, target, args } = expr
    for (const arg of args) this.check(arg)
    if (target !== undefined) this.check(target)
    const overloads = overloadsOf(name)
    if (overloads === undefined) {
      this.undeclared(at, name)
      return target === undefined ? errorType : undefined
    }
    const given = (target === undefined ? args : [target, ...args]).map((arg) => this.types.get(arg))
    return this.resolve(expr, overloads, given)
  }

  private resolve(expr: CallExpr, overloads: readonly Overload[], given: readonly (Type | undefined)[]): Type {
    const isMember = expr.target !== undefined
    let result: Type | undefined
    const found: string[] = []
    const known = given.map((type) => type ?? errorType)
    // A type that is not known fits nowhere.
    const isHopeless = given.includes(undefined)
    for (const candidate of overloads) {
      if (candidate.isMember !== isMember || isHopeless) continue
      const { parameters, result: itsResult } = candidate.isGeneric ? this.renew(candidate) : candidate
      if (!this.substitutions.assignAll(known, parameters)) continue
      found.push(candidate.id)
      const type = this.substitutions.resolve(itsResult, false)
      if (result === undefined) result = type
      else if (result.kind !== 'dyn' && !isSameType(type, result)) result = dynType
    }
    if (result === undefined) {
      const shown = given.map(formatType)
      const signature = isMember ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`
      this.complain(expr.at, `found no matching overload for '${expr.name}' applied to '${signature}'`)
      return errorType
    }
    this.overloads.set(expr, found)
    return result
  }

  /** The overload with type parameters of its own for this use. */
  private renew({ parameters, result }: Overload): { readonly parameters: readonly Type[]; readonly result: Type } {
    const fresh = new Map<string, Type>()
    const renew = (type: Type): Type => {
      switch (type.kind) {
        case 'parameter': {
          const known = fresh.get(type.name) ?? this.fresh()
          fresh.set(type.name, known)
          return known
        }
        case 'list':
          return listOf(renew(type.element))
        case 'map':
          return mapOf(renew(type.key), renew(type.value))
        case 'type':
          return { kind: 'type', of: type.of === undefined ? undefined : renew(type.of) }
        default:
          return type
      }
    }
    return { parameters: parameters.map(renew), result: renew(result) }
  }

  /** The one type of all elements; undefined where there are none. */
  private join(elements: readonly Expr[]): Type | undefined {
    let joined: Type | undefined
    for (const element of elements) {
      this.check(element)
      const type = this.typeOf(element)
      if (joined === undefined) joined = type
      else if (this.substitutions.assign(joined, type)) joined = mostGeneral(joined, type)
      else {
        this.mismatch(element.at, joined, type)
        joined = errorType
      }
    }
    return joined
  }

  private inferMessage({ at, name, fields }: MessageExpr): Type {
    const message = messageNamed(name)
    if (message === undefined) {
      this.undeclared(at, name)
      return errorType
    }
    for (const field of fields) {
      this.check(field.value)
      const wanted = message.fields.includes(field.name) ? intType : undefined
      const given = this.typeOf(field.value)
      if (wanted === undefined) this.complain(field.at, `undefined field '${field.name}'`)
      else if (!this.substitutions.assign(wanted, given))
        this.complain(
          field.at,
          `expected type of field '${field.name}' is '${formatType(wanted)}' but provided type is '${formatType(given)}'`,
        )
    }
    return message.type
  }

  private inferComprehension(expr: ComprehensionExpr): Type {
    this.check(expr.range)
    this.check(expr.initial)
    const accumulated = this.typeOf(expr.initial)
    const element = this.elementOf(expr.range)
    this.locals.push({ name: expr.accumulator, type: accumulated }, { name: expr.variable, type: element })
    this.checkIs(expr.condition, boolType)
    this.checkIs(expr.step, accumulated)
    this.locals.pop()
    this.check(expr.result)
    this.locals.pop()
    return this.substitutions.resolve(this.typeOf(expr.result), false)
  }

  private checkIs(expr: Expr, wanted: Type): void {
    this.check(expr)
    const type = this.typeOf(expr)
    if (!this.substitutions.assign(wanted, type)) this.mismatch(expr.at, wanted, type)
  }

  private elementOf(range: Expr): Type {
    const type = this.substitutions.resolve(this.typeOf(range), false)
    if (type.kind === 'list') return type.element
    if (type.kind === 'map') return type.key
    if (isDynOrError(type) || type.kind === 'parameter') {
      this.substitutions.assign(dynType, type)
      return dynType
    }
    const message = `expression of type '${formatType(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`
    this.complain(range.at, message)
    return errorType
  }
}

const plainNames: { readonly [kind: string]: string } = {
  bool: 'primitive:BOOL',
  int: 'primitive:INT64',
  uint: 'primitive:UINT64',
  double: 'primitive:DOUBLE',
  string: 'primitive:STRING',
  bytes: 'primitive:BYTES',
  timestamp: 'well_known:TIMESTAMP',
  duration: 'well_known:DURATION',
  null: 'null:NULL_VALUE',
  dyn: 'dyn:{}',
  error: 'error:{}',
}

/** How types are written in one message: as the text form of the messages that describe them. */
function describeType(type: Type): string {
  switch (type.kind) {
    case 'list':
      return `list_type:{elem_type:{${describeType(type.element)}}}`
    case 'map':
      return `map_type:{key_type:{${describeType(type.key)}} value_type:{${describeType(type.value)}}}`
    case 'object':
      return `message_type:"${type.name}"`
    case 'opaque':
      return `abstract_type:{name:"${type.name}"}`
    case 'parameter':
      return `type_param:"${type.name}"`
    case 'type':
      return `type:{${type.of === undefined ? '' : describeType(type.of)}}`
    default:
      return plainNames[type.kind] ?? type.kind
  }
}

function typeOfLiteral(value: unknown): Type {
  if (value === null) return nullType
  if (typeof value === 'boolean') return boolType
  if (typeof value === 'bigint') return intType
  if (typeof value === 'number') return doubleType
  if (typeof value === 'string') return stringType
  return value instanceof Uint ? uintType : bytesType
}
