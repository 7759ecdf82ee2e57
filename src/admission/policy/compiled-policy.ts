// A policy and a binding in the form in which requests are held against them: selectors read once, expressions compiled when first needed.

import { fromSelectorObject } from '../../api/label-selector.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { CelCompileError, type Program } from '../../cel/compile.js'
import { compilePolicyExpression } from '../../cel/policy.js'
import type { Pieces } from '../../cel/step.js'
import type {
  MatchResources,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  Validation,
} from '../../resources/admissionregistration/v1alpha1.schema.js'
import type { Criteria } from '../matching/match.js'

export interface CompiledValidation {
  readonly validation: Validation
  /** Undefined where it does not compile. */
  readonly program: Program | undefined
  readonly problem: string
}

export class CompiledPolicy {
  readonly name: string
  readonly criteria: Criteria
  readonly paramKind: ParamKind | undefined
  /** What cannot be evaluated does not count. */
  readonly isLenient: boolean
  /** For worker threads, which compile it themselves. */
  readonly source: ValidatingAdmissionPolicy
  readonly #validations: readonly Validation[]
  readonly #compiled: CompiledValidation[] = []
  readonly #mentioned = new Map<string, boolean>()

  constructor(source: ValidatingAdmissionPolicy) {
    const { metadata, spec = {} } = source
    this.source = source
    this.name = metadata?.name ?? ''
    this.criteria = criteriaOf(spec.matchConstraints ?? {})
    this.paramKind = spec.paramKind
    this.isLenient = spec.failurePolicy === 'Ignore'
    this.#validations = spec.validations ?? []
  }

  /** Compiled at first use; yields between two of them. */
  *validations(): Pieces<readonly CompiledValidation[]> {
    const compiled = this.#compiled
    for (let i = compiled.length; i < this.#validations.length; i = compiled.length) {
      compiled.push(compile(this.#validations[i] ?? {}, this.paramKind !== undefined))
      yield
    }
    return compiled
  }

  /** Whether one of its expressions, which are compiled, speaks of a variable. */
  mentions(name: string): boolean {
    return getOrInsert(this.#mentioned, name, () => this.#compiled.some(({ program }) => program?.mentions(name)))
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
  /** Undefined: whatever the policy is about. */
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
