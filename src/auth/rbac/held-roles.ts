// What somebody holds, gone through in short steps: whether one of their roles allows something, and the rules of all of them.

import type { Identity } from '../../api/identity.js'
import type { User } from '../../api/user.js'
import { rbacGroup } from '../../resources/rbac-authorization/binding-rules.js'
import type { PolicyRule } from '../../resources/rbac-authorization/v1.schema.js'
import { aggregateSome } from '../problems.js'
import { type Binding, firstOf } from './bindings.js'
import type { BoundRole } from './bound-role.js'
import type { RbacIndex } from './rbac-index.js'
import type { Asked } from './role-rules.js'

/** Whose rights are meant, and where. */
export interface Holder {
  readonly identity: Identity
  readonly user: User
  readonly namespace: string
}

/** Of more missing roles it is only told how many there are: a name may have 253 letters, and there is one for each binding. */
const mostNamed = 8

/** Roles that bindings name and that are not there. */
export class MissingRoles {
  readonly #identity: Identity
  readonly #named: string[] = []
  readonly #seen = new Set<BoundRole>()

  constructor(identity: Identity) {
    this.#identity = identity
  }

  /** In the singular, unlike what is said of a role that somebody reads. */
  add(role: BoundRole): void {
    const { kind, name } = role
    if (this.#named.length < mostNamed && !this.#seen.has(role))
      this.#named.push(`${kind.toLowerCase()}.${this.#identity.group(rbacGroup)} ${JSON.stringify(name)} not found`)
    this.#seen.add(role)
  }

  get problem(): string {
    return aggregateSome(this.#named, this.#seen.size - this.#named.length)
  }
}

export interface Finding {
  /** The binding that allows it, and the group by which it counts, if it is by one; undefined: none. */
  readonly by: { readonly binding: Binding; readonly group: string | undefined } | undefined
  readonly missing: MissingRoles
}

export function* findAllowing(index: RbacIndex, holder: Holder, asked: Asked): Generator<undefined, Finding, undefined> {
  const missing = new MissingRoles(holder.identity)
  for (const held of index.walk(holder.user, holder.namespace)) {
    if (held !== undefined) {
      const rules = yield* index.rulesInSteps(held.role)
      if (rules === undefined) missing.add(held.role)
      else if (yield* rules.allowsInSteps(asked)) {
        // Whose last binding was deleted meanwhile, it gives nothing any more.
        const bindings = held.roles.get(held.role)
        if (bindings !== undefined) return { by: { binding: firstOf(bindings), group: held.group }, missing }
      }
    }
    yield
  }
  return { by: undefined, missing }
}

export interface HeldRules {
  readonly rules: readonly PolicyRule[]
  /** Which roles are missing; empty: none. */
  readonly problem: string
  /** Whether there are more than were wanted. */
  readonly isCut: boolean
}

/** Everything that somebody may do in a namespace, up to the rule that `isEnough` says is too much. `walk`: those of the index. */
export function* heldRules(
  index: RbacIndex,
  holder: Holder,
  { walk, isEnough }: { readonly walk: 'walk' | 'walkBindings'; readonly isEnough: (rule: PolicyRule) => boolean },
): Generator<undefined, HeldRules, undefined> {
  const rules: PolicyRule[] = []
  const missing = new MissingRoles(holder.identity)
  for (const held of index[walk](holder.user, holder.namespace)) {
    const found = held && (yield* index.rulesInSteps(held.role))
    if (found === undefined && held !== undefined) missing.add(held.role)
    for (const rule of found?.rules ?? []) {
      if (isEnough(rule)) return { rules, problem: missing.problem, isCut: true }
      rules.push(rule)
      if (rules.length % rulesPerStep === 0) yield
    }
    yield
  }
  return { rules, problem: missing.problem, isCut: false }
}

const rulesPerStep = 100
