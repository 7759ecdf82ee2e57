// Index of RoleBindings and ClusterRoleBindings by subject, so that a request visits only bindings of its user and groups.

import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { RoleBinding } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import type { Decision } from '../authorize.js'
import { accountName } from '../service-account/service-account-claims.js'
import type { BoundRole, RoleName } from './bound-role.js'

export interface BoundSubject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly name: string
  readonly namespace: string
}

export interface Binding {
  readonly name: string
  /** Empty for ClusterRoleBindings. */
  readonly namespace: string
  readonly role: BoundRole
  readonly subjects: readonly BoundSubject[]
  /** Cache, by index of the subject. */
  readonly decisions: (Decision | undefined)[]
}

const subjectKinds: ReadonlySet<string> = new Set(['User', 'Group', 'ServiceAccount'])

export function bindingOf(
  { metadata, roleRef, subjects: subjectRefs = [] }: RoleBinding,
  acquire: (roleName: RoleName) => BoundRole,
): Binding {
  const namespace = metadata?.namespace ?? ''
  const { kind: roleKind = '', name: roleName = '' } = roleRef ?? {}
  const subjects: BoundSubject[] = []
  for (const { kind = '', name = '', namespace: subjectNamespace = '' } of subjectRefs) {
    if (subjectKinds.has(kind))
      subjects.push({ kind: kind as BoundSubject['kind'], name, namespace: kind === 'ServiceAccount' ? subjectNamespace || namespace : '' })
  }
  return {
    name: metadata?.name ?? '',
    namespace,
    role: acquire({ kind: roleKind, name: roleName, namespace: roleKind === 'ClusterRole' ? '' : namespace }),
    subjects,
    decisions: [],
  }
}

/** User name of a subject; undefined for groups, and for a ServiceAccount without namespace. */
function userOf({ kind, name, namespace }: BoundSubject): string | undefined {
  if (kind === 'User') return name
  return kind === 'ServiceAccount' && namespace !== '' ? accountName(namespace, name) : undefined
}

export const subjectIndex = ({ subjects }: Binding, user: string, groups: readonly string[]): number =>
  subjects.findIndex((subject) => (subject.kind === 'Group' ? groups.includes(subject.name) : userOf(subject) === user))

export function describeSubject({ kind, name, namespace }: BoundSubject): string {
  return `${kind} ${JSON.stringify(kind === 'ServiceAccount' ? `${name}/${namespace}` : name)}`
}

/** Roles of one subject in one namespace; a single binding is stored without a Set. Iteration may continue after changes. */
export type RolesOfSubject = Map<BoundRole, Binding | Set<Binding>>

export const bindingsIn = (bindings: Binding | Set<Binding>): Iterable<Binding> => (bindings instanceof Set ? bindings : [bindings])

export const firstBinding = (bindings: Binding | Set<Binding>): Binding =>
  bindings instanceof Set ? (bindings.values().next().value as Binding) : bindings

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

function addTo(subjects: Map<string, RolesOfSubject>, name: string, binding: Binding): void {
  const roles = getOrInsert(subjects, name, (): RolesOfSubject => new Map())
  const present = roles.get(binding.role)
  if (present === undefined) roles.set(binding.role, binding)
  else if (present instanceof Set) present.add(binding)
  else if (present !== binding) roles.set(binding.role, new Set([present, binding]))
}

function removeFrom(subjects: Map<string, RolesOfSubject> | undefined, name: string, binding: Binding): void {
  const roles = subjects?.get(name)
  const present = roles?.get(binding.role)
  if (roles === undefined || present === undefined) return
  if (present instanceof Set) {
    present.delete(binding)
    if (present.size > 0) return
  } else if (present !== binding) return
  roles.delete(binding.role)
  if (roles.size === 0) subjects?.delete(name)
}
