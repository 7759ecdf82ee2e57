// RBAC index: bindings by subject, updated with every commit; rules of roles, read on first use and dropped when the role changes.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { type Logger, silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { type TurnBudget, turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { rbacGroup } from '@cluster-apiserver/api/resources/rbac-authorization/role-bindings.js'
import type { Role, RoleBinding } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import type { StoredObject } from '../../objects/entry/stored-object.js'
import { everything } from '../../objects/list/selection.js'
import { partsOf } from '../../objects/object-keys.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { type BoundRole, BoundRoles, type RoleName } from './bound-role.js'
import { type Binding, BindingsBySubject, bindingOf, type RolesOfSubject } from './role-bindings.js'
import { RoleRules } from './role-rules.js'

/** Role granted to a user, its bindings, and the group through which it is granted; undefined: by user name. */
interface GrantedRole {
  readonly role: BoundRole
  readonly bindings: Binding | Set<Binding>
  readonly group: string | undefined
}

/** Lives as long as the store. Reads nothing before `open()`; decisions wait for it. */
export class RbacIndex {
  readonly budget: TurnBudget
  readonly #store: ObjectStore
  readonly #catalog: Catalog
  readonly #logger: Logger
  readonly #roles: Resource | undefined
  readonly #clusterRoles: Resource | undefined
  #clusterBindings = new BindingsBySubject()
  #bindingsByNamespace = new Map<string, BindingsBySubject>()
  #bindings = new Map<string, Binding>()
  #boundRoles = new BoundRoles()
  #isOpen = false
  #opening: Promise<void> | undefined

  constructor(store: ObjectStore, catalog: Catalog, logger: Logger = silentLogger, budget: TurnBudget = turnBudget) {
    this.#store = store
    this.#logger = logger
    this.#catalog = catalog
    this.budget = budget
    this.#roles = this.#find('roles')
    this.#clusterRoles = this.#find('clusterroles')
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  async open(): Promise<void> {
    if (this.#isOpen) return
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    await this.#opening
  }

  /** A failed attempt is rolled back, so that the next caller starts again. */
  async #open(): Promise<void> {
    const unwatch: (() => void)[] = []
    try {
      this.#watchRoles(this.#roles, 'Role', unwatch)
      this.#watchRoles(this.#clusterRoles, 'ClusterRole', unwatch)
      await this.#watchBindings(this.#find('rolebindings'), unwatch)
      await this.#watchBindings(this.#find('clusterrolebindings'), unwatch)
      this.#isOpen = true
    } finally {
      if (!this.#isOpen) {
        for (const stop of unwatch) stop()
        this.#clusterBindings = new BindingsBySubject()
        this.#bindingsByNamespace = new Map()
        this.#bindings = new Map()
        this.#boundRoles = new BoundRoles()
      }
    }
  }

  /** Roles of a user in a namespace, cluster-wide first, possibly repeated. Bindings deleted during the iteration are skipped. */
  *grantedRoles({ name, groups }: User, namespace: string): Generator<GrantedRole, void, undefined> {
    this.#assertOpen()
    const distinct = groups.length > maxUncheckedGroups ? new Set(groups) : groups
    for (const bindings of namespace === '' ? [this.#clusterBindings] : [this.#clusterBindings, this.#bindingsByNamespace.get(namespace)]) {
      if (bindings === undefined) continue
      yield* rolesOfSubject(bindings.ofUser(name), undefined)
      for (const group of distinct) yield* rolesOfSubject(bindings.ofGroup(group), group)
    }
  }

  /** Returns undefined if the role does not exist. */
  rulesOf(role: BoundRole): RoleRules | undefined {
    if (role.isLoaded) return role.rules
    const rules = this.#read(role)
    // Changes evict only roles with bindings, so rules of other roles are not cached.
    if (role.bindingCount > 0) this.#boundRoles.cache(role, rules)
    return rules
  }

  rulesNamed(roleName: RoleName): RoleRules | undefined {
    this.#assertOpen()
    const bound = this.#boundRoles.get(roleName)
    return bound === undefined ? this.#read(roleName) : this.rulesOf(bound)
  }

  /** A partial index must not decide. */
  #assertOpen(): void {
    if (!this.#isOpen) throw new Error('the RBAC index is used before its bindings are read')
  }

  #find(plural: string): Resource | undefined {
    return this.#catalog.find(this.#catalog.identity.group(rbacGroup), 'v1', plural)
  }

  #read({ kind, name, namespace }: RoleName): RoleRules | undefined {
    const isClusterRole = kind === 'ClusterRole'
    if (!isClusterRole && (kind !== 'Role' || namespace === '')) return undefined
    const resource = isClusterRole ? this.#clusterRoles : this.#roles
    const object = resource && this.#store.read({ resource, namespace: isClusterRole ? '' : namespace, name })
    return resource && object && new RoleRules((object.decode(resource) as Role).rules ?? [])
  }

  /** Cached rules are valid until the role is written; a missing role until it is created. */
  #watchRoles(resource: Resource | undefined, kind: string, unwatch: (() => void)[]): void {
    if (resource === undefined) return
    const deliver = ({ object }: { readonly object: StoredObject }): void => {
      const { namespace, name } = partsOf(resource, object.key)
      const role = this.#boundRoles.get({ kind, name, namespace })
      if (role !== undefined) this.#boundRoles.evict(role)
    }
    unwatch.push(this.#store.watch({ resource, namespace: '', matches: undefined, deliver }))
  }

  async #watchBindings(resource: Resource | undefined, unwatch: (() => void)[]): Promise<void> {
    if (resource === undefined) return
    /** Keys that change during the scan; their scanned state is outdated. */
    let changed: Set<string> | undefined = new Set<string>()
    const stop = this.#store.watch({
      resource,
      namespace: '',
      matches: undefined,
      deliver: ({ type, object }) => {
        changed?.add(object.key)
        this.#applyChange(resource, object, type === 'DELETED')
      },
    })
    unwatch.push(stop)
    for (const object of this.#store.readInSteps({ resource, namespace: '', selection: everything })) {
      if (object !== undefined && !changed.has(object.key)) this.#applyChange(resource, object, false)
      await this.budget.yieldIfSpent()
    }
    changed = undefined
  }

  /** Adds the new state before removing the old one, so that the rules of the role stay cached. */
  #applyChange(resource: Resource, object: StoredObject, isDeleted: boolean): void {
    const old = this.#bindings.get(object.key)
    this.#bindings.delete(object.key)
    try {
      if (!isDeleted) this.#put(resource, object)
    } catch (error) {
      this.#logger.error({ error }, 'cannot decode a role binding; it grants nothing until it is fixed')
    }
    if (old !== undefined) this.#remove(old)
  }

  #put(resource: Resource, object: StoredObject): void {
    const binding = bindingOf(object.decode(resource) as RoleBinding, (roleName) => this.#boundRoles.acquire(roleName))
    this.#bindings.set(object.key, binding)
    this.#bindingsIn(binding).add(binding)
  }

  #remove(binding: Binding): void {
    const bindings = this.#bindingsIn(binding)
    bindings.remove(binding)
    this.#boundRoles.release(binding.role)
    if (binding.namespace !== '' && bindings.isEmpty) this.#bindingsByNamespace.delete(binding.namespace)
  }

  #bindingsIn({ namespace }: Binding): BindingsBySubject {
    return namespace === '' ? this.#clusterBindings : getOrInsert(this.#bindingsByNamespace, namespace, () => new BindingsBySubject())
  }
}

/** Longer lists of groups are deduplicated. */
const maxUncheckedGroups = 8

function* rolesOfSubject(roles: RolesOfSubject | undefined, group: string | undefined): Generator<GrantedRole, void, undefined> {
  if (roles === undefined) return
  for (const [role, bindings] of roles) yield { role, bindings, group }
}
