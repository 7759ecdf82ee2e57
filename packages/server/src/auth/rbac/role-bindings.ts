// Who is bound to what: bindings by their subjects, so that a request looks only at those of its user and groups.

import { getOrInsert } from '../../base/get-or-insert.js'
import type { RoleBinding } from '../../resources/rbac-authorization/v1.schema.js'
import type { Decision } from '../authorize.js'
import { accountName } from '../service-account-name.js'
import type { BoundRole, RoleName } from './bound-role.js'

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
  readonly role: BoundRole
  readonly subjects: readonly BoundSubject[]
  /** What it decides, for each subject once. */
  readonly decisions: (Decision | undefined)[]
}

const kinds: ReadonlySet<string> = new Set(['User', 'Group', 'ServiceAccount'])

/** How many are gone through before others may have a turn: some tens of microseconds. */
const subjectsPerStep = 100

/** In short steps. `take`: the role of that name, for one binding more. */
export function* bindingOf(
  { metadata, roleRef, subjects: named = [] }: RoleBinding,
  take: (named: RoleName) => BoundRole,
): Generator<undefined, Binding, undefined> {
  const namespace = metadata?.namespace ?? ''
  const { kind: roleKind = '', name: roleName = '' } = roleRef ?? {}
  const subjects: BoundSubject[] = []
  for (const [i, { kind = '', name = '', namespace: own = '' }] of named.entries()) {
    if (kinds.has(kind))
      subjects.push({ kind: kind as BoundSubject['kind'], name, namespace: kind === 'ServiceAccount' ? own || namespace : '' })
    if ((i + 1) % subjectsPerStep === 0) yield
  }
  return {
    name: metadata?.name ?? '',
    namespace,
    role: take({ kind: roleKind, name: roleName, namespace: roleKind === 'ClusterRole' ? '' : namespace }),
    subjects,
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

/**
 * The roles of one subject in one place, and for each the bindings that give it, of which there is mostly one: a decision looks at a role once
 * however many bindings give it. A walk over the map may go on after changes: what stays is not passed over.
 */
export type RolesOfSubject = Map<BoundRole, Binding | Set<Binding>>

/** Any of them: the oldest. */
export const firstOf = (bindings: Binding | Set<Binding>): Binding =>
  bindings instanceof Set ? (bindings.values().next().value as Binding) : bindings

/** The bindings of one namespace, or of the cluster. */
export class BindingsBySubject {
  #users: Map<string, RolesOfSubject> | undefined
  #groups: Map<string, RolesOfSubject> | undefined

  get isEmpty(): boolean {
    return (this.#users?.size ?? 0) === 0 && (this.#groups?.size ?? 0) === 0
  }

  ofUser(name: string): RolesOfSubject | undefined {
    return this.#users?.get(name)
  }

  ofGroup(name: string): RolesOfSubject | undefined {
    return this.#groups?.get(name)
  }

  /** In short steps. */
  *add(binding: Binding): Generator<undefined, void, undefined> {
    for (const [i, subject] of binding.subjects.entries()) {
      if ((i + 1) % subjectsPerStep === 0) yield
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

  /** In short steps. */
  *remove(binding: Binding): Generator<undefined, void, undefined> {
    for (const [i, subject] of binding.subjects.entries()) {
      if ((i + 1) % subjectsPerStep === 0) yield
      const user = userOf(subject)
      if (user !== undefined) removeFrom(this.#users, user, binding)
      else if (subject.kind === 'Group') removeFrom(this.#groups, subject.name, binding)
    }
  }
}

/** A subject may stand twice in a binding. */
function addTo(subjects: Map<string, RolesOfSubject>, name: string, binding: Binding): void {
  const roles = getOrInsert(subjects, name, (): RolesOfSubject => new Map())
  const known = roles.get(binding.role)
  if (known === undefined) roles.set(binding.role, binding)
  else if (known instanceof Set) known.add(binding)
  else if (known !== binding) roles.set(binding.role, new Set([known, binding]))
}

function removeFrom(subjects: Map<string, RolesOfSubject> | undefined, name: string, binding: Binding): void {
  const roles = subjects?.get(name)
  const known = roles?.get(binding.role)
  if (roles === undefined || known === undefined) return
  if (known instanceof Set) {
    known.delete(binding)
    if (known.size > 0) return
  } else if (known !== binding) return
  roles.delete(binding.role)
  if (roles.size === 0) subjects?.delete(name)
}
