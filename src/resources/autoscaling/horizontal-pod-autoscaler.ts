// Autoscalers: how many pods a workload shall have, by what it is measured to do. Stored in the first of two versions.

import { defineResource, type RuleContext } from '../../api/definition.js'
import type { FieldError } from '../../api/field-error.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { autoscalerCells, autoscalerColumns } from './autoscaler-cells.js'
import { toV1, toV2 } from './autoscaler-conversion.js'
import { withV1Defaults, withV2Defaults } from './autoscaler-defaults.js'
import { validateAutoscaler, validateAutoscalerStatus } from './autoscaler-rules.js'
import * as v1 from './v1.schema.js'
import * as v2 from './v2.schema.js'

type Stored = v1.HorizontalPodAutoscaler
type Latest = v2.HorizontalPodAutoscaler

/** Only the second version has metrics, and it always has some. */
const latestOf = (object: Stored | Latest, { identity }: RuleContext): Latest =>
  object.spec !== undefined && 'metrics' in object.spec ? (object as Latest) : toV2(object as Stored, identity)

/** Metrics of single containers belong to a feature. Without it they lose what they say, and are refused for that. */
function withoutGated(object: Latest, old: Latest | undefined, { gates }: RuleContext): Latest {
  const uses = (candidate: Latest | undefined): boolean =>
    candidate?.spec?.metrics?.some(({ containerResource }) => containerResource !== undefined) ?? false
  if (gates('HPAContainerMetrics') || !uses(object) || uses(old)) return object
  const metrics = object.spec?.metrics?.map(({ containerResource: _, ...metric }) => metric) ?? []
  return { ...object, spec: { ...object.spec, metrics } }
}

/** Part of the status travels in annotations, so that parts are put together in the version that has fields for them. */
function composed(next: Stored, change: (latest: Latest) => Latest, { identity }: RuleContext): Stored {
  return toV1(change(toV2(next, identity)), identity)
}

const prepareCreate = (object: Stored, context: RuleContext): Stored =>
  composed(object, (latest) => ({ ...withoutGated(latest, undefined, context), status: {} }), context)

function prepareUpdate(next: Stored, old: Stored, context: RuleContext): Stored {
  const before = toV2(old, context.identity)
  return composed(next, (latest) => ({ ...withoutGated(latest, before, context), status: before.status ?? {} }), context)
}

const prepareStatus = (next: Stored, old: Stored, context: RuleContext): Stored =>
  composed(next, (latest) => ({ ...latest, spec: toV2(old, context.identity).spec ?? {} }), context)

const validateUpdate = (next: Stored, old: Stored, { identity, gates }: RuleContext): readonly FieldError[] =>
  validateAutoscaler(toV2(next, identity), { gates, old: toV2(old, identity) })

export const horizontalPodAutoscaler = defineResource<Stored>({
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  resource: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  namespaced: true,
  versions: [
    {
      name: 'v2',
      schema: v2.horizontalPodAutoscaler,
      defaults: (object) => withV2Defaults(object),
      toStored: (object, identity) => toV1(object, identity),
      fromStored: (object, identity) => toV2(object, identity),
    },
    {
      name: 'v1',
      schema: v1.horizontalPodAutoscaler,
      stored: true,
      defaults: (object, { identity }) => withV1Defaults(object, identity),
    },
  ],
  nameProblems: dnsSubdomainProblems,
  prepareCreate,
  prepareUpdate,
  validate: (object, { identity, gates }) => validateAutoscaler(toV2(object, identity), { gates }),
  validateUpdate,
  resetFields: ['status'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: prepareStatus,
      validateUpdate: (next, _, { identity }) => validateAutoscalerStatus(toV2(next, identity)),
      resetFields: ['spec'],
    },
  ],
  table: { columns: autoscalerColumns, cells: (object, context) => autoscalerCells(latestOf(object, context), context.now) },
})
