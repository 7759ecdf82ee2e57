// PodDisruptionBudget: bounds, selector, generation, status, printer columns.

import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, invalid } from '../../api/field-error.js'
import { checkOptional, checkOptionalChoice, dnsSubdomainProblems, joined, noErrors } from '../../api/validation/checks.js'
import { validateConditions } from '../../api/validation/conditions.js'
import { checkAtMost100Percent, checkIntOrPercent } from '../../api/validation/int-or-percent.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { checkCounts } from '../core/workload/workload.js'
import { ageColumn, countColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { statusSubresource, withFirstGeneration, withKeptStatus } from '../status-subresource.js'
import {
  type PodDisruptionBudget,
  type PodDisruptionBudgetSpec,
  podDisruptionBudget as schema,
  podDisruptionBudgetSpec as specSchema,
} from './v1.schema.js'

const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget']

const checkShare = (share: number | string, field: string): readonly FieldError[] =>
  joined(checkIntOrPercent(share, field), checkAtMost100Percent(share, field))

function validate({ spec = {} }: PodDisruptionBudget): readonly FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec
  return joined(
    minAvailable !== undefined && maxUnavailable !== undefined
      ? [invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set')]
      : noErrors,
    checkOptional(minAvailable, 'spec.minAvailable', checkShare),
    checkOptional(maxUnavailable, 'spec.maxUnavailable', checkShare),
    validateLabelSelector(selector, 'spec.selector'),
    checkOptionalChoice(unhealthyPodEvictionPolicy, 'spec.unhealthyPodEvictionPolicy', evictionPolicies),
  )
}

/** Drops the requirement that v1beta1 added to empty selectors, if the selector has other requirements. */
function withoutEmptySelectorLabel(budget: PodDisruptionBudget, { identity }: RuleContext): PodDisruptionBudget {
  const { selector } = budget.spec ?? {}
  const requirements = selector?.matchExpressions
  if (requirements === undefined) return budget
  const emptySelectorLabel = identity.label('deprecated-v1beta1-empty-selector-match', 'pdb')
  const others = requirements.filter(({ key }) => key !== emptySelectorLabel)
  if (others.length === requirements.length || isSingleRequirement(selector)) return budget
  const { matchExpressions: _, ...rest } = selector ?? {}
  return { ...budget, spec: { ...budget.spec, selector: others.length === 0 ? rest : { ...rest, matchExpressions: others } } }
}

const isSingleRequirement = ({
  matchLabels = {},
  matchExpressions = [],
}: NonNullable<PodDisruptionBudgetSpec['selector']> = {}): boolean => {
  const [first] = matchExpressions
  return (
    Object.keys(matchLabels).length === 0 &&
    matchExpressions.length === 1 &&
    (first?.operator === 'Exists' || first?.operator === 'DoesNotExist') &&
    (first.values ?? []).length === 0
  )
}

function withoutGated(budget: PodDisruptionBudget, old: PodDisruptionBudget | undefined, { gates }: RuleContext): PodDisruptionBudget {
  if (gates('PDBUnhealthyPodEvictionPolicy') || old?.spec?.unhealthyPodEvictionPolicy !== undefined) return budget
  const { unhealthyPodEvictionPolicy: _, ...spec } = budget.spec ?? {}
  return { ...budget, spec }
}

const validateStatus = ({ status = {} }: PodDisruptionBudget): readonly FieldError[] =>
  joined(
    validateConditions(status.conditions, 'status.conditions'),
    checkCounts(status, ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']),
  )

const notSet = 'N/A'

export const podDisruptionBudget = defineResource<PodDisruptionBudget>({
  group: 'policy',
  kind: 'PodDisruptionBudget',
  resource: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  hashedVersion: 'v1beta1',
  nameProblems: dnsSubdomainProblems,
  defaults: withoutEmptySelectorLabel,
  prepareCreate: (object, context) => withFirstGeneration(withoutGated(object, undefined, context)),
  prepareUpdate: (next, old, context) => withoutGated(withKeptStatus(next, old, specSchema), old, context),
  validate,
  checks: { create: ['validate'], update: ['validate'] },
  versionRequiredOnUpdate: true,
  resetFields: ['status'],
  subresources: [statusSubresource<PodDisruptionBudget>({ validateUpdate: validateStatus })],
  table: tableOf<PodDisruptionBudget>(
    nameColumn,
    textColumn('Min Available', 'Minimum number of available pods.', ({ spec }) => `${spec?.minAvailable ?? notSet}`),
    textColumn('Max Unavailable', 'Maximum number of unavailable pods.', ({ spec }) => `${spec?.maxUnavailable ?? notSet}`),
    countColumn('Allowed Disruptions', 'Number of pods that may be evicted now.', ({ status }) => status?.disruptionsAllowed ?? 0),
    ageColumn,
  ),
})
