// Defaults of ValidatingAdmissionPolicies and their bindings.

import { mapItems, withChanged, withMissing } from '../../core/pod-spec/visit-containers.js'
import type { RuleWithOperations } from '../v1.schema.js'
import type {
  MatchResources,
  NamedRuleWithOperations,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicySpec,
} from '../v1alpha1.schema.js'

export const withScope = <T extends RuleWithOperations>(rule: T): T => withMissing<RuleWithOperations>(rule, { scope: '*' }) as T

function withMatchDefaults(match: MatchResources): MatchResources {
  const complete = withMissing(match, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} })
  const withRuleScopes = (rules: readonly NamedRuleWithOperations[]): readonly NamedRuleWithOperations[] => mapItems(rules, withScope)
  return withChanged(withChanged(complete, 'resourceRules', withRuleScopes), 'excludeResourceRules', withRuleScopes)
}

const withSpecDefaults = (spec: ValidatingAdmissionPolicySpec): ValidatingAdmissionPolicySpec =>
  withChanged(withMissing(spec, { failurePolicy: 'Fail' }), 'matchConstraints', withMatchDefaults)

export const withPolicyDefaults = (policy: ValidatingAdmissionPolicy): ValidatingAdmissionPolicy =>
  withChanged(withMissing(policy, { spec: {} }), 'spec', withSpecDefaults)

export const withBindingDefaults = (binding: ValidatingAdmissionPolicyBinding): ValidatingAdmissionPolicyBinding =>
  withChanged(binding, 'spec', (spec) => withChanged(spec, 'matchResources', withMatchDefaults))
