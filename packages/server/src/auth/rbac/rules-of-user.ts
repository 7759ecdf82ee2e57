// Rules that RBAC grants a user in a namespace, and the roles that bindings reference but that do not exist.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { rbacGroup } from '@cluster-apiserver/api/resources/rbac-authorization/role-bindings.js'
import type { PolicyRule } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import { aggregateSome } from '../authorize.js'
import type { BoundRole } from './bound-role.js'
import type { RbacIndex } from './rbac-index.js'
import { type Binding, bindingsIn } from './role-bindings.js'

export interface RuleScope {
  readonly identity: Identity
  readonly user: User
  readonly namespace: string
}

/** Further missing roles are only counted: each binding may name one of up to 253 characters. */
const maxReportedRoles = 8

export class MissingRoles {
  readonly #identity: Identity
  readonly #reported: string[] = []
  readonly #seen = new Set<BoundRole>()

  constructor(identity: Identity) {
    this.#identity = identity
  }

  add(role: BoundRole): void {
    const { kind, name } = role
    if (this.#reported.length < maxReportedRoles && !this.#seen.has(role))
      this.#reported.push(`${kind.toLowerCase()}.${this.#identity.group(rbacGroup)} ${JSON.stringify(name)} not found`)
    this.#seen.add(role)
  }

  get problem(): string {
    return aggregateSome(this.#reported, this.#seen.size - this.#reported.length)
  }
}

export interface UserRuleSet {
  readonly rules: readonly PolicyRule[]
  readonly problem: string
  readonly isTruncated: boolean
}

/** Collects the rules of each role once, or with `walk: 'bindings'` once per binding, until `shouldStop` returns true. */
export async function rulesOfUser(
  index: RbacIndex,
  { identity, user, namespace }: RuleScope,
  { walk, shouldStop }: { readonly walk: 'roles' | 'bindings'; readonly shouldStop: (rule: PolicyRule) => boolean },
): Promise<UserRuleSet> {
  await index.open()
  const rules: PolicyRule[] = []
  const missing = new MissingRoles(identity)
  const seen = new Set<BoundRole | Binding>()
  for (const { role, bindings } of index.grantedRoles(user, namespace)) {
    for (const visited of walk === 'roles' ? [role] : bindingsIn(bindings)) {
      if (seen.has(visited)) continue
      seen.add(visited)
      const found = index.rulesOf(role)
      if (found === undefined) missing.add(role)
      for (const rule of found?.rules ?? []) {
        if (shouldStop(rule)) return { rules, problem: missing.problem, isTruncated: true }
        rules.push(rule)
      }
    }
    await index.budget.yieldIfSpent()
  }
  return { rules, problem: missing.problem, isTruncated: false }
}
