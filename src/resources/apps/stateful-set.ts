// Stateful sets: pods with lasting names and storage of their own, one after another.

import { defineResource, type FeatureGates, type RuleContext } from '../../api/definition.js'
import { ageOf } from '../../api/human-duration.js'
import { fromSelectorObject } from '../../api/label-selector.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { joined } from '../../api/validation/collect.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { scaleSubresource } from '../autoscaling/scale.js'
import { withFirstGeneration, withKeptSpec, withKeptStatus } from '../core/generation.js'
import { mapItems } from '../core/pod-spec/all-containers.js'
import { templateWithoutGatedFields } from '../core/pod-spec/gated-fields.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { withTemplateDefaults } from '../core/pod-spec/pod-spec-defaults.js'
import { withClaimDefaults } from '../core/pod-spec/volume-defaults.js'
import { claimWarnings, templateWarnings } from '../core/pod-spec/warnings.js'
import type { PersistentVolumeClaim } from '../core/v1.schema.js'
import { containerCells, containerColumns } from '../core/workload-columns.js'
import { validateStatefulSet, validateStatefulSetChange, validateStatefulSetStatus } from './stateful-set-rules.js'
import { type StatefulSet, type StatefulSetSpec, statefulSet as schema, statefulSetSpec as specSchema } from './v1.schema.js'

const specDefaults = { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: 10 }

/** Where the strategy is named but its details are not, they stay away. */
function withStrategyDefaults(
  strategy: StatefulSetSpec['updateStrategy'],
  gates: FeatureGates,
): NonNullable<StatefulSetSpec['updateStrategy']> {
  const typed = strategy?.type === undefined ? { rollingUpdate: {}, ...strategy, type: 'RollingUpdate' } : strategy
  if (typed.type !== 'RollingUpdate') return typed
  const unavailable = gates('MaxUnavailableStatefulSet') ? { maxUnavailable: 1 } : {}
  return withChanged(typed, 'rollingUpdate', (rolling) => withMissing(rolling, { partition: 0, ...unavailable }))
}

/** Templates of claims are whole objects, and say what they are. */
function withClaimTemplateDefaults(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const spec = withClaimDefaults(claim.spec ?? {})
  const status = withMissing(claim.status ?? {}, { phase: 'Pending' })
  const isComplete = claim.kind === 'PersistentVolumeClaim' && claim.apiVersion === 'v1' && spec === claim.spec && status === claim.status
  return isComplete ? claim : { ...claim, kind: 'PersistentVolumeClaim', apiVersion: 'v1', spec, status }
}

const retain = { whenDeleted: 'Retain', whenScaled: 'Retain' }

function withRetentionDefaults(spec: StatefulSetSpec, gates: FeatureGates): StatefulSetSpec {
  if (!gates('StatefulSetAutoDeletePVC')) return spec
  return withChanged(withMissing(spec, { persistentVolumeClaimRetentionPolicy: {} }), 'persistentVolumeClaimRetentionPolicy', (policy) =>
    withMissing(policy, retain),
  )
}

function defaults(set: StatefulSet, { gates, identity }: RuleContext): StatefulSet {
  let spec = withRetentionDefaults(withMissing(set.spec ?? {}, specDefaults), gates)
  spec = withChanged(spec, 'volumeClaimTemplates', (claims) => mapItems(claims, withClaimTemplateDefaults))
  const updateStrategy = withStrategyDefaults(spec.updateStrategy, gates)
  const template = withTemplateDefaults(spec.template, identity)
  if (updateStrategy !== spec.updateStrategy || template !== spec.template) spec = { ...spec, updateStrategy, template }
  return spec === set.spec ? set : { ...set, spec }
}

/** Fields of features that this server does not have are dropped, unless the object has them already. */
function withoutGated(set: StatefulSet, old: StatefulSet | undefined, { gates }: RuleContext): StatefulSet {
  const { ordinals, persistentVolumeClaimRetentionPolicy, ...rest } = set.spec ?? {}
  const keeps = (gate: string, isUsed: boolean): boolean => gates(gate) || isUsed
  const spec: StatefulSetSpec = { ...rest, template: templateWithoutGatedFields(rest.template ?? {}, old?.spec?.template, gates) }
  const keepsLimit = keeps('MaxUnavailableStatefulSet', old?.spec?.updateStrategy?.rollingUpdate?.maxUnavailable !== undefined)
  return {
    ...set,
    spec: {
      ...(keepsLimit ? spec : withChanged(spec, 'updateStrategy', withoutLimit)),
      ...(ordinals !== undefined && keeps('StatefulSetStartOrdinal', old?.spec?.ordinals !== undefined) ? { ordinals } : {}),
      ...(persistentVolumeClaimRetentionPolicy !== undefined &&
      keeps('StatefulSetAutoDeletePVC', old?.spec?.persistentVolumeClaimRetentionPolicy !== undefined)
        ? { persistentVolumeClaimRetentionPolicy }
        : {}),
    },
  }
}

const withoutLimit = (strategy: NonNullable<StatefulSetSpec['updateStrategy']>): typeof strategy =>
  withChanged(strategy, 'rollingUpdate', ({ maxUnavailable: _, ...rolling }) => rolling)

const prepareUpdate = (next: StatefulSet, old: StatefulSet, context: RuleContext): StatefulSet =>
  withKeptStatus(withoutGated(next, old, context), old, specSchema)

export const statefulSet = defineResource<StatefulSet>({
  group: 'apps',
  kind: 'StatefulSet',
  resource: 'statefulsets',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (object, context) => withFirstGeneration(withoutGated(object, undefined, context)),
  prepareUpdate,
  validate: validateStatefulSet,
  validateUpdate: validateStatefulSetChange,
  checks: { update: ['metadata', 'own', 'metadataChange', 'ownChange'] },
  warnings: (next, old, { identity }) => [
    ...templateWarnings({ next, old, template: next.spec?.template, path: 'spec.template', identity }),
    // A change names the spec of the claim besides, with a capital letter, as clients know it.
    ...(next.spec?.volumeClaimTemplates ?? []).flatMap(({ spec }, i) =>
      claimWarnings(spec, `spec.volumeClaimTemplates[${i}]${old === undefined ? '' : '.Spec'}`),
    ),
  ],
  resetFields: ['status'],
  subresources: [
    scaleSubresource<StatefulSet>({
      selectorOf: ({ spec }) => fromSelectorObject(spec?.selector).text,
      prepareUpdate,
      validateUpdate: (next, old, context) => joined(validateStatefulSet(next, context), validateStatefulSetChange(next, old)),
    }),
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: withKeptSpec,
      validateUpdate: validateStatefulSetStatus,
      resetFields: ['spec'],
    },
  ],
  table: {
    columns: [nameColumn, textColumn('Ready', 'How many pods are ready, of how many.'), ageColumn, ...containerColumns],
    cells: ({ metadata, spec, status }, { now }) => [
      metadata?.name ?? '',
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
      ageOf(metadata?.creationTimestamp, now),
      ...containerCells(spec?.template),
    ],
  },
})
