// The containers of a pod of every sort, with their paths, in the order in which rules look at them.

import type { Container, EphemeralContainer, PodSpec } from '../v1.schema.js'

export type AnyContainer = Container | EphemeralContainer

const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const

export function visitContainers(spec: PodSpec, field: string, visit: (container: AnyContainer, field: string) => void): void {
  for (const name of lists) {
    const list: readonly AnyContainer[] | undefined = spec[name]
    for (let i = 0; list !== undefined && i < list.length; i++) visit(list[i] as AnyContainer, `${field}.${name}[${i}]`)
  }
}

/** The spec with every container replaced; the same spec where none changes. */
export function mapContainers(spec: PodSpec, change: <T extends AnyContainer>(container: T) => T): PodSpec {
  let changed: PodSpec = spec
  for (const name of lists) {
    const list: readonly AnyContainer[] | undefined = spec[name]
    if (list === undefined) continue
    const next = mapItems(list, change)
    if (next !== list) changed = { ...changed, [name]: next }
  }
  return changed
}

/** The items changed one by one; the same list where none changes. */
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
