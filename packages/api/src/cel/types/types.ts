// CEL types: their text, equality, assignability, and substitution of type parameters.

export type Type =
  | { readonly kind: 'dyn' | 'error' | 'null' | 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'timestamp' | 'duration' }
  | { readonly kind: 'list'; readonly element: Type }
  | { readonly kind: 'map'; readonly key: Type; readonly value: Type }
  | { readonly kind: 'object'; readonly name: string }
  /** Type, such as URL, whose values are accessible only through functions. */
  | { readonly kind: 'opaque'; readonly name: string }
  /** Type of a type: `type(1)` is `type(int)`. */
  | { readonly kind: 'type'; readonly of: Type | undefined }
  | { readonly kind: 'parameter'; readonly name: string }

export const dynType: Type = { kind: 'dyn' }
export const errorType: Type = { kind: 'error' }
export const nullType: Type = { kind: 'null' }
export const boolType: Type = { kind: 'bool' }
export const intType: Type = { kind: 'int' }
export const uintType: Type = { kind: 'uint' }
export const doubleType: Type = { kind: 'double' }
export const stringType: Type = { kind: 'string' }
export const bytesType: Type = { kind: 'bytes' }
export const timestampType: Type = { kind: 'timestamp' }
export const durationType: Type = { kind: 'duration' }
export const urlType: Type = { kind: 'opaque', name: 'kubernetes.URL' }
export const listOf = (element: Type): Type => ({ kind: 'list', element })
export const mapOf = (key: Type, value: Type): Type => ({ kind: 'map', key, value })
export const objectNamed = (name: string): Type => ({ kind: 'object', name })

export function formatType(type: Type | undefined): string {
  if (type === undefined) return '<nil>'
  switch (type.kind) {
    case 'list':
      return `list(${formatType(type.element)})`
    case 'map':
      return `map(${formatType(type.key)}, ${formatType(type.value)})`
    case 'object':
    case 'opaque':
    case 'parameter':
      return type.name
    case 'type':
      return type.of === undefined ? 'type' : `type(${formatType(type.of)})`
    case 'error':
      return '!error!'
    default:
      return type.kind
  }
}

export function isSameType(a: Type, b: Type): boolean {
  if (a === b) return true
  if (a.kind !== b.kind) return false
  if (a.kind === 'list') return isSameType(a.element, (b as typeof a).element)
  if (a.kind === 'map') return isSameType(a.key, (b as typeof a).key) && isSameType(a.value, (b as typeof a).value)
  if (a.kind === 'object' || a.kind === 'opaque' || a.kind === 'parameter') return a.name === (b as typeof a).name
  if (a.kind === 'type') {
    const other = (b as typeof a).of
    return a.of === undefined || other === undefined ? a.of === other : isSameType(a.of, other)
  }
  return true
}

export const isDynOrError = (type: Type): boolean => type.kind === 'dyn' || type.kind === 'error'

function isAtLeastAsGeneral(a: Type, b: Type): boolean {
  if (a.kind === 'dyn' || a.kind === 'parameter') return true
  if (b.kind === 'dyn' || b.kind === 'parameter') return false
  if (a.kind !== b.kind) return false
  if (a.kind === 'list') return isAtLeastAsGeneral(a.element, (b as typeof a).element)
  if (a.kind === 'map') return isAtLeastAsGeneral(a.key, (b as typeof a).key) && isAtLeastAsGeneral(a.value, (b as typeof a).value)
  return a.kind === 'type' || isSameType(a, b)
}

export const moreGeneral = (a: Type, b: Type): Type => (isAtLeastAsGeneral(a, b) ? a : b)

const nullableKinds: ReadonlySet<Type['kind']> = new Set(['null', 'object', 'opaque', 'timestamp', 'duration'])
const isNullable = (type: Type): boolean => nullableKinds.has(type.kind)

export class Substitutions {
  private readonly typesByParameter = new Map<string, Type>()
  /** Undo log of one assignment: copying all substitutions would take quadratic time. */
  private undoLog: (readonly [name: string, previous: Type | undefined])[] = []

  /** Assigns all types or, if one does not fit, none. */
  assignAll(actual: readonly Type[], expected: readonly Type[]): boolean {
    if (actual.length !== expected.length) return false
    this.undoLog = []
    for (let i = 0; i < actual.length; i++) {
      if (!this.isAssignable(actual[i] as Type, expected[i] as Type)) {
        this.rollBack()
        return false
      }
    }
    return true
  }

  private substituteWith(name: string, type: Type): void {
    this.undoLog.push([name, this.typesByParameter.get(name)])
    this.typesByParameter.set(name, type)
  }

  private rollBack(): void {
    for (let i = this.undoLog.length - 1; i >= 0; i--) {
      const [name, previous] = this.undoLog[i] as (typeof this.undoLog)[number]
      if (previous === undefined) this.typesByParameter.delete(name)
      else this.typesByParameter.set(name, previous)
    }
  }

  assign = (actual: Type, expected: Type): boolean => this.assignAll([actual], [expected])

  private isAssignable(actual: Type, expected: Type): boolean {
    if (expected.kind === 'parameter') {
      const { fits, wasAssigned } = this.substitute(actual, expected)
      if (fits) return true
      if (wasAssigned) return false
    }
    if (actual.kind === 'parameter') return this.substitute(expected, actual).fits
    if (isDynOrError(actual) || isDynOrError(expected)) return true
    if (actual.kind === 'null') return isNullable(expected)
    if (expected.kind === 'null') return isNullable(actual)
    if (actual.kind !== expected.kind) return false
    if (actual.kind === 'list') return this.isAssignable(actual.element, (expected as typeof actual).element)
    if (actual.kind === 'map') {
      return (
        this.isAssignable(actual.key, (expected as typeof actual).key) && this.isAssignable(actual.value, (expected as typeof actual).value)
      )
    }
    return actual.kind === 'type' || isSameType(actual, expected)
  }

  private substitute(type: Type, parameter: Type & { kind: 'parameter' }): { fits: boolean; wasAssigned: boolean } {
    if (isSameType(type, parameter)) return { fits: true, wasAssigned: true }
    const assigned = this.typesByParameter.get(parameter.name)
    if (assigned !== undefined) {
      if (!this.isAssignable(type, assigned)) return { fits: false, wasAssigned: true }
      const general = moreGeneral(type, assigned)
      if (!this.mentions(general, parameter)) this.substituteWith(parameter.name, general)
      return { fits: true, wasAssigned: true }
    }
    if (this.mentions(type, parameter)) return { fits: false, wasAssigned: false }
    this.substituteWith(parameter.name, type)
    return { fits: true, wasAssigned: false }
  }

  private mentions(type: Type, parameter: Type & { kind: 'parameter' }): boolean {
    switch (type.kind) {
      case 'parameter': {
        if (type.name === parameter.name) return true
        const assigned = this.typesByParameter.get(type.name)
        return assigned !== undefined && this.mentions(assigned, parameter)
      }
      case 'list':
        return this.mentions(type.element, parameter)
      case 'map':
        return this.mentions(type.key, parameter) || this.mentions(type.value, parameter)
      case 'type':
        return type.of !== undefined && this.mentions(type.of, parameter)
      default:
        return false
    }
  }

  resolve(type: Type, asDyn: boolean): Type {
    switch (type.kind) {
      case 'parameter': {
        const assigned = this.typesByParameter.get(type.name)
        if (assigned !== undefined) return this.resolve(assigned, asDyn)
        return asDyn ? dynType : type
      }
      case 'list':
        return listOf(this.resolve(type.element, asDyn))
      case 'map':
        return mapOf(this.resolve(type.key, asDyn), this.resolve(type.value, asDyn))
      case 'type':
        return type.of === undefined ? type : { kind: 'type', of: this.resolve(type.of, asDyn) }
      default:
        return type
    }
  }
}
