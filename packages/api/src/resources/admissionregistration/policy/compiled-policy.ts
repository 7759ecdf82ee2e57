// Policies and bindings prepared for matching: selectors compiled at once, expressions on first use.

import { fromSelectorObject } from '../../../api/selectors/label-selector.js'
import { getOrInsert } from '../../../base/recent-map.js'
import { compareText } from '../../../base/text-order.js'
import type { TurnBudget } from '../../../base/turn-budget.js'
import { CelCompileError, type Program } from '../../../cel/compile.js'
import { compilePolicyExpression } from '../../../cel/policy-expression.js'
import type {
  MatchResources,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  Validation,
} from '../v1alpha1.schema.js'
import type { Criteria } from './match-rules.js'

/** The turn budget of the event loop; a browser has its own. */
export type Turns = Pick<TurnBudget, 'isSpent' | 'nextTurn' | 'yieldIfSpent'>

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

  async validations(budget: Turns): Promise<readonly CompiledValidation[]> {
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

/** Sorted by name, so that the reported denial is deterministic. */
export function bindPolicies(policies: readonly CompiledPolicy[], bindings: readonly CompiledBinding[]): readonly BoundPolicy[] {
  const byPolicy = new Map<string, CompiledBinding[]>()
  for (const binding of [...bindings].sort((a, b) => compareText(a.name, b.name)))
    getOrInsert(byPolicy, binding.policyName, () => []).push(binding)
  return [...policies].sort((a, b) => compareText(a.name, b.name)).map((policy) => ({ policy, bindings: byPolicy.get(policy.name) ?? [] }))
}
