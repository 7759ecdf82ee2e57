// Roles referenced by bindings, each once with a reference count, and a bounded cache of their rules.

import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { RoleRules } from './role-rules.js'

export interface RoleName {
  readonly kind: string
  readonly name: string
  /** Empty for ClusterRoles. */
  readonly namespace: string
}

export class BoundRole implements RoleName {
  readonly kind: string
  readonly name: string
  readonly namespace: string
  bindingCount = 0
  isLoaded = false
  /** If loaded, undefined means that the role does not exist. */
  rules: RoleRules | undefined

  constructor({ kind, name, namespace }: RoleName) {
    this.kind = kind
    this.name = name
    this.namespace = namespace
  }
}

/** Maximum number of rules and their values in all cached roles together; each takes about 60 bytes. */
const maxCachedWeight = 2_000_000

/** Roles without bindings are not kept, so there are at most as many as bindings. */
export class BoundRoles {
  /** Roles with cached rules, oldest first. */
  readonly #cached = new Set<BoundRole>()
  readonly #maxCachedWeight: number
  #weight = 0
  readonly #clusterRoles = new Map<string, BoundRole>()
  readonly #rolesByNamespace = new Map<string, Map<string, BoundRole>>()

  constructor(maxWeight = maxCachedWeight) {
    this.#maxCachedWeight = maxWeight
  }

  /** Caches the rules until the role changes. Evicts the oldest rules over the limit. */
  cache(role: BoundRole, rules: RoleRules | undefined): void {
    this.evict(role)
    role.rules = rules
    role.isLoaded = true
    if (rules === undefined) return
    this.#cached.add(role)
    this.#weight += rules.weight
    for (const other of this.#cached) {
      if (this.#weight <= this.#maxCachedWeight || other === role) return
      this.evict(other)
    }
  }

  evict(role: BoundRole): void {
    if (this.#cached.delete(role)) this.#weight -= role.rules?.weight ?? 0
    role.isLoaded = false
    role.rules = undefined
  }

  get({ kind, name, namespace }: RoleName): BoundRole | undefined {
    return (kind === 'ClusterRole' ? this.#clusterRoles : kind === 'Role' ? this.#rolesByNamespace.get(namespace) : undefined)?.get(name)
  }

  acquire(roleName: RoleName): BoundRole {
    const role = this.get(roleName) ?? this.#create(roleName)
    role.bindingCount += 1
    return role
  }

  release(role: BoundRole): void {
    role.bindingCount -= 1
    if (role.bindingCount > 0) return
    this.evict(role)
    if (this.get(role) !== role) return
    if (role.kind === 'ClusterRole') {
      this.#clusterRoles.delete(role.name)
      return
    }
    const roles = this.#rolesByNamespace.get(role.namespace)
    roles?.delete(role.name)
    if (roles?.size === 0) this.#rolesByNamespace.delete(role.namespace)
  }

  #create(roleName: RoleName): BoundRole {
    const role = new BoundRole(roleName)
    if (role.kind === 'ClusterRole') this.#clusterRoles.set(role.name, role)
    else if (role.kind === 'Role') getOrInsert(this.#rolesByNamespace, role.namespace, () => new Map()).set(role.name, role)
    return role
  }
}
