// Visits and maps the containers of a pod. Copies objects with defaults (withMissing) or one changed field (withChanged).

import type { Container, EphemeralContainer, PodSpec } from '../v1.schema.js'

export type AnyContainer = Container | EphemeralContainer

const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const

export function visitContainers(spec: PodSpec, field: string, visit: (container: AnyContainer, field: string) => void): void {
  for (const name of containerLists) {
    const list: readonly AnyContainer[] | undefined = spec[name]
    for (let i = 0; list !== undefined && i < list.length; i++) visit(list[i] as AnyContainer, `${field}.${name}[${i}]`)
  }
}

export function mapContainers(spec: PodSpec, change: <T extends AnyContainer>(container: T) => T): PodSpec {
  let changed: PodSpec = spec
  for (const name of containerLists) {
    const list: readonly AnyContainer[] | undefined = spec[name]
    if (list === undefined) continue
    const next = mapItems(list, change)
    if (next !== list) changed = { ...changed, [name]: next }
  }
  return changed
}

export function mapItems<T>(items: readonly T[], change: (item: T) => T): readonly T[] {
  let changed: T[] | undefined
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as T
    const next = change(item)
    if (next === item) continue
    changed ??= [...items]
    changed[i] = next
  }
  return changed ?? items
}

type Members = { readonly [name: string]: unknown }

export function withMissing<T extends object>(object: T, defaults: Partial<T>): T {
  for (const name in defaults) {
    if ((object as Members)[name] === undefined) return copyWithDefaults(object, defaults)
  }
  return object
}

function copyWithDefaults<T extends object>(object: T, defaults: Partial<T>): T {
  const copy = { ...object } as Record<string, unknown>
  for (const name in defaults) copy[name] ??= defaults[name]
  return copy as T
}

export function withChanged<T extends object, Name extends keyof T>(
  object: T,
  name: Name,
  change: (value: NonNullable<T[Name]>) => NonNullable<T[Name]>,
): T {
  const value = object[name]
  if (value === undefined || value === null) return object
  const next = change(value as NonNullable<T[Name]>)
  return next === value ? object : { ...object, [name]: next }
}
