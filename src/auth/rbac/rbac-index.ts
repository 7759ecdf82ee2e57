// What RBAC knows of roles and bindings: bindings by subject, kept true by every change as it is committed, so that a write counts for the next
// request; and the rules of roles, read from the store when they are first asked for and dropped when they change.

import type { Catalog, Resource } from '../../api/catalog.js'
import type { User } from '../../api/user.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { fieldsInSteps, mostReadAtOnce } from '../../objects/fields-in-steps.js'
import { partsOf } from '../../objects/keys.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'
import type { StoredObject } from '../../objects/stored-object.js'
import { rbacGroup } from '../../resources/rbac-authorization/binding-rules.js'
import type { Role, RoleBinding } from '../../resources/rbac-authorization/v1.schema.js'
import { type Binding, BindingsBySubject, bindingOf, type RolesOfSubject } from './bindings.js'
import { type BoundRole, BoundRoles, Reading, type RoleName } from './bound-role.js'
import { RoleRules } from './role-rules.js'

/** Sees a role, the map in which its bindings are, and the group by which they count for the user, if it is by one; says whether it wants to see more. */
type Visitor = (role: BoundRole, roles: RolesOfSubject, group: string | undefined) => boolean

/** The same, for those who see one after the other. What `roles` has of it may have changed, or gone, after a pause. */
export interface HeldRole {
  readonly role: BoundRole
  readonly roles: RolesOfSubject
  readonly group: string | undefined
}

interface HeldBySubject {
  readonly roles: RolesOfSubject
  readonly group: string | undefined
}

/** Of more groups, those that stand there twice are looked for. */
const fewGroups = 8

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
  readonly #bound = new BoundRoles()
  #decisions = 0
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
    this.#followRoles(this.#roles, 'Role')
    this.#followRoles(this.#clusterRoles, 'ClusterRole')
    this.#followBindings(this.#find('rolebindings'))
    this.#followBindings(this.#find('clusterrolebindings'))
  }

  /** A number for a decision that is made in one go, which marks the roles that it has seen with it. */
  nextDecision(): number {
    this.#decisions += 1
    return this.#decisions
  }

  /**
   * The roles that somebody has in a namespace, those of the cluster first; one that is had in several ways comes several times. Ends when `visit`
   * has seen enough and says false.
   */
  visit(user: User, namespace: string, visit: Visitor): void {
    if (!this.#isOpen) this.open()
    if (!visitOf(this.#cluster, user, visit) || namespace === '') return
    const bindings = this.#byNamespace.get(namespace)
    if (bindings !== undefined) visitOf(bindings, user, visit)
  }

  /** The same for a walk with pauses, each role once. Undefined stands where others may have a turn. */
  *walk(user: User, namespace: string): Generator<HeldRole | undefined, void, undefined> {
    const seen = new Set<BoundRole>()
    for (const { roles, group } of this.#heldIn(user, namespace)) {
      for (const role of roles.keys()) {
        yield seen.has(role) ? undefined : { role, roles, group }
        seen.add(role)
      }
    }
  }

  /** Each binding once, so that a role comes as often as it is given. */
  *walkBindings(user: User, namespace: string): Generator<HeldRole | undefined, void, undefined> {
    const seen = new Set<Binding>()
    for (const { roles, group } of this.#heldIn(user, namespace)) {
      for (const [role, bindings] of roles) {
        for (const binding of bindings instanceof Set ? bindings : [bindings]) {
          yield seen.has(binding) ? undefined : { role, roles, group }
          seen.add(binding)
        }
      }
    }
  }

  /** Whether it is known what a role allows: one that is bound and read quickly is read for it. */
  isKnown(role: BoundRole): boolean {
    if (role.isKnown) return true
    const found = this.#stored(role)
    if (isHeavy(found)) return false
    this.#bound.keep(role, found && rulesOf(found))
    return true
  }

  /** In short steps, where it takes long. Undefined: there is no such role. */
  *rulesInSteps(role: BoundRole): Generator<undefined, RoleRules | undefined, undefined> {
    if (role.isKnown) return role.rules
    // Of one that no binding names any more nobody would be told that it has changed.
    if (role.bindings === 0) return yield* this.#readInSteps(role)
    if (this.isKnown(role)) return role.rules
    role.reading ??= new Reading(this.#readInSteps(role))
    const { reading } = role
    while (!reading.isDone) {
      reading.step()
      yield
    }
    // One that was written or is bound no more since is read anew by the next who asks.
    const isCurrent = role.reading === reading
    if (isCurrent) role.reading = undefined
    const { rules } = reading
    if (isCurrent) this.#bound.keep(role, rules)
    return rules
  }

  /** The same of a role that perhaps nobody is bound to. */
  *rulesNamed(named: RoleName): Generator<undefined, RoleRules | undefined, undefined> {
    if (!this.#isOpen) this.open()
    const bound = this.#bound.get(named)
    return yield* bound === undefined ? this.#readInSteps(named) : this.rulesInSteps(bound)
  }

  /** What a user and each of their groups hold, that of the cluster first. */
  *#heldIn({ name, groups }: User, namespace: string): Generator<HeldBySubject, void, undefined> {
    if (!this.#isOpen) this.open()
    const distinct = new Set(groups)
    for (const bindings of [this.#cluster, namespace === '' ? undefined : this.#byNamespace.get(namespace)]) {
      const own = bindings?.ofUser(name)
      if (own !== undefined) yield { roles: own, group: undefined }
      for (const group of distinct) {
        const roles = bindings?.ofGroup(group)
        if (roles !== undefined) yield { roles, group }
      }
    }
  }

  #find(plural: string): Resource | undefined {
    return this.#catalog.find(this.#catalog.identity.group(rbacGroup), 'v1', plural)
  }

  #stored({ kind, name, namespace }: RoleName): StoredRole | undefined {
    const isOfCluster = kind === 'ClusterRole'
    if (!isOfCluster && (kind !== 'Role' || namespace === '')) return undefined
    const resource = isOfCluster ? this.#clusterRoles : this.#roles
    const object = resource && this.#store.read({ resource, namespace: isOfCluster ? '' : namespace, name })
    return resource && object && { object, resource }
  }

  *#readInSteps(named: RoleName): Generator<undefined, RoleRules | undefined, undefined> {
    const found = this.#stored(named)
    if (found === undefined || !isHeavy(found)) return found && rulesOf(found)
    const role = (yield* fieldsInSteps(found.object, found.resource)) as Role | undefined
    return role === undefined ? rulesOf(found) : new RoleRules(role.rules ?? [])
  }

  /** What was read of a role holds until it is written, and that there is none until it is made. */
  #followRoles(resource: Resource | undefined, kind: string): void {
    if (resource === undefined) return
    const deliver = ({ object }: { readonly object: StoredObject }): void => {
      const { namespace, name } = partsOf(resource, object.key)
      const role = this.#bound.get({ kind, name, namespace })
      if (role !== undefined) this.#bound.forget(role)
    }
    this.#store.watch({ resource, namespace: '', matches: undefined, deliver })
  }

  #followBindings(resource: Resource | undefined): void {
    if (resource === undefined) return
    const put = (object: StoredObject): void => {
      const binding = bindingOf(object.decode(resource) as RoleBinding, (named) => this.#bound.take(named))
      this.#bindings.set(object.key, binding)
      this.#of(binding).add(binding)
    }
    this.#store.watch({
      resource,
      namespace: '',
      matches: undefined,
      deliver: ({ type, object }) => {
        // What replaces it comes first: a walk that pauses meanwhile must not find nothing, and its role stays known.
        const old = this.#bindings.get(object.key)
        this.#bindings.delete(object.key)
        try {
          if (type !== 'DELETED') put(object)
        } finally {
          // What cannot be read gives nobody anything.
          if (old !== undefined) this.#remove(old)
        }
      },
    })
    for (const object of this.#store.look({ resource, namespace: '', selection: everything })) if (object !== undefined) put(object)
  }

  #remove(binding: Binding): void {
    const bindings = this.#of(binding)
    bindings.remove(binding)
    this.#bound.giveBack(binding.role)
    if (binding.namespace !== '' && bindings.isEmpty) this.#byNamespace.delete(binding.namespace)
  }

  #of({ namespace }: Binding): BindingsBySubject {
    return namespace === '' ? this.#cluster : getOrInsert(this.#byNamespace, namespace, () => new BindingsBySubject())
  }
}

interface StoredRole {
  readonly object: StoredObject
  readonly resource: Resource
}

const isHeavy = (found: StoredRole | undefined): boolean => (found?.object.entry.value.length ?? 0) > mostReadAtOnce
const rulesOf = ({ object, resource }: StoredRole): RoleRules => new RoleRules((object.decode(resource) as Role).rules ?? [])

function visitOf(bindings: BindingsBySubject, { name, groups }: User, visit: Visitor): boolean {
  if (!visitAll(bindings.ofUser(name), undefined, visit)) return false
  for (const group of groups.length > fewGroups ? new Set(groups) : groups)
    if (!visitAll(bindings.ofGroup(group), group, visit)) return false
  return true
}

function visitAll(roles: RolesOfSubject | undefined, group: string | undefined, visit: Visitor): boolean {
  if (roles === undefined) return true
  for (const role of roles.keys()) if (!visit(role, roles, group)) return false
  return true
}
