// Executable model of the API: the expected response to each request, and the resulting objects, field managers and events.

import { appliedSet, compare, difference, type FieldSet } from './field-sets.js'
import type { Kind } from './kinds.js'
import { jsonPatch, mergeApplied, mergePatch, type Operation, removePaths } from './patches.js'
import { applyDefaults, type Cause, duplicateCauses, type Schema, validate } from './schema.js'
import { type Fields, isEqual, isFields } from './values.js'

export type Write =
  | { readonly verb: 'create'; readonly manager: string; readonly name: string; readonly body: Fields }
  | {
      readonly verb: 'update'
      readonly manager: string
      readonly name: string
      readonly body: Fields
      readonly version: 'current' | 'stale' | 'absent'
    }
  | { readonly verb: 'merge'; readonly manager: string; readonly name: string; readonly body: Fields }
  | { readonly verb: 'json'; readonly manager: string; readonly name: string; readonly operations: readonly Operation[] }
  | { readonly verb: 'apply'; readonly manager: string; readonly name: string; readonly body: Fields; readonly force: boolean }
  | { readonly verb: 'delete'; readonly manager: string; readonly name: string }

export interface Entry {
  readonly object: Fields
  readonly generation: number
  /** Field sets by `manager/operation`. */
  readonly managers: ReadonlyMap<string, FieldSet>
  /** Number of writes of the object since it was created. */
  readonly writes: number
}

export interface Event {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly name: string
  readonly entry: Entry
  readonly previous?: Entry
}

export type Expected =
  | { readonly status: 200 | 201; readonly entry?: Entry }
  | { readonly status: 404 | 409 | 422; readonly causes?: readonly Cause[]; readonly conflicts?: number }

type Managers = ReadonlyMap<string, FieldSet>

/** `f:metadata` itself always exists. */
const neverOwned: FieldSet = new Set(['f:metadata'])

export class Model {
  readonly kind: Kind
  readonly entries = new Map<string, Entry>()
  readonly events: Event[] = []

  constructor(kind: Kind) {
    this.kind = kind
  }

  write(write: Write): Expected {
    const live = this.entries.get(write.name)
    if (write.verb === 'create') return this.#create(write, live)
    if (write.verb === 'apply') return this.#apply(write, live)
    if (live === undefined) return { status: 404 }
    if (write.verb === 'delete') return this.#delete(write.name, live)
    if (write.verb === 'update') {
      const isStale = write.version === 'stale' && live.writes > 1
      if (write.version === 'absent' && this.kind.isCustom)
        return { status: 422, causes: [{ field: 'metadata.resourceVersion', reason: 'FieldValueInvalid' }] }
      if (isStale) return { status: 409 }
      return this.#store(write.name, live, this.#updated(live, write.body, write.manager), 200)
    }
    const patched = write.verb === 'merge' ? mergePatch(live.object, write.body) : jsonPatch(live.object, write.operations)
    if (!isFields(patched)) return { status: 422 }
    return this.#store(write.name, live, this.#updated(live, patched, write.manager), 200)
  }

  #updated(live: Entry | undefined, body: Fields, manager: string): Pick<Entry, 'object' | 'managers'> {
    const object = this.kind.decode(body)
    return { object, managers: managersAfterUpdate(this.kind.schema, live, object, `${manager}/Update`) }
  }

  /** An invalid object is reported before an existing one. */
  #create({ name, body, manager }: Write & { verb: 'create' }, live: Entry | undefined): Expected {
    const created = this.#updated(undefined, body, manager)
    const causes = this.#causes(created.object)
    if (causes.length > 0) return { status: 422, causes }
    return live === undefined ? this.#store(name, undefined, created, 201) : { status: 409 }
  }

  #apply(write: Write & { verb: 'apply' }, live: Entry | undefined): Expected {
    const { schema } = this.kind
    const before = live?.object ?? {}
    const owner = `${write.manager}/Apply`
    const owned = appliedSet(schema, write.body)
    const managers = new Map(live === undefined ? [] : managersBeforeApply(schema, live)).set(owner, owned)
    const merged = mergeApplied(schema, before, write.body)
    const removed = unownedPaths(schema, live?.managers.get(owner) ?? new Set(), managers)
    const pruned = removePaths(schema, merged, removed)
    if (!isFields(pruned)) throw new Error('the whole object was removed')
    const changes = compare(schema, before, pruned)
    // The order of lists alone is not a change.
    const isSame = live !== undefined && changes.added.size + changes.modified.size + changes.removed.size === 0
    const object = isSame ? before : pruned
    let conflicts = 0
    for (const [other, set] of managers) {
      if (other === owner) continue
      const conflicting = [...set].filter((path) => changes.modified.has(path) || changes.added.has(path))
      conflicts += conflicting.length
      setOrDelete(managers, other, difference(difference(set, new Set(conflicting)), changes.removed))
    }
    if (conflicts > 0 && !write.force) return { status: 409, conflicts }
    const stored = this.kind.isCustom ? this.#defaulted(object) : this.kind.decode(object)
    return this.#store(write.name, live, { object: stored, managers }, live === undefined ? 201 : 200)
  }

  /** An applied configuration is not decoded by the schema: nulls stay and are validated. */
  #defaulted(object: Fields): Fields {
    const filled = applyDefaults(this.kind.schema, object)
    return isFields(filled) ? filled : object
  }

  #store(name: string, live: Entry | undefined, next: Pick<Entry, 'object' | 'managers'>, status: 200 | 201): Expected {
    const causes = this.#causes(next.object)
    if (causes.length > 0) return { status: 422, causes }
    if (live !== undefined && isEqual(live.object, next.object) && isSameManagers(live.managers, next.managers))
      return { status, entry: live }
    const isSpecSame = live !== undefined && isEqual(live.object['spec'], next.object['spec'])
    const generation = live === undefined ? 1 : live.generation + (isSpecSame ? 0 : 1)
    const entry = { ...next, generation, writes: 1 + (live?.writes ?? 0) }
    this.entries.set(name, entry)
    this.events.push(live === undefined ? { type: 'ADDED', name, entry } : { type: 'MODIFIED', name, entry, previous: live })
    return { status, entry }
  }

  #causes(object: Fields): Cause[] {
    if (!this.kind.isCustom) return []
    const { properties = {} } = this.kind.schema
    return Object.entries(object).flatMap(([name, value]) => {
      const field = properties[name]
      return field === undefined || name === 'metadata' ? [] : [...validate(field, value, name), ...duplicateCauses(field, value, name)]
    })
  }

  #delete(name: string, live: Entry): Expected {
    this.entries.delete(name)
    this.events.push({ type: 'DELETED', name, entry: live, previous: live })
    return { status: 200 }
  }
}

function setOrDelete(managers: Map<string, FieldSet>, name: string, set: FieldSet): void {
  if (set.size === 0) managers.delete(name)
  else managers.set(name, set)
}

/** An object without managers is not tracked until its first apply; that apply finds all fields owned by `before-first-apply`. */
const managersBeforeApply = (schema: Schema, live: Entry): Managers =>
  live.managers.size > 0 ? live.managers : managersAfterUpdate(schema, undefined, live.object, 'before-first-apply/Update')

function managersAfterUpdate(schema: Schema, live: Entry | undefined, object: Fields, owner: string): Managers {
  if (live?.managers.size === 0) return live.managers
  const { added, modified, removed } = compare(schema, live?.object ?? {}, object)
  const changed = difference(new Set([...added, ...modified]), neverOwned)
  const managers = new Map(live?.managers ?? [])
  for (const [other, set] of live?.managers ?? [])
    if (other !== owner) setOrDelete(managers, other, difference(difference(set, changed), removed))
  setOrDelete(managers, owner, difference(new Set([...(live?.managers.get(owner) ?? []), ...changed]), removed))
  return managers
}

/** Adds the containers of owned paths that are fields of a struct; members of maps and elements of lists are not added. */
function withNamedParents(schema: Schema, paths: Iterable<string>): Set<string> {
  const all = new Set<string>()
  for (const path of paths) {
    all.add(path)
    let at: Schema | undefined = schema
    const segments = path.split(' ')
    for (let i = 0; i < segments.length - 1; i++) {
      const name = segments[i] ?? ''
      const isNamed: boolean = name.startsWith('f:') && at?.properties?.[name.slice(2)] !== undefined
      at = name.startsWith('f:') ? (at?.properties?.[name.slice(2)] ?? at?.additionalProperties) : at?.items
      if (isNamed) all.add(segments.slice(0, i + 1).join(' '))
    }
  }
  return all
}

/** Paths of the manager's previous configuration that no manager owns any more. */
function unownedPaths(schema: Schema, previous: FieldSet, managers: Managers): FieldSet {
  const owned = withNamedParents(
    schema,
    [...managers.values()].flatMap((set) => [...set]),
  )
  return difference(difference(withNamedParents(schema, previous), owned), neverOwned)
}

function isSameManagers(a: Managers, b: Managers): boolean {
  const textOf = (managers: Managers): string =>
    JSON.stringify([...managers].map(([name, set]) => [name, [...set].toSorted()] as const).toSorted(([x], [y]) => (x < y ? -1 : 1)))
  return textOf(a) === textOf(b)
}
