// What RBAC knows of roles and bindings: bindings by subject, kept true by every change as it is committed, so that a write counts for the next
// request; and the rules of roles, read from the store when they are first asked for and dropped when they change.

import type { Catalog, Resource } from '../../api/catalog.js'
import type { User } from '../../api/user.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { partsOf } from '../../objects/keys.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'
import type { StoredObject } from '../../objects/stored-object.js'
import { rbacGroup } from '../../resources/rbac-authorization/binding-rules.js'
import type { Role, RoleBinding } from '../../resources/rbac-authorization/v1.schema.js'
import { type Binding, BindingsBySubject, bindingOf } from './bindings.js'
import { RoleRules } from './role-rules.js'

/** Sees a binding, and the group by which it counts for the user, if it is by one; says whether it wants to see more. */
type Visitor = (binding: Binding, group: string | undefined) => boolean

/** Lives as long as the store, which tells it of changes. Nothing is read before somebody asks, or says `open`. */
export class RbacIndex {
  readonly #store: ObjectStore
  readonly #catalog: Catalog
  readonly #roles: Resource | undefined
  readonly #clusterRoles: Resource | undefined
  readonly #cluster = new BindingsBySubject()
  readonly #byNamespace = new Map<string, BindingsBySubject>()
  /** By their keys in the store. */
  readonly #bindings = new Map<string, Binding>()
  /** Of roles that were asked for and are there, by namespace and name: anybody may name what is not there. */
  readonly #clusterRules = new Map<string, RoleRules>()
  readonly #rules = new Map<string, Map<string, RoleRules>>()
  #isOpen = false

  constructor(store: ObjectStore, catalog: Catalog) {
    this.#store = store
    this.#catalog = catalog
    this.#roles = this.#find('roles')
    this.#clusterRoles = this.#find('clusterroles')
  }

  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#followRoles(this.#roles, ({ namespace, name }) => {
      const known = this.#rules.get(namespace)
      known?.delete(name)
      if (known?.size === 0) this.#rules.delete(namespace)
    })
    this.#followRoles(this.#clusterRoles, ({ name }) => this.#clusterRules.delete(name))
    this.#followBindings(this.#find('rolebindings'))
    this.#followBindings(this.#find('clusterrolebindings'))
  }

  /** The bindings that count for somebody in a namespace, those of the cluster first. Ends when `visit` has seen enough and says false. */
  visit(user: User, namespace: string, visit: Visitor): void {
    if (!this.#isOpen) this.open()
    if (!visitOf(this.#cluster, user, visit) || namespace === '') return
    const bindings = this.#byNamespace.get(namespace)
    if (bindings !== undefined) visitOf(bindings, user, visit)
  }

  rulesOf({ roleKind, roleName, namespace }: Pick<Binding, 'roleKind' | 'roleName' | 'namespace'>): RoleRules | undefined {
    if (!this.#isOpen) this.open()
    if (roleKind === 'ClusterRole') {
      const known = this.#clusterRules.get(roleName)
      if (known !== undefined) return known
      const read = this.#read(this.#clusterRoles, '', roleName)
      if (read !== undefined) this.#clusterRules.set(roleName, read)
      return read
    }
    if (roleKind !== 'Role' || namespace === '') return undefined
    const known = this.#rules.get(namespace)?.get(roleName)
    if (known !== undefined) return known
    const read = this.#read(this.#roles, namespace, roleName)
    if (read !== undefined) getOrInsert(this.#rules, namespace, () => new Map()).set(roleName, read)
    return read
  }

  #find(plural: string): Resource | undefined {
    return this.#catalog.find(this.#catalog.identity.group(rbacGroup), 'v1', plural)
  }

  #read(resource: Resource | undefined, namespace: string, name: string): RoleRules | undefined {
    const stored = resource && this.#store.read({ resource, namespace, name })
    return resource && stored && new RoleRules((stored.decode(resource) as Role).rules ?? [])
  }

  #followRoles(resource: Resource | undefined, drop: (place: { readonly namespace: string; readonly name: string }) => void): void {
    if (resource === undefined) return
    this.#store.watch({ resource, namespace: '', matches: undefined, deliver: ({ object }) => drop(partsOf(resource, object.key)) })
  }

  #followBindings(resource: Resource | undefined): void {
    if (resource === undefined) return
    const put = (object: StoredObject): void => this.#put(object.key, bindingOf(object.decode(resource) as RoleBinding))
    this.#store.watch({
      resource,
      namespace: '',
      matches: undefined,
      deliver: ({ type, object }) => {
        // What cannot be read gives nobody anything.
        this.#remove(object.key)
        if (type !== 'DELETED') put(object)
      },
    })
    for (const object of this.#store.look({ resource, namespace: '', selection: everything })) if (object !== undefined) put(object)
  }

  #put(key: string, binding: Binding): void {
    this.#bindings.set(key, binding)
    this.#of(binding).add(binding)
  }

  #remove(key: string): void {
    const binding = this.#bindings.get(key)
    if (binding === undefined) return
    this.#bindings.delete(key)
    const bindings = this.#of(binding)
    bindings.remove(binding)
    if (binding.namespace === '' || !bindings.isEmpty) return
    this.#byNamespace.delete(binding.namespace)
  }

  #of({ namespace }: Binding): BindingsBySubject {
    return namespace === '' ? this.#cluster : getOrInsert(this.#byNamespace, namespace, () => new BindingsBySubject())
  }
}

function visitOf(bindings: BindingsBySubject, { name, groups }: User, visit: Visitor): boolean {
  if (!visitAll(bindings.ofUser(name), undefined, visit)) return false
  for (const group of groups) if (!visitAll(bindings.ofGroup(group), group, visit)) return false
  return true
}

function visitAll(bindings: readonly Binding[] | undefined, group: string | undefined, visit: Visitor): boolean {
  if (bindings === undefined) return true
  for (const binding of bindings) if (!visit(binding, group)) return false
  return true
}
