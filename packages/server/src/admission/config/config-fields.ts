// Readers of configuration fields: check types and report errors with the field path.

import type { GroupName, Identity } from '@cluster-apiserver/api/api/identity.js'

export interface ConfigContext {
  readonly identity: Identity
  /** Field path of the configuration in the file; empty if the configuration is a file of its own. */
  readonly where: string
  readonly file: string
}

export type Fields = { readonly [name: string]: unknown }

/** `where` is the field path of the parent; empty at the top of the file. */
export const childPath = (where: string, name: string): string => (where === '' ? name : `${where}.${name}`)

const fieldError = (where: string, problem: string): Error => new Error(where === '' ? problem : `${where}: ${problem}`)

export function mappingOf(value: unknown, where: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fieldError(where, 'must be a mapping')
  return value as Fields
}

export function listOf(fields: Fields, name: string, where: string): readonly unknown[] {
  const value = fields[name] ?? []
  if (!Array.isArray(value)) throw fieldError(childPath(where, name), 'must be a list')
  return value
}

export function textOf(fields: Fields, name: string, where: string): string | undefined {
  const value = fields[name] ?? undefined
  if (value !== undefined && typeof value !== 'string') throw fieldError(childPath(where, name), 'must be a string')
  return value
}

export function requiredText(fields: Fields, name: string, where: string): string {
  const value = textOf(fields, name, where)
  if (value === undefined || value === '') throw fieldError(childPath(where, name), 'is required')
  return value
}

export function textsOf(fields: Fields, name: string, where: string): readonly string[] {
  return listOf(fields, name, where).map((value, i) => {
    if (typeof value !== 'string') throw fieldError(`${childPath(where, name)}[${i}]`, 'must be a string')
    return value
  })
}

export function integerOf(fields: Fields, name: string, where: string): number | undefined {
  const value = fields[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw fieldError(childPath(where, name), 'must be a whole number')
  return value
}

export function booleanOf(fields: Fields, name: string, where: string): boolean {
  const value = fields[name] ?? false
  if (typeof value !== 'boolean') throw fieldError(childPath(where, name), 'must be true or false')
  return value
}

export function onlyFields(fields: Fields, known: readonly string[], where: string): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown !== undefined) throw fieldError(childPath(where, unknown), 'there is no such field')
}

interface ConfigKind {
  readonly kind: string
  readonly group: GroupName
  readonly versions: readonly string[]
}

export function checkKind(fields: Fields, kinds: readonly ConfigKind[], { identity, where, known }: KindContext): void {
  const { kind, apiVersion } = fields
  const isKnownKind = kinds.some(
    (each) => each.kind === kind && each.versions.some((version) => apiVersion === `${identity.group(each.group)}/${version}`),
  )
  if (!isKnownKind) {
    const [preferred] = kinds
    const wanted = preferred === undefined ? '' : `${preferred.kind} of ${identity.group(preferred.group)}/${preferred.versions[0]}`
    throw fieldError(childPath(where, typeof kind === 'string' ? 'apiVersion' : 'kind'), `it is not a ${wanted}`)
  }
  onlyFields(fields, ['kind', 'apiVersion', ...known], where)
}

interface KindContext {
  readonly identity: Identity
  readonly where: string
  readonly known: readonly string[]
}
