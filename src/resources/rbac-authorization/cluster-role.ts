// Roles of the whole cluster: what may be done anywhere. One with an aggregation rule collects the rules of others.

import { defineResource } from '../../api/definition.js'
import { type FieldError, invalid, required } from '../../api/field-error.js'
import { checkEach, checkPart, joined } from '../../api/validation/collect.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { validatePolicyRule } from './policy-rules.js'
import { type AggregationRule, type ClusterRole, clusterRole as schema } from './v1.schema.js'

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
    checkPart(aggregationRule, 'aggregationRule', validateAggregation),
  )

export const clusterRole = defineResource<ClusterRole>({
  group: { stem: 'rbac.authorization' },
  kind: 'ClusterRole',
  resource: 'clusterroles',
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  validate,
  checks: { update: ['metadata', 'own', 'metadata', 'own', 'metadataChange'] },
  createOnUpdate: true,
})
