// Policies and bindings prepared for matching: selectors compiled at once, expressions on first use.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { CelCompileError, type Program } from '@cluster-apiserver/api/cel/compile.js'
import { compilePolicyExpression } from '@cluster-apiserver/api/cel/policy-expression.js'
import type {
  MatchResources,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  Validation,
} from '@cluster-apiserver/api/resources/admissionregistration/v1alpha1.schema.js'
import { everything } from '../../objects/list/selection.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { Criteria } from '../matching/match-request.js'
import type { PolicyCounters } from './policy-counters.js'

export interface CompiledValidation {
  readonly validation: Validation
  /** Undefined if the expression does not compile. */
  readonly program: Program | undefined
  readonly problem: string
}

export class CompiledPolicy {
  readonly name: string
  readonly criteria: Criteria
  readonly paramKind: ParamKind | undefined
  readonly shouldIgnoreFailure: boolean
  /** The stored policy, which worker threads compile again. */
  readonly source: ValidatingAdmissionPolicy
  readonly #validations: readonly Validation[]
  readonly #compiled: CompiledValidation[] = []
  readonly #variableUse = new Map<string, boolean>()

  constructor(source: ValidatingAdmissionPolicy) {
    const { metadata, spec = {} } = source
    this.source = source
    this.name = metadata?.name ?? ''
    this.criteria = criteriaOf(spec.matchConstraints ?? {})
    this.paramKind = spec.paramKind
    this.shouldIgnoreFailure = spec.failurePolicy === 'Ignore'
    this.#validations = spec.validations ?? []
  }

  async validations(budget: TurnBudget): Promise<readonly CompiledValidation[]> {
    const compiled = this.#compiled
    for (let i = compiled.length; i < this.#validations.length; i = compiled.length) {
      compiled.push(compile(this.#validations[i] ?? {}, this.paramKind !== undefined))
      await budget.yieldIfSpent()
    }
    return compiled
  }

  usesVariable(name: string): boolean {
    return getOrInsert(this.#variableUse, name, () => this.#compiled.some(({ program }) => program?.mentions(name)))
  }
}

function compile(validation: Validation, hasParams: boolean): CompiledValidation {
  try {
    return { validation, program: compilePolicyExpression(validation.expression ?? '', hasParams), problem: '' }
  } catch (thrown) {
    if (!(thrown instanceof CelCompileError)) throw thrown
    return { validation, program: undefined, problem: thrown.message }
  }
}

export class CompiledBinding {
  readonly name: string
  readonly policyName: string
  /** Undefined: everything that the policy matches. */
  readonly criteria: Criteria | undefined
  readonly paramRef: ParamRef | undefined

  constructor({ metadata, spec = {} }: ValidatingAdmissionPolicyBinding) {
    this.name = metadata?.name ?? ''
    this.policyName = spec.policyName ?? ''
    this.criteria = spec.matchResources === undefined ? undefined : criteriaOf(spec.matchResources)
    this.paramRef = spec.paramRef
  }
}

const criteriaOf = (match: MatchResources): Criteria => ({
  rules: match.resourceRules?.length ? match.resourceRules : undefined,
  excluded: match.excludeResourceRules ?? [],
  isEquivalent: match.matchPolicy === 'Equivalent',
  namespaces: fromSelectorObject(match.namespaceSelector),
  objects: fromSelectorObject(match.objectSelector),
})

export interface BoundPolicy {
  readonly policy: CompiledPolicy
  readonly bindings: readonly CompiledBinding[]
}

export interface PolicySource {
  readonly store: ObjectStore
  readonly policies: Resource
  readonly bindings: Resource
  readonly counters: PolicyCounters
}

/** Sorted by name, so that the reported denial is deterministic. */
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
    boundPolicies ??= join([...compiledPolicies.values()], [...compiledBindings.values()])
    return boundPolicies
  }
}

function join(policies: readonly CompiledPolicy[], bindings: readonly CompiledBinding[]): readonly BoundPolicy[] {
  const byPolicy = new Map<string, CompiledBinding[]>()
  for (const binding of [...bindings].sort((a, b) => compareText(a.name, b.name)))
    getOrInsert(byPolicy, binding.policyName, () => []).push(binding)
  return [...policies].sort((a, b) => compareText(a.name, b.name)).map((policy) => ({ policy, bindings: byPolicy.get(policy.name) ?? [] }))
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
