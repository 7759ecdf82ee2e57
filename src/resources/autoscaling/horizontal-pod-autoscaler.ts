// Autoscalers: how many pods a workload shall have, by what it is measured to do. Rules speak of the second of two versions, which can
// say everything; clients find objects as if the first one were stored.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { autoscalerCells, autoscalerColumns } from './autoscaler-cells.js'
import { asCarriedByV1, autoscalerAnnotations, toV1, toV2 } from './autoscaler-conversion.js'
import { withV1Defaults, withV2Defaults } from './autoscaler-defaults.js'
import { validateAutoscaler, validateAutoscalerStatus } from './autoscaler-rules.js'
import * as v1 from './v1.schema.js'
import * as v2 from './v2.schema.js'

type Autoscaler = v2.HorizontalPodAutoscaler

/** Metrics of single containers belong to a feature. Without it they lose what they say, and are refused for that. */
function withoutGated(object: Autoscaler, old: Autoscaler | undefined, { gates }: RuleContext): Autoscaler {
  const uses = (candidate: Autoscaler | undefined): boolean =>
    candidate?.spec?.metrics?.some(({ containerResource }) => containerResource !== undefined) ?? false
  if (gates('HPAContainerMetrics') || !uses(object) || uses(old)) return object
  const metrics = object.spec?.metrics?.map(({ containerResource: _, ...metric }) => metric) ?? []
  return { ...object, spec: { ...object.spec, metrics } }
}

const prepareCreate = (object: Autoscaler, context: RuleContext): Autoscaler => ({
  ...withoutGated(object, undefined, context),
  status: {},
})

const prepareUpdate = (next: Autoscaler, old: Autoscaler, context: RuleContext): Autoscaler => ({
  ...withoutGated(next, old, context),
  status: old.status ?? {},
})

export const horizontalPodAutoscaler = defineResource<Autoscaler>({
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  resource: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  namespaced: true,
  hashedVersion: 'v1',
  versions: [
    {
      name: 'v2',
      schema: v2.horizontalPodAutoscaler,
      stored: true,
      defaults: (object) => withV2Defaults(object),
      fromStored: (object, identity) => asCarriedByV1(object, identity),
    },
    {
      name: 'v1',
      schema: v1.horizontalPodAutoscaler,
      defaults: (object, { identity }) => withV1Defaults(object, identity),
      toStored: (object, identity) => toV2(object, identity),
      fromStored: (object, identity) => toV1(object, identity),
    },
  ],
  nameProblems: dnsSubdomainProblems,
  fieldAnnotations: autoscalerAnnotations,
  prepareCreate,
  prepareUpdate,
  validate: (object, { gates }) => validateAutoscaler(object, { gates }),
  validateUpdate: (next, old, { gates }) => validateAutoscaler(next, { gates, old }),
  resetFields: ['status'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: (next, old) => ({ ...next, spec: old.spec ?? {} }),
      validateUpdate: (next) => validateAutoscalerStatus(next),
      resetFields: ['spec'],
    },
  ],
  table: { columns: autoscalerColumns, cells: (object, { now }) => autoscalerCells(object, now) },
})
