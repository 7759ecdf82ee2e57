// Disruption budgets: how many pods of a workload may be missing at a time by somebody's will.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { type FieldError, invalid } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkOptionalChoice, checkPart, joined } from '../../api/validation/collect.js'
import { validateConditions } from '../../api/validation/conditions.js'
import { noErrors } from '../../api/validation/fields.js'
import { checkAtMostAll, checkIntOrPercent } from '../../api/validation/int-or-percent.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { withFirstGeneration, withKeptSpec, withKeptStatus } from '../core/generation.js'
import { checkCounts } from '../core/replica-counts.js'
import { countColumn } from '../core/workload-columns.js'
import {
  type PodDisruptionBudget,
  type PodDisruptionBudgetSpec,
  podDisruptionBudget as schema,
  podDisruptionBudgetSpec as specSchema,
} from './v1.schema.js'

const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget']

const checkShare = (share: number | string, field: string): readonly FieldError[] =>
  joined(checkIntOrPercent(share, field), checkAtMostAll(share, field))

function validate({ spec = {} }: PodDisruptionBudget): readonly FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec
  return joined(
    minAvailable !== undefined && maxUnavailable !== undefined
      ? [invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set')]
      : noErrors,
    checkPart(minAvailable, 'spec.minAvailable', checkShare),
    checkPart(maxUnavailable, 'spec.maxUnavailable', checkShare),
    validateLabelSelector(selector, 'spec.selector'),
    checkOptionalChoice(unhealthyPodEvictionPolicy, 'spec.unhealthyPodEvictionPolicy', evictionPolicies),
  )
}

/**
 * A label that an older version needed for its empty selector, which chose no pod. By itself it says "all" or "none"; beside other
 * requirements it would mean something else, and is left out.
 */
function withoutMarker(budget: PodDisruptionBudget, { identity }: RuleContext): PodDisruptionBudget {
  const { selector } = budget.spec ?? {}
  const requirements = selector?.matchExpressions
  if (requirements === undefined) return budget
  const marker = identity.label('deprecated-v1beta1-empty-selector-match', 'pdb')
  const others = requirements.filter(({ key }) => key !== marker)
  if (others.length === requirements.length || isMarkerAlone(selector)) return budget
  const { matchExpressions: _, ...rest } = selector ?? {}
  return { ...budget, spec: { ...budget.spec, selector: others.length === 0 ? rest : { ...rest, matchExpressions: others } } }
}

const isMarkerAlone = ({ matchLabels = {}, matchExpressions = [] }: NonNullable<PodDisruptionBudgetSpec['selector']> = {}): boolean => {
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

const unsaid = 'N/A'

export const podDisruptionBudget = defineResource<PodDisruptionBudget>({
  group: 'policy',
  kind: 'PodDisruptionBudget',
  resource: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  hashedVersion: 'v1beta1',
  nameProblems: dnsSubdomainProblems,
  defaults: withoutMarker,
  prepareCreate: (object, context) => withFirstGeneration(withoutGated(object, undefined, context)),
  prepareUpdate: (next, old, context) => withoutGated(withKeptStatus(next, old, specSchema), old, context),
  validate,
  checks: { create: ['own'], update: ['own'] },
  versionRequiredOnUpdate: true,
  resetFields: ['status'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: withKeptSpec,
      validateUpdate: validateStatus,
      resetFields: ['spec'],
    },
  ],
  table: {
    columns: [
      nameColumn,
      textColumn('Min Available', 'How many pods must be there.'),
      textColumn('Max Unavailable', 'How many pods may be missing.'),
      countColumn('Allowed Disruptions', 'How many pods may go now.'),
      ageColumn,
    ],
    cells: ({ metadata, spec, status }, { now }) => [
      metadata?.name ?? '',
      `${spec?.minAvailable ?? unsaid}`,
      `${spec?.maxUnavailable ?? unsaid}`,
      status?.disruptionsAllowed ?? 0,
      ageOf(metadata?.creationTimestamp, now),
    ],
  },
})
