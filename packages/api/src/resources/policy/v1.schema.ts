// The types of policy/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.policy.v1')

export const eviction = struct(
  'Eviction',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    deleteOptions: s.field(2, meta.deleteOptions, { pointer: true }),
  },
  { typeMeta: true },
)
export type Eviction = Infer<typeof eviction>

export const podDisruptionBudgetSpec = struct('PodDisruptionBudgetSpec', {
  minAvailable: s.field(1, s.intOrString, { pointer: true }),
  selector: s.field(2, meta.labelSelector, { pointer: true, patchStrategy: 'replace' }),
  maxUnavailable: s.field(3, s.intOrString, { pointer: true }),
  unhealthyPodEvictionPolicy: s.field(4, s.string, { pointer: true }),
})
export type PodDisruptionBudgetSpec = Infer<typeof podDisruptionBudgetSpec>

export const podDisruptionBudgetStatus = struct('PodDisruptionBudgetStatus', {
  observedGeneration: s.field(1, s.int64),
  disruptedPods: s.field(2, s.map(s.time)),
  disruptionsAllowed: s.field(3, s.int32, { always: true, required: true, default: 0 }),
  currentHealthy: s.field(4, s.int32, { always: true, required: true, default: 0 }),
  desiredHealthy: s.field(5, s.int32, { always: true, required: true, default: 0 }),
  expectedPods: s.field(6, s.int32, { always: true, required: true, default: 0 }),
  conditions: s.field(7, s.list(meta.condition, { listType: 'map', keys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type' })),
})
export type PodDisruptionBudgetStatus = Infer<typeof podDisruptionBudgetStatus>

export const podDisruptionBudget = struct(
  'PodDisruptionBudget',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, podDisruptionBudgetSpec, { default: {} }),
    status: s.field(3, podDisruptionBudgetStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type PodDisruptionBudget = Infer<typeof podDisruptionBudget>
