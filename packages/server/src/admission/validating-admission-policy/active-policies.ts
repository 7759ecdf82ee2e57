// Policies and bindings of the store, compiled when they change.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import {
  type BoundPolicy,
  bindPolicies,
  CompiledBinding,
  CompiledPolicy,
} from '@cluster-apiserver/api/resources/admissionregistration/policy/compiled-policy.js'
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@cluster-apiserver/api/resources/admissionregistration/v1alpha1.schema.js'
import { everything } from '../../objects/list/selection.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { PolicyCounters } from './policy-counters.js'

export interface PolicySource {
  readonly store: ObjectStore
  readonly policies: Resource
  readonly bindings: Resource
  readonly counters: PolicyCounters
}

export function activePolicies({ store, policies, bindings, counters }: PolicySource): () => readonly BoundPolicy[] {
  let boundPolicies: readonly BoundPolicy[] | undefined
  const onChange = (): void => {
    boundPolicies = undefined
  }
  const compiledPolicies = followObjects(store, policies, {
    onCreate: (object) => {
      counters.definitions++
      return new CompiledPolicy(object as ValidatingAdmissionPolicy)
    },
    onUpdate: (object) => new CompiledPolicy(object as ValidatingAdmissionPolicy),
    onDelete: ({ name }) => counters.forget(name),
    onChange,
  })
  const compileBinding = (object: ApiObject): CompiledBinding => new CompiledBinding(object as ValidatingAdmissionPolicyBinding)
  const compiledBindings = followObjects(store, bindings, {
    onCreate: compileBinding,
    onUpdate: compileBinding,
    onDelete: () => undefined,
    onChange,
  })
  return () => {
    boundPolicies ??= bindPolicies([...compiledPolicies.values()], [...compiledBindings.values()])
    return boundPolicies
  }
}

interface ObjectCallbacks<T> {
  readonly onCreate: (object: ApiObject) => T
  readonly onUpdate: (object: ApiObject) => T
  readonly onDelete: (before: T) => void
  readonly onChange: () => void
}

/** Updated in the commit, before the next request is served. */
function followObjects<T>(
  store: ObjectStore,
  resource: Resource,
  { onCreate, onUpdate, onDelete, onChange }: ObjectCallbacks<T>,
): ReadonlyMap<string, T> {
  const known = new Map<string, T>()
  store.watch({
    resource,
    namespace: '',
    matches: undefined,
    deliver: ({ type, object }) => {
      const before = known.get(object.key)
      if (type !== 'DELETED') known.set(object.key, (before === undefined ? onCreate : onUpdate)(object.decode(resource)))
      else if (before !== undefined) {
        known.delete(object.key)
        onDelete(before)
      }
      onChange()
    },
  })
  for (const object of store.readInSteps({ resource, namespace: '', selection: everything }))
    if (object !== undefined) known.set(object.key, onCreate(object.decode(resource)))
  return known
}
