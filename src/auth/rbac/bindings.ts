// Who is bound to what: bindings by their subjects, so that a request looks only at those of its user and groups.

import { getOrInsert } from '../../base/get-or-insert.js'
import type { RoleBinding } from '../../resources/rbac-authorization/v1.schema.js'
import type { Decision } from '../authorize.js'
import { accountName } from '../service-account-name.js'

/** A person, a group or an account, as a binding names it. */
export interface BoundSubject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly name: string
  /** Of an account: where it is. */
  readonly namespace: string
}

export interface Binding {
  readonly name: string
  /** Empty for the whole cluster. */
  readonly namespace: string
  readonly roleKind: string
  readonly roleName: string
  readonly subjects: readonly BoundSubject[]
  /** What it decides, for each subject once. */
  readonly decisions: (Decision | undefined)[]
}

const kinds: ReadonlySet<string> = new Set(['User', 'Group', 'ServiceAccount'])

export function bindingOf({ metadata, roleRef, subjects = [] }: RoleBinding): Binding {
  const namespace = metadata?.namespace ?? ''
  return {
    name: metadata?.name ?? '',
    namespace,
    roleKind: roleRef?.kind ?? '',
    roleName: roleRef?.name ?? '',
    subjects: subjects
      .filter(({ kind = '' }) => kinds.has(kind))
      .map(({ kind, name = '', namespace: own = '' }) => ({
        kind: kind as BoundSubject['kind'],
        name,
        namespace: kind === 'ServiceAccount' ? own || namespace : '',
      })),
    decisions: [],
  }
}

/** The user that a subject stands for; undefined for groups, and for an account that is nowhere. */
function userOf({ kind, name, namespace }: BoundSubject): string | undefined {
  if (kind === 'User') return name
  return kind === 'ServiceAccount' && namespace !== '' ? accountName(namespace, name) : undefined
}

/** Which subject of a binding somebody is: the first that fits. */
export const subjectIndex = ({ subjects }: Binding, user: string, groups: readonly string[]): number =>
  subjects.findIndex((subject) => (subject.kind === 'Group' ? groups.includes(subject.name) : userOf(subject) === user))

export function describeSubject({ kind, name, namespace }: BoundSubject): string {
  return `${kind} ${JSON.stringify(kind === 'ServiceAccount' ? `${name}/${namespace}` : name)}`
}

/** The bindings of one namespace, or of the cluster. */
export class BindingsBySubject {
  #users: Map<string, Binding[]> | undefined
  #groups: Map<string, Binding[]> | undefined

  get isEmpty(): boolean {
    return (this.#users?.size ?? 0) === 0 && (this.#groups?.size ?? 0) === 0
  }

  ofUser(name: string): readonly Binding[] | undefined {
    return this.#users?.get(name)
  }

  ofGroup(name: string): readonly Binding[] | undefined {
    return this.#groups?.get(name)
  }

  add(binding: Binding): void {
    for (const subject of binding.subjects) {
      const user = userOf(subject)
      if (user !== undefined) {
        this.#users ??= new Map()
        addTo(this.#users, user, binding)
      } else if (subject.kind === 'Group') {
        this.#groups ??= new Map()
        addTo(this.#groups, subject.name, binding)
      }
    }
  }

  remove(binding: Binding): void {
    for (const subject of binding.subjects) {
      const user = userOf(subject)
      if (user !== undefined) removeFrom(this.#users, user, binding)
      else if (subject.kind === 'Group') removeFrom(this.#groups, subject.name, binding)
    }
  }
}

/** A subject may stand twice in a binding. */
function addTo(bindings: Map<string, Binding[]>, name: string, binding: Binding): void {
  const found = getOrInsert(bindings, name, () => [])
  if (found.at(-1) !== binding) found.push(binding)
}

function removeFrom(bindings: Map<string, Binding[]> | undefined, name: string, binding: Binding): void {
  const found = bindings?.get(name)
  const place = found?.indexOf(binding) ?? -1
  if (found === undefined || place < 0) return
  found.splice(place, 1)
  if (found.length === 0) bindings?.delete(name)
}
