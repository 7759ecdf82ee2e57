// Reading configuration that people wrote: every value is checked, and whatever is wrong is told with the path of its field.

import type { GroupName, Identity } from '../../api/identity.js'

export type Fields = { readonly [name: string]: unknown }

/** The path of a field below another one; the file itself has none. */
export const below = (where: string, name: string): string => (where === '' ? name : `${where}.${name}`)

const wrong = (where: string, what: string): Error => new Error(where === '' ? what : `${where}: ${what}`)

export function mappingOf(value: unknown, where: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(where, 'must be a mapping')
  return value as Fields
}

/** Empty where it is left out. */
export function listOf(fields: Fields, name: string, where: string): readonly unknown[] {
  const value = fields[name] ?? []
  if (!Array.isArray(value)) throw wrong(below(where, name), 'must be a list')
  return value
}

/** Undefined where it is left out. */
export function textOf(fields: Fields, name: string, where: string): string | undefined {
  const value = fields[name] ?? undefined
  if (value !== undefined && typeof value !== 'string') throw wrong(below(where, name), 'must be a text')
  return value
}

export function requiredText(fields: Fields, name: string, where: string): string {
  const value = textOf(fields, name, where)
  if (value === undefined || value === '') throw wrong(below(where, name), 'is required')
  return value
}

export function textsOf(fields: Fields, name: string, where: string): readonly string[] {
  return listOf(fields, name, where).map((value, i) => {
    if (typeof value !== 'string') throw wrong(`${below(where, name)}[${i}]`, 'must be a text')
    return value
  })
}

/** Undefined where it is left out. */
export function integerOf(fields: Fields, name: string, where: string): number | undefined {
  const value = fields[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(below(where, name), 'must be a whole number')
  return value
}

export function booleanOf(fields: Fields, name: string, where: string): boolean {
  const value = fields[name] ?? false
  if (typeof value !== 'boolean') throw wrong(below(where, name), 'must be true or false')
  return value
}

export function onlyFields(fields: Fields, known: readonly string[], where: string): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown !== undefined) throw wrong(below(where, unknown), 'there is no such field')
}

/** A kind that a configuration may be of, in the versions that are read. */
export interface ConfigKind {
  readonly kind: string
  readonly group: GroupName
  readonly versions: readonly string[]
}

/** Checks what the configuration calls itself; its other fields must be among those that are named. */
export function checkKind(fields: Fields, kinds: readonly ConfigKind[], { identity, where, known }: KindContext): void {
  const { kind, apiVersion } = fields
  const isOne = kinds.some(
    (each) => each.kind === kind && each.versions.some((version) => apiVersion === `${identity.group(each.group)}/${version}`),
  )
  if (!isOne) {
    const [usual] = kinds
    const wanted = usual === undefined ? '' : `${usual.kind} of ${identity.group(usual.group)}/${usual.versions[0]}`
    throw wrong(below(where, typeof kind === 'string' ? 'apiVersion' : 'kind'), `it is not a ${wanted}`)
  }
  onlyFields(fields, ['kind', 'apiVersion', ...known], where)
}

export interface KindContext {
  readonly identity: Identity
  readonly where: string
  readonly known: readonly string[]
}
