// Which requests a policy is about, in the policy itself and again, narrower, in its bindings.

import { changedItems } from '../../api/changed-items.js'
import { duplicate, type FieldError, notSupported, required } from '../../api/field-error.js'
import { checkEach, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { validateOperationRule, withScope } from './operation-rules.js'
import type { MatchResources, NamedRuleWithOperations } from './v1alpha1.schema.js'
import { matchPolicies } from './webhook-rules.js'

/** Without selectors everything is selected, and equivalent versions of a resource count as the same. */
export function withMatchDefaults(match: MatchResources): MatchResources {
  const complete = withMissing(match, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} })
  const scoped = (rules: readonly NamedRuleWithOperations[]): readonly NamedRuleWithOperations[] => changedItems(rules, withScope)
  return withChanged(withChanged(complete, 'resourceRules', scoped), 'excludeResourceRules', scoped)
}

export const validateMatchResources = (match: MatchResources, field: string): readonly FieldError[] =>
  joined(
    validateMatchPolicy(match.matchPolicy, `${field}.matchPolicy`),
    validateLabelSelector(match.namespaceSelector, `${field}.namespaceSelector`),
    validateLabelSelector(match.objectSelector, `${field}.objectSelector`),
    checkEach(match.resourceRules, `${field}.resourceRules`, validateNamedRule),
    checkEach(match.excludeResourceRules, `${field}.excludeResourceRules`, validateNamedRule),
  )

function validateMatchPolicy(policy: string | undefined, field: string): readonly FieldError[] {
  if (policy === undefined) return [required(field)]
  return matchPolicies.includes(policy) ? noErrors : [notSupported(field, policy, matchPolicies)]
}

function validateNamedRule(rule: NamedRuleWithOperations, field: string): readonly FieldError[] {
  const seen = new Set<string>()
  const names = checkEach(rule.resourceNames, `${field}.resourceNames`, (name, at) => {
    const errors = checkText(name, at, (text) => pathSegmentProblems(text, false))
    const isSecond = seen.has(name)
    seen.add(name)
    return isSecond ? [...errors, duplicate(at, name)] : errors
  })
  return joined(names, validateOperationRule(rule, field))
}
