// The roles that bindings name, each once however many name it: with its rules once they were read, or the knowledge that it is not there.

import { getOrInsert } from '../../base/get-or-insert.js'
import type { RoleRules } from './role-rules.js'

export interface RoleName {
  readonly kind: string
  readonly name: string
  /** Empty for roles of the cluster. */
  readonly namespace: string
}

/** A role that is read in steps: whoever wants it goes on where the one before has stopped. */
export class Reading {
  readonly #work: Generator<undefined, RoleRules | undefined, undefined>
  isDone = false
  #rules: RoleRules | undefined
  #problem: { readonly thrown: unknown } | undefined

  constructor(work: Generator<undefined, RoleRules | undefined, undefined>) {
    this.#work = work
  }

  step(): void {
    try {
      const { done, value } = this.#work.next()
      this.isDone = done === true
      if (done === true) this.#rules = value
    } catch (thrown) {
      this.isDone = true
      this.#problem = { thrown }
    }
  }

  /** Throws for everybody who waited for it what was thrown. */
  get rules(): RoleRules | undefined {
    if (this.#problem !== undefined) throw this.#problem.thrown
    return this.#rules
  }
}

export class BoundRole implements RoleName {
  readonly kind: string
  readonly name: string
  readonly namespace: string
  /** How many bindings name it. */
  bindings = 0
  /** Whether `rules` is what the store has. */
  isKnown = false
  /** Undefined: there is no such role, if it is known. */
  rules: RoleRules | undefined
  /** Its rules are being read, in steps. */
  reading: Reading | undefined
  /** The number of the last decision that has looked at it: no second look is needed for the same one. */
  seenBy = 0

  constructor({ kind, name, namespace }: RoleName) {
    this.kind = kind
    this.name = name
    this.namespace = namespace
  }
}

/** Rules and words of all roles together, of about 60 bytes each. */
const mostKept = 2_000_000

/** There are no more of them than bindings: what nobody is bound to is not kept. */
export class BoundRoles {
  /** Those whose rules are kept, in the order in which they were read. */
  readonly #kept = new Set<BoundRole>()
  readonly #mostKept: number
  #weight = 0
  readonly #cluster = new Map<string, BoundRole>()
  readonly #byNamespace = new Map<string, Map<string, BoundRole>>()

  constructor(most = mostKept) {
    this.#mostKept = most
  }

  /** What was read of a role: holds until it is forgotten. Where all that is kept is too much, what was read first is forgotten. */
  keep(role: BoundRole, rules: RoleRules | undefined): void {
    this.forget(role)
    role.rules = rules
    role.isKnown = true
    if (rules === undefined) return
    this.#kept.add(role)
    this.#weight += rules.weight
    for (const other of this.#kept) {
      if (this.#weight <= this.#mostKept || other === role) return
      this.forget(other)
    }
  }

  forget(role: BoundRole): void {
    if (this.#kept.delete(role)) this.#weight -= role.rules?.weight ?? 0
    role.isKnown = false
    role.rules = undefined
    role.reading = undefined
  }

  get({ kind, name, namespace }: RoleName): BoundRole | undefined {
    return (kind === 'ClusterRole' ? this.#cluster : kind === 'Role' ? this.#byNamespace.get(namespace) : undefined)?.get(name)
  }

  /** For one binding more. */
  take(named: RoleName): BoundRole {
    const role = this.get(named) ?? this.#make(named)
    role.bindings += 1
    return role
  }

  /** For one binding less. */
  giveBack(role: BoundRole): void {
    role.bindings -= 1
    if (role.bindings > 0) return
    this.forget(role)
    if (this.get(role) !== role) return
    if (role.kind === 'ClusterRole') {
      this.#cluster.delete(role.name)
      return
    }
    const others = this.#byNamespace.get(role.namespace)
    others?.delete(role.name)
    if (others?.size === 0) this.#byNamespace.delete(role.namespace)
  }

  #make(named: RoleName): BoundRole {
    const role = new BoundRole(named)
    if (role.kind === 'ClusterRole') this.#cluster.set(role.name, role)
    else if (role.kind === 'Role') getOrInsert(this.#byNamespace, role.namespace, () => new Map()).set(role.name, role)
    return role
  }
}
