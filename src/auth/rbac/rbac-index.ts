// What RBAC knows of roles and bindings: bindings by subject, kept true by every change as it is committed, so that a write counts for the next
// request; and the rules of roles, read from the store when they are first asked for and dropped when they change.

import type { Catalog, Resource } from '../../api/catalog.js'
import type { User } from '../../api/user.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { type Logger, silentLogger } from '../../base/logger.js'
import { atOnce, nowOrInPieces, SharedPieces } from '../../base/pieces.js'
import type { Promised } from '../../base/promised.js'
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

/** To take in, or to drop, a binding of more subjects takes milliseconds. */
const manySubjects = 500

/** Of more groups, those that stand there twice are looked for. */
const fewGroups = 8

/** Of all who ask RBAC for something: what many begin in one turn of the event loop is one piece together. */
export const rbacPieces = new SharedPieces()

/** Lives as long as the store, which tells it of changes. Nothing is read before somebody says `open`, and nobody is told anything before that is done. */
export class RbacIndex {
  readonly #store: ObjectStore
  readonly #catalog: Catalog
  readonly #logger: Logger
  readonly #roles: Resource | undefined
  readonly #clusterRoles: Resource | undefined
  #cluster = new BindingsBySubject()
  #byNamespace = new Map<string, BindingsBySubject>()
  /** By their keys in the store. */
  #bindings = new Map<string, Binding>()
  /**
   * What has not been taken in of the changes to bindings of a namespace, or of the cluster: those of bindings with very many subjects, and what came
   * behind them. Whoever decides something there takes it in first.
   */
  readonly #behind = new Map<string, Generator<undefined, void, undefined>[]>()
  #bound = new BoundRoles()
  #decisions = 0
  #isOpen = false
  #opening: Promise<void> | undefined

  constructor(store: ObjectStore, catalog: Catalog, logger: Logger = silentLogger) {
    this.#store = store
    this.#logger = logger
    this.#catalog = catalog
    this.#roles = this.#find('roles')
    this.#clusterRoles = this.#find('clusterroles')
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Reads all bindings, in pieces where there are many and once for all who ask. */
  open(): Promised<void> {
    if (this.#isOpen) return
    if (this.#opening !== undefined) return this.#opening
    const opening = nowOrInPieces(this.#openInSteps(), rbacPieces)
    if (!(opening instanceof Promise)) return
    this.#opening = opening.finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  /** One that fails leaves nothing behind, and the next who asks begins anew. */
  *#openInSteps(): Generator<undefined, void, undefined> {
    const unwatch: (() => void)[] = []
    try {
      this.#followRoles(this.#roles, 'Role', unwatch)
      this.#followRoles(this.#clusterRoles, 'ClusterRole', unwatch)
      yield* this.#followBindings(this.#find('rolebindings'), unwatch)
      yield* this.#followBindings(this.#find('clusterrolebindings'), unwatch)
      this.#isOpen = true
    } finally {
      if (!this.#isOpen) {
        for (const stop of unwatch) stop()
        // All of it: a change that was half way has left its binding in some of them only.
        this.#behind.clear()
        this.#cluster = new BindingsBySubject()
        this.#byNamespace = new Map()
        this.#bindings = new Map()
        this.#bound = new BoundRoles()
      }
    }
  }

  /** Whether a decision in this namespace has to wait for bindings, of which `walk` and `walkBindings` see to it. */
  isBehind(namespace: string): boolean {
    this.#mustBeOpen()
    return this.#behind.size > 0 && (this.#behind.has('') || this.#behind.has(namespace))
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
    this.#mustBeOpen()
    if (!visitOf(this.#cluster, user, visit) || namespace === '') return
    const bindings = this.#byNamespace.get(namespace)
    if (bindings !== undefined) visitOf(bindings, user, visit)
  }

  /** The same for a walk with pauses, each role once. Undefined stands where others may have a turn. */
  *walk(user: User, namespace: string): Generator<HeldRole | undefined, void, undefined> {
    yield* this.#catchUp(namespace)
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
    yield* this.#catchUp(namespace)
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
    this.#mustBeOpen()
    const bound = this.#bound.get(named)
    return yield* bound === undefined ? this.#readInSteps(named) : this.rulesInSteps(bound)
  }

  /** What a user and each of their groups hold, that of the cluster first. */
  *#heldIn({ name, groups }: User, namespace: string): Generator<HeldBySubject, void, undefined> {
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

  /** Of bindings that are half read nothing follows. */
  #mustBeOpen(): void {
    if (!this.#isOpen) throw new Error('RBAC was asked before its bindings were read')
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
  #followRoles(resource: Resource | undefined, kind: string, unwatch: (() => void)[]): void {
    if (resource === undefined) return
    const deliver = ({ object }: { readonly object: StoredObject }): void => {
      const { namespace, name } = partsOf(resource, object.key)
      const role = this.#bound.get({ kind, name, namespace })
      if (role !== undefined) this.#bound.forget(role)
    }
    unwatch.push(this.#store.watch({ resource, namespace: '', matches: undefined, deliver }))
  }

  *#followBindings(resource: Resource | undefined, unwatch: (() => void)[]): Generator<undefined, void, undefined> {
    if (resource === undefined) return
    /** Keys that have changed while all are read: what is read of them does not count. */
    let changed: Set<string> | undefined = new Set<string>()
    const stop = this.#store.watch({
      resource,
      namespace: '',
      matches: undefined,
      deliver: ({ type, object }) => {
        changed?.add(object.key)
        this.#take(resource, object, type === 'DELETED')
      },
    })
    unwatch.push(stop)
    for (const object of this.#store.look({ resource, namespace: '', selection: everything })) {
      if (object !== undefined && !changed.has(object.key)) this.#take(resource, object, false)
      yield
    }
    changed = undefined
  }

  /** A change to a binding: at once, unless that takes long or others wait that came before it. */
  #take(resource: Resource, object: StoredObject, isGone: boolean): void {
    const { namespace } = partsOf(resource, object.key)
    const change = this.#change(resource, object, isGone)
    const waiting = this.#behind.get(namespace)
    const isLong = (!isGone && object.size > mostReadAtOnce) || (this.#bindings.get(object.key)?.subjects.length ?? 0) > manySubjects
    if (waiting !== undefined) waiting.push(change)
    else if (!isLong) atOnce(change)
    else {
      this.#behind.set(namespace, [change])
      void nowOrInPieces(this.#catchUpIn(namespace), rbacPieces)
    }
  }

  /** What replaces a binding comes first: a walk that pauses meanwhile must not find nothing, and its role stays known. */
  *#change(resource: Resource, object: StoredObject, isGone: boolean): Generator<undefined, void, undefined> {
    const old = this.#bindings.get(object.key)
    this.#bindings.delete(object.key)
    try {
      if (!isGone) yield* this.#put(resource, object)
    } finally {
      // What cannot be read gives nobody anything.
      if (old !== undefined) yield* this.#remove(old)
    }
  }

  *#put(resource: Resource, object: StoredObject): Generator<undefined, void, undefined> {
    const fields = object.size > mostReadAtOnce ? yield* fieldsInSteps(object, resource) : undefined
    const binding = yield* bindingOf((fields ?? object.decode(resource)) as RoleBinding, (named) => this.#bound.take(named))
    this.#bindings.set(object.key, binding)
    yield* this.#of(binding).add(binding)
  }

  *#catchUp(namespace: string): Generator<undefined, void, undefined> {
    this.#mustBeOpen()
    if (this.#behind.size === 0) return
    yield* this.#catchUpIn('')
    yield* this.#catchUpIn(namespace)
  }

  /** Each who wants it goes on where the one before has stopped. */
  *#catchUpIn(namespace: string): Generator<undefined, void, undefined> {
    for (let waiting = this.#behind.get(namespace); waiting !== undefined; waiting = this.#behind.get(namespace)) {
      if (this.#isTakenIn(waiting[0])) waiting.shift()
      if (waiting.length === 0) this.#behind.delete(namespace)
      yield
    }
  }

  /** Goes on with a change; whether it is at its end. One that fails, because its binding cannot be read, has dropped what was there before. */
  #isTakenIn(change: Generator<undefined, void, undefined> | undefined): boolean {
    try {
      return change?.next().done !== false
    } catch (error) {
      this.#logger.error({ error }, 'a role binding cannot be read, and gives nobody anything')
      return true
    }
  }

  *#remove(binding: Binding): Generator<undefined, void, undefined> {
    const bindings = this.#of(binding)
    yield* bindings.remove(binding)
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
