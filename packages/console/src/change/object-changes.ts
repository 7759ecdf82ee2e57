// Changes of an object between two versions, by field, and their conflicts with the changes of other writers.

import type { Json } from '@cluster-apiserver/api/api/object.js'
import { createMergePatch, isSameJson } from '@cluster-apiserver/api/base/create-merge-patch.js'
import { writeYaml } from '@cluster-apiserver/api/codec/yaml/write-yaml.js'
import { mergePatch } from '@cluster-apiserver/api/patch/merge-patch.js'
import type { DynamicObject, ServedResource } from '@cluster-apiserver/client/browser.js'
import { withoutManagedFields } from '../object/object-context.js'
import { describe, type FieldOwners } from '../understand/field-notes.js'

export const fieldManager = 'console'

export type Patch = { readonly [name: string]: unknown }

export interface ChangedField {
  readonly path: readonly string[]
  /** null: removed. */
  readonly value: unknown
}

/** A change of the user that another writer would lose, or would take back. */
export interface Conflict extends ChangedField {
  readonly reasons: readonly string[]
  /** The path, and what the user decides about: a decision is void once another writer changes the field again. */
  readonly key: string
}

/** The object as it is edited: the server ignores status in updates of kinds with that subresource. */
export function editable(object: DynamicObject, { subresources }: Pick<ServedResource, 'subresources'>): DynamicObject {
  const { status, ...rest } = withoutManagedFields(object)
  return status !== undefined && subresources.some(({ name }) => name === 'status') ? (rest as DynamicObject) : withoutManagedFields(object)
}

export const yamlText = (object: DynamicObject): string => writeYaml(object as unknown as Json)

export const patchBetween = (before: DynamicObject, after: unknown): Patch | undefined =>
  createMergePatch(before, after) as Patch | undefined

export const applyPatch = (object: DynamicObject, patch: Patch): DynamicObject =>
  mergePatch(object as unknown as Json, patch as Json) as unknown as DynamicObject

export function fieldsOf(patch: unknown, path: readonly string[] = []): readonly ChangedField[] {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch) || Object.keys(patch).length === 0)
    return [{ path, value: patch }]
  return Object.entries(patch).flatMap(([name, value]) => fieldsOf(value, [...path, name]))
}

/** Fields that the server sets at every write. */
const serverFields = [
  '["metadata","resourceVersion"]',
  '["metadata","generation"]',
  '["metadata","managedFields"]',
  '["metadata","creationTimestamp"]',
  '["metadata","uid"]',
]

export const withoutServerFields = (fields: readonly ChangedField[]): readonly ChangedField[] =>
  fields.filter(({ path }) => !serverFields.includes(JSON.stringify(path)))

export function findConflicts(mine: Patch, theirs: Patch | undefined, owners: FieldOwners): readonly Conflict[] {
  const others = new PathIndex(
    (theirs === undefined ? [] : withoutServerFields(fieldsOf(theirs))).map(({ path, value }) => [path, value] as const),
  )
  const applied = new PathIndex(
    [...owners].flatMap(([key, found]) => {
      const byOthers = found.filter(({ manager, operation }) => operation === 'Apply' && manager !== fieldManager)
      return byOthers.length === 0 ? [] : [[(JSON.parse(key) as readonly (string | number)[]).map(String), byOthers] as const]
    }),
  )
  return withoutServerFields(fieldsOf(mine)).flatMap(({ path, value }) => {
    const changed = others.overlapping(path).filter((now) => !isSameJson(now, value))
    const owned = applied.overlapping(path).flat()
    const reasons = new Set([
      ...changed.map((now) => `changed meanwhile to ${JSON.stringify(now)}`),
      ...owned.map((owner) => `owned by ${describe(owner)}`),
    ])
    return reasons.size === 0 ? [] : [{ path, value, reasons: [...reasons], key: JSON.stringify([path, changed, owned]) }]
  })
}

/** Values by path. Two paths overlap if they are equal or one is a prefix of the other. */
class PathIndex<Value> {
  private readonly exact = new Map<string, Value>()
  private readonly inside = new Map<string, Value[]>()

  constructor(entries: readonly (readonly [path: readonly string[], value: Value])[]) {
    for (const [path, value] of entries) {
      this.exact.set(JSON.stringify(path), value)
      for (let length = 0; length < path.length; length++) {
        const key = JSON.stringify(path.slice(0, length))
        const found = this.inside.get(key)
        if (found === undefined) this.inside.set(key, [value])
        else found.push(value)
      }
    }
  }

  overlapping(path: readonly string[]): readonly Value[] {
    const above = path.flatMap((_, length) => this.at(path.slice(0, length)))
    return [...above, ...this.at(path), ...(this.inside.get(JSON.stringify(path)) ?? [])]
  }

  private at(path: readonly string[]): readonly Value[] {
    const key = JSON.stringify(path)
    return this.exact.has(key) ? [this.exact.get(key) as Value] : []
  }
}

/** The patch without some of its fields; undefined if nothing is left. */
export function withoutFields(patch: Patch, paths: readonly (readonly string[])[]): Patch | undefined {
  const given = new Set(paths.map((path) => JSON.stringify(path)))
  const prune = (value: unknown, path: readonly string[]): unknown => {
    if (given.has(JSON.stringify(path))) return undefined
    if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0) return value
    const kept = Object.entries(value).flatMap(([name, inner]) => {
      const rest = prune(inner, [...path, name])
      return rest === undefined ? [] : [[name, rest] as const]
    })
    return kept.length === 0 ? undefined : Object.fromEntries(kept)
  }
  return prune(patch, []) as Patch | undefined
}

export const pathText = (path: readonly string[]): string =>
  path.map((step) => (/^[\w-]+$/.test(step) ? step : `[${JSON.stringify(step)}]`)).join('.')
