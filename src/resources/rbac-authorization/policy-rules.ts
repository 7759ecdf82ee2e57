// The rules of a role: what each must say about the resources, or the paths, that it lets one use.

import { type FieldError, invalid, required } from '../../api/field-error.js'
import type { PolicyRule } from './v1.schema.js'

export interface RuleScope {
  /** Paths beyond resources belong to no namespace, so that only roles of the whole cluster may speak of them. */
  readonly namespaced: boolean
}

export function validatePolicyRule(rule: PolicyRule, field: string, scope: RuleScope): readonly FieldError[] {
  const errors: FieldError[] = []
  if ((rule.verbs ?? []).length === 0) errors.push(required(`${field}.verbs`, 'verbs must contain at least one value'))
  const content = (rule.nonResourceURLs ?? []).length > 0 ? validatePaths(rule, field, scope) : validateResources(rule, field)
  return [...errors, ...content]
}

function validatePaths(rule: PolicyRule, field: string, { namespaced }: RuleScope): readonly FieldError[] {
  const wrong = (problem: string): FieldError => invalid(`${field}.nonResourceURLs`, rule.nonResourceURLs, problem)
  const errors: FieldError[] = []
  if (namespaced) errors.push(wrong('namespaced rules cannot apply to non-resource URLs'))
  const isMixed = [rule.apiGroups, rule.resources, rule.resourceNames].some((list) => (list ?? []).length > 0)
  if (isMixed) errors.push(wrong('rules cannot apply to both regular resources and non-resource URLs'))
  return errors
}

function validateResources({ apiGroups = [], resources = [] }: PolicyRule, field: string): readonly FieldError[] {
  const errors: FieldError[] = []
  if (apiGroups.length === 0) errors.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'))
  if (resources.length === 0) errors.push(required(`${field}.resources`, 'resource rules must supply at least one resource'))
  return errors
}
