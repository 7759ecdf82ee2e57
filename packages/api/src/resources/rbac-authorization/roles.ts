// Role and ClusterRole: policy rules and aggregation rules.

import { defineResource } from '../../api/definition/resource-definition.js'
import { type FieldError, invalid, required } from '../../api/field-error.js'
import { checkEach, checkOptional, joined, pathSegmentProblems } from '../../api/validation/checks.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import {
  type AggregationRule,
  type ClusterRole,
  clusterRole as clusterRoleSchema,
  type PolicyRule,
  type Role,
  role as roleSchema,
} from './v1.schema.js'

interface RuleScope {
  /** Only ClusterRoles may have nonResourceURLs. */
  readonly namespaced: boolean
}

function validatePolicyRule(rule: PolicyRule, field: string, scope: RuleScope): readonly FieldError[] {
  const errors: FieldError[] = []
  if ((rule.verbs ?? []).length === 0) errors.push(required(`${field}.verbs`, 'verbs must contain at least one value'))
  const contentErrors = (rule.nonResourceURLs ?? []).length > 0 ? validatePaths(rule, field, scope) : validateResources(rule, field)
  return [...errors, ...contentErrors]
}

function validatePaths(rule: PolicyRule, field: string, { namespaced }: RuleScope): readonly FieldError[] {
  const urlError = (problem: string): FieldError => invalid(`${field}.nonResourceURLs`, rule.nonResourceURLs, problem)
  const errors: FieldError[] = []
  if (namespaced) errors.push(urlError('namespaced rules cannot apply to non-resource URLs'))
  const isMixed = [rule.apiGroups, rule.resources, rule.resourceNames].some((list) => (list ?? []).length > 0)
  if (isMixed) errors.push(urlError('rules cannot apply to both regular resources and non-resource URLs'))
  return errors
}

function validateResources({ apiGroups = [], resources = [] }: PolicyRule, field: string): readonly FieldError[] {
  const errors: FieldError[] = []
  if (apiGroups.length === 0) errors.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'))
  if (resources.length === 0) errors.push(required(`${field}.resources`, 'resource rules must supply at least one resource'))
  return errors
}

export const role = defineResource<Role>({
  group: { stem: 'rbac.authorization' },
  kind: 'Role',
  resource: 'roles',
  namespaced: true,
  versions: [{ name: 'v1', schema: roleSchema, stored: true }],
  nameProblems: pathSegmentProblems,
  validate: ({ rules }) => checkEach(rules, 'rules', (rule, field) => validatePolicyRule(rule, field, { namespaced: true })),
  checks: { update: ['metadata', 'validate', 'metadata', 'validate', 'metadataChange'] },
  createOnUpdate: true,
})

function validateAggregation({ clusterRoleSelectors = [] }: AggregationRule, field: string): readonly FieldError[] {
  const selectors = `${field}.clusterRoleSelectors`
  if (clusterRoleSelectors.length === 0) {
    return [required(selectors, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
  }
  return checkEach(clusterRoleSelectors, selectors, (selector, at) => {
    const errors = validateLabelSelector(selector, at)
    return errors.length === 0 ? errors : [...errors, invalid(at, undefined, 'invalid label selector.')]
  })
}

const validate = ({ rules, aggregationRule }: ClusterRole): readonly FieldError[] =>
  joined(
    checkEach(rules, 'rules', (rule, field) => validatePolicyRule(rule, field, { namespaced: false })),
    checkOptional(aggregationRule, 'aggregationRule', validateAggregation),
  )

export const clusterRole = defineResource<ClusterRole>({
  group: { stem: 'rbac.authorization' },
  kind: 'ClusterRole',
  resource: 'clusterroles',
  namespaced: false,
  versions: [{ name: 'v1', schema: clusterRoleSchema, stored: true }],
  nameProblems: pathSegmentProblems,
  validate,
  checks: { update: ['metadata', 'validate', 'metadata', 'validate', 'metadataChange'] },
  createOnUpdate: true,
})
