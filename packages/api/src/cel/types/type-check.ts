// CEL type checker: the type of every node, and the overloads that a call can resolve to.

import { messageNamed } from '../functions/protobuf-messages.js'
import { type CallExpr, type ComprehensionExpr, type Expr, type MessageExpr, qualifiedName, type SelectExpr } from '../syntax/ast.js'
import { type Issue, renderIssues } from '../syntax/syntax-issues.js'
import { Uint } from '../values/uint.js'
import { type Overload, overloadsOf, typeOfName } from './function-declarations.js'
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
  moreGeneral,
  nullType,
  Substitutions,
  stringType,
  type Type,
  uintType,
} from './types.js'

export interface Environment {
  readonly variables: { readonly [name: string]: Type }
  fieldType(object: string, field: string): Type | undefined
  hasObject(name: string): boolean
}

export interface Checked {
  readonly expr: Expr
  readonly types: ReadonlyMap<Expr, Type>
  readonly overloads: ReadonlyMap<Expr, readonly string[]>
  /** Selections that are type names, such as `google.protobuf.Timestamp`. */
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
  private typeParameterCount = 0
  /** As in kube-apiserver, set by the first macro and never reset. */
  private comparesMixedNumbers = false

  constructor(environment: Environment) {
    this.environment = environment
  }

  finish(expr: Expr): Checked {
    const types = new Map<Expr, Type>()
    for (const [node, type] of this.types) types.set(node, this.substitutions.resolve(type, true))
    return { expr, types, overloads: this.overloads, names: this.names }
  }

  private reportIssue(at: number, message: string): void {
    this.issues.push({ at, message })
  }

  private undeclared(at: number, name: string): void {
    this.reportIssue(at, `undeclared reference to '${name}' (in container '')`)
  }

  private mismatch(at: number, expected: Type | undefined, actual: Type | undefined): void {
    this.reportIssue(at, `expected type '${formatType(expected)}' but found '${formatType(actual)}'`)
  }

  private newTypeParameter(): Type {
    return { kind: 'parameter', name: `_var${this.typeParameterCount++}` }
  }

  private typeOf(expr: Expr): Type {
    return this.types.get(expr) ?? errorType
  }

  check(expr: Expr): void {
    const type = this.infer(expr)
    if (type !== undefined) this.types.set(expr, type)
  }

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
        const element = this.commonType(expr.elements)
        return listOf(element ?? this.newTypeParameter())
      }
      case 'map': {
        const key = this.commonType(expr.entries.map((entry) => entry.key))
        const value = this.commonType(expr.entries.map((entry) => entry.value))
        return mapOf(key ?? this.newTypeParameter(), value ?? this.newTypeParameter())
      }
      case 'message':
        return this.inferMessage(expr)
      case 'comprehension':
        return this.inferComprehension(expr)
    }
  }

  private lookUp(name: string): Type | undefined {
    const globalName = name.startsWith('.') ? name.slice(1) : name
    if (globalName === name) {
      for (let i = this.locals.length - 1; i >= 0; i--) {
        const local = this.locals[i] as { name: string; type: Type }
        if (local.name === name) return local.type
      }
    }
    const { variables } = this.environment
    if (Object.hasOwn(variables, globalName)) return variables[globalName]
    const type = typeOfName(globalName)
    if (type !== undefined) return type
    return this.environment.hasObject(globalName) ? { kind: 'object', name: globalName } : undefined
  }

  private inferSelect(expr: SelectExpr): Type {
    const name = qualifiedName(expr)
    const namedType = name === undefined ? undefined : this.lookUp(name)
    if (namedType !== undefined) {
      this.names.set(expr, name as string)
      return namedType
    }
    this.check(expr.operand)
    const type = this.fieldOf(expr, this.substitutions.resolve(this.typeOf(expr.operand), false))
    return expr.isTest ? boolType : type
  }

  private fieldOf({ at, field }: SelectExpr, operand: Type): Type {
    if (operand.kind === 'map') return operand.value
    if (operand.kind === 'object') {
      const type = this.environment.fieldType(operand.name, field)
      if (type === undefined) this.reportIssue(at, `undefined field '${field}'`)
      return type ?? errorType
    }
    if (operand.kind === 'parameter') {
      this.substitutions.assign(dynType, operand)
      return dynType
    }
    if (isDynOrError(operand)) return dynType
    this.reportIssue(at, `type '${describeType(operand)}' does not support field selection`)
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
    const argTypes = (target === undefined ? args : [target, ...args]).map((arg) => this.types.get(arg))
    return this.resolve(expr, overloads, argTypes)
  }

  private resolve(expr: CallExpr, overloads: readonly Overload[], argTypes: readonly (Type | undefined)[]): Type {
    const isMember = expr.target !== undefined
    let result: Type | undefined
    const found: string[] = []
    const typesOrError = argTypes.map((type) => type ?? errorType)
    const hasUntypedArgument = argTypes.includes(undefined)
    for (const candidate of overloads) {
      if (candidate.isMember !== isMember || hasUntypedArgument || (candidate.isMixed && !this.comparesMixedNumbers)) continue
      const { parameters, result: candidateResult } = candidate.isGeneric ? this.instantiate(candidate) : candidate
      if (!this.substitutions.assignAll(typesOrError, parameters)) continue
      found.push(candidate.id)
      const type = this.substitutions.resolve(candidateResult, false)
      if (result === undefined) result = type
      else if (result.kind !== 'dyn' && !isSameType(type, result)) result = dynType
    }
    if (result === undefined) {
      const argTexts = argTypes.map(formatType)
      const signature = isMember ? `${argTexts[0]}.(${argTexts.slice(1).join(', ')})` : `(${argTexts.join(', ')})`
      this.reportIssue(expr.at, `found no matching overload for '${expr.name}' applied to '${signature}'`)
      return errorType
    }
    this.overloads.set(expr, found)
    return result
  }

  private instantiate({ parameters, result }: Overload): { readonly parameters: readonly Type[]; readonly result: Type } {
    const replacements = new Map<string, Type>()
    const instantiate = (type: Type): Type => {
      switch (type.kind) {
        case 'parameter': {
          const replacement = replacements.get(type.name) ?? this.newTypeParameter()
          replacements.set(type.name, replacement)
          return replacement
        }
        case 'list':
          return listOf(instantiate(type.element))
        case 'map':
          return mapOf(instantiate(type.key), instantiate(type.value))
        case 'type':
          return { kind: 'type', of: type.of === undefined ? undefined : instantiate(type.of) }
        default:
          return type
      }
    }
    return { parameters: parameters.map(instantiate), result: instantiate(result) }
  }

  private commonType(elements: readonly Expr[]): Type | undefined {
    let joined: Type | undefined
    for (const element of elements) {
      this.check(element)
      const type = this.typeOf(element)
      if (joined === undefined) joined = type
      else if (this.substitutions.assign(joined, type)) joined = moreGeneral(joined, type)
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
      const expected = message.fields.includes(field.name) ? intType : undefined
      const actual = this.typeOf(field.value)
      if (expected === undefined) this.reportIssue(field.at, `undefined field '${field.name}'`)
      else if (!this.substitutions.assign(expected, actual))
        this.reportIssue(
          field.at,
          `expected type of field '${field.name}' is '${formatType(expected)}' but provided type is '${formatType(actual)}'`,
        )
    }
    return message.type
  }

  private inferComprehension(expr: ComprehensionExpr): Type {
    this.check(expr.range)
    this.check(expr.initial)
    const accumulated = this.typeOf(expr.initial)
    const element = this.elementOf(expr.range)
    this.comparesMixedNumbers = true
    this.locals.push({ name: expr.accumulator, type: accumulated }, { name: expr.variable, type: element })
    this.checkHasType(expr.condition, boolType)
    this.checkHasType(expr.step, accumulated)
    this.locals.pop()
    this.check(expr.result)
    this.locals.pop()
    return this.substitutions.resolve(this.typeOf(expr.result), false)
  }

  private checkHasType(expr: Expr, expected: Type): void {
    this.check(expr)
    const type = this.typeOf(expr)
    if (!this.substitutions.assign(expected, type)) this.mismatch(expr.at, expected, type)
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
    this.reportIssue(range.at, message)
    return errorType
  }
}

const primitiveNames: { readonly [kind: string]: string } = {
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

/** Text format of the Protobuf message of the type, as in messages of kube-apiserver. */
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
      return primitiveNames[type.kind] ?? type.kind
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
