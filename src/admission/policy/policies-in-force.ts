// Policies with their bindings, as the store has them now: read once, kept true by what is written, compiled when they are first asked.

import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { compareText } from '../../base/text-order.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../resources/admissionregistration/v1alpha1.schema.js'
import { CompiledBinding, CompiledPolicy } from './compiled-policy.js'
import type { PolicyTallies } from './policy-tallies.js'

export interface BoundPolicy {
  readonly policy: CompiledPolicy
  /** In the order of their names. */
  readonly bindings: readonly CompiledBinding[]
}

export interface PolicySource {
  readonly store: ObjectStore
  readonly policies: Resource
  readonly bindings: Resource
  readonly tallies: PolicyTallies
}

/** In the order of their names: which of several refusals a client is told of does not depend on luck. */
export function policiesInForce({ store, policies, bindings, tallies }: PolicySource): () => readonly BoundPolicy[] {
  let joined: readonly BoundPolicy[] | undefined
  const changed = (): void => {
    joined = undefined
  }
  const known = keep(store, policies, {
    make: (object) => {
      tallies.definitions++
      return new CompiledPolicy(object as ValidatingAdmissionPolicy)
    },
    remake: (object) => new CompiledPolicy(object as ValidatingAdmissionPolicy),
    gone: ({ name }) => tallies.forget(name),
    changed,
  })
  const make = (object: ApiObject): CompiledBinding => new CompiledBinding(object as ValidatingAdmissionPolicyBinding)
  const bound = keep(store, bindings, { make, remake: make, gone: () => undefined, changed })
  return () => {
    joined ??= join([...known.values()], [...bound.values()])
    return joined
  }
}

function join(policies: readonly CompiledPolicy[], bindings: readonly CompiledBinding[]): readonly BoundPolicy[] {
  const byPolicy = new Map<string, CompiledBinding[]>()
  for (const binding of [...bindings].sort((a, b) => compareText(a.name, b.name)))
    getOrInsert(byPolicy, binding.policyName, () => []).push(binding)
  return [...policies].sort((a, b) => compareText(a.name, b.name)).map((policy) => ({ policy, bindings: byPolicy.get(policy.name) ?? [] }))
}

interface Keeping<T> {
  readonly make: (object: ApiObject) => T
  readonly remake: (object: ApiObject) => T
  readonly gone: (before: T) => void
  readonly changed: () => void
}

/** By key. The hub tells of a change as soon as the store shows it, before the next request is looked at. */
function keep<T>(store: ObjectStore, resource: Resource, { make, remake, gone, changed }: Keeping<T>): ReadonlyMap<string, T> {
  const known = new Map<string, T>()
  store.watch({
    resource,
    namespace: '',
    matches: undefined,
    deliver: ({ type, object }) => {
      const before = known.get(object.key)
      if (type !== 'DELETED') known.set(object.key, (before === undefined ? make : remake)(object.decode(resource)))
      else if (before !== undefined) {
        known.delete(object.key)
        gone(before)
      }
      changed()
    },
  })
  for (const object of store.look({ resource, namespace: '', selection: everything }))
    if (object !== undefined) known.set(object.key, make(object.decode(resource)))
  return known
}
