// Types of expressions, how they are written, and when one may stand where another is asked for.

export type Type =
  | { readonly kind: 'dyn' | 'error' | 'null' | 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'timestamp' | 'duration' }
  | { readonly kind: 'list'; readonly element: Type }
  | { readonly kind: 'map'; readonly key: Type; readonly value: Type }
  /** Values with fields; two of different names are different types. */
  | { readonly kind: 'object'; readonly name: string }
  /** Values that only their own functions can look into. */
  | { readonly kind: 'opaque'; readonly name: string }
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

/** As messages show it. */
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

/** A type that takes everything which `b` takes, and perhaps more. */
function isAtLeastAsGeneral(a: Type, b: Type): boolean {
  if (a.kind === 'dyn' || a.kind === 'parameter') return true
  if (b.kind === 'dyn' || b.kind === 'parameter') return false
  if (a.kind !== b.kind) return false
  if (a.kind === 'list') return isAtLeastAsGeneral(a.element, (b as typeof a).element)
  if (a.kind === 'map') return isAtLeastAsGeneral(a.key, (b as typeof a).key) && isAtLeastAsGeneral(a.value, (b as typeof a).value)
  return a.kind === 'type' || isSameType(a, b)
}

export const mostGeneral = (a: Type, b: Type): Type => (isAtLeastAsGeneral(a, b) ? a : b)

const nullable: ReadonlySet<Type['kind']> = new Set(['null', 'object', 'opaque', 'timestamp', 'duration'])
const takesNull = (type: Type): boolean => nullable.has(type.kind)

/** What type parameters stand for, as far as it is known. */
export class Substitutions {
  private readonly known = new Map<string, Type>()
  /** What was known before, of those that the present assignment has changed: to copy all would take longer with each call of an expression. */
  private changed: (readonly [name: string, before: Type | undefined])[] = []

  /** Whether each of them may stand where its counterpart is asked for. What it takes is remembered only if all do. */
  assignAll(given: readonly Type[], wanted: readonly Type[]): boolean {
    if (given.length !== wanted.length) return false
    this.changed = []
    for (let i = 0; i < given.length; i++) {
      if (!this.isAssignable(given[i] as Type, wanted[i] as Type)) {
        this.putBack()
        return false
      }
    }
    return true
  }

  private remember(name: string, type: Type): void {
    this.changed.push([name, this.known.get(name)])
    this.known.set(name, type)
  }

  private putBack(): void {
    for (let i = this.changed.length - 1; i >= 0; i--) {
      const [name, before] = this.changed[i] as (typeof this.changed)[number]
      if (before === undefined) this.known.delete(name)
      else this.known.set(name, before)
    }
  }

  assign = (given: Type, wanted: Type): boolean => this.assignAll([given], [wanted])

  private isAssignable(given: Type, wanted: Type): boolean {
    if (wanted.kind === 'parameter') {
      const { fits, wasKnown } = this.substitute(given, wanted)
      if (fits) return true
      if (wasKnown) return false
    }
    if (given.kind === 'parameter') return this.substitute(wanted, given).fits
    if (isDynOrError(given) || isDynOrError(wanted)) return true
    if (given.kind === 'null') return takesNull(wanted)
    if (wanted.kind === 'null') return takesNull(given)
    if (given.kind !== wanted.kind) return false
    if (given.kind === 'list') return this.isAssignable(given.element, (wanted as typeof given).element)
    if (given.kind === 'map') {
      return this.isAssignable(given.key, (wanted as typeof given).key) && this.isAssignable(given.value, (wanted as typeof given).value)
    }
    return given.kind === 'type' || isSameType(given, wanted)
  }

  private substitute(type: Type, parameter: Type & { kind: 'parameter' }): { fits: boolean; wasKnown: boolean } {
    if (isSameType(type, parameter)) return { fits: true, wasKnown: true }
    const known = this.known.get(parameter.name)
    if (known !== undefined) {
      if (!this.isAssignable(type, known)) return { fits: false, wasKnown: true }
      const general = mostGeneral(type, known)
      if (!this.mentions(general, parameter)) this.remember(parameter.name, general)
      return { fits: true, wasKnown: true }
    }
    if (this.mentions(type, parameter)) return { fits: false, wasKnown: false }
    this.remember(parameter.name, type)
    return { fits: true, wasKnown: false }
  }

  /** A type that contains itself is none. */
  private mentions(type: Type, parameter: Type & { kind: 'parameter' }): boolean {
    switch (type.kind) {
      case 'parameter': {
        if (type.name === parameter.name) return true
        const known = this.known.get(type.name)
        return known !== undefined && this.mentions(known, parameter)
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

  /** The type with what is known put in; parameters that are not known stay, or become dyn. */
  resolve(type: Type, asDyn: boolean): Type {
    switch (type.kind) {
      case 'parameter': {
        const known = this.known.get(type.name)
        if (known !== undefined) return this.resolve(known, asDyn)
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
