// The types of batch/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import * as core from '../../resources/core/v1.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.batch.v1')

export const podFailurePolicyOnExitCodesRequirement = struct('PodFailurePolicyOnExitCodesRequirement', {
  containerName: s.field(1, s.string, { pointer: true, always: true }),
  operator: s.field(2, s.string, { always: true, required: true, default: '', enum: ['In', 'NotIn'] }),
  values: s.field(3, s.list(s.int32, { listType: 'set' }), { always: true, required: true }),
})
export type PodFailurePolicyOnExitCodesRequirement = Infer<typeof podFailurePolicyOnExitCodesRequirement>

export const podFailurePolicyOnPodConditionsPattern = struct('PodFailurePolicyOnPodConditionsPattern', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
})
export type PodFailurePolicyOnPodConditionsPattern = Infer<typeof podFailurePolicyOnPodConditionsPattern>

export const podFailurePolicyRule = struct('PodFailurePolicyRule', {
  action: s.field(1, s.string, { always: true, required: true, default: '', enum: ['Count', 'FailJob', 'Ignore'] }),
  onExitCodes: s.field(2, podFailurePolicyOnExitCodesRequirement, { pointer: true, always: true }),
  onPodConditions: s.field(3, s.list(podFailurePolicyOnPodConditionsPattern, { listType: 'atomic' }), { always: true, required: true }),
})
export type PodFailurePolicyRule = Infer<typeof podFailurePolicyRule>

export const podFailurePolicy = struct('PodFailurePolicy', {
  rules: s.field(1, s.list(podFailurePolicyRule, { listType: 'atomic' }), { always: true, required: true }),
})
export type PodFailurePolicy = Infer<typeof podFailurePolicy>

export const jobSpec = struct('JobSpec', {
  parallelism: s.field(1, s.int32, { pointer: true }),
  completions: s.field(2, s.int32, { pointer: true }),
  activeDeadlineSeconds: s.field(3, s.int64, { pointer: true }),
  podFailurePolicy: s.field(11, podFailurePolicy, { pointer: true }),
  backoffLimit: s.field(7, s.int32, { pointer: true }),
  selector: s.field(4, meta.labelSelector, { pointer: true }),
  manualSelector: s.field(5, s.boolean, { pointer: true }),
  template: s.field(6, core.podTemplateSpec, { always: true, required: true, default: {} }),
  ttlSecondsAfterFinished: s.field(8, s.int32, { pointer: true }),
  completionMode: s.field(9, s.string, { pointer: true }),
  suspend: s.field(10, s.boolean, { pointer: true }),
})
export type JobSpec = Infer<typeof jobSpec>

export const jobTemplateSpec = struct('JobTemplateSpec', {
  metadata: s.field(1, meta.objectMeta, { default: {} }),
  spec: s.field(2, jobSpec, { default: {} }),
})
export type JobTemplateSpec = Infer<typeof jobTemplateSpec>

export const cronJobSpec = struct('CronJobSpec', {
  schedule: s.field(1, s.string, { always: true, required: true, default: '' }),
  timeZone: s.field(8, s.string, { pointer: true }),
  startingDeadlineSeconds: s.field(2, s.int64, { pointer: true }),
  concurrencyPolicy: s.field(3, s.string, { enum: ['Allow', 'Forbid', 'Replace'] }),
  suspend: s.field(4, s.boolean, { pointer: true }),
  jobTemplate: s.field(5, jobTemplateSpec, { always: true, required: true, default: {} }),
  successfulJobsHistoryLimit: s.field(6, s.int32, { pointer: true }),
  failedJobsHistoryLimit: s.field(7, s.int32, { pointer: true }),
})
export type CronJobSpec = Infer<typeof cronJobSpec>

export const cronJobStatus = struct('CronJobStatus', {
  active: s.field(1, s.list(core.objectReference, { listType: 'atomic' })),
  lastScheduleTime: s.field(4, s.time, { pointer: true }),
  lastSuccessfulTime: s.field(5, s.time, { pointer: true }),
})
export type CronJobStatus = Infer<typeof cronJobStatus>

export const cronJob = struct(
  'CronJob',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, cronJobSpec, { default: {} }),
    status: s.field(3, cronJobStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type CronJob = Infer<typeof cronJob>

export const jobCondition = struct('JobCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  lastProbeTime: s.field(3, s.time, { default: {} }),
  lastTransitionTime: s.field(4, s.time, { default: {} }),
  reason: s.field(5, s.string),
  message: s.field(6, s.string),
})
export type JobCondition = Infer<typeof jobCondition>

export const uncountedTerminatedPods = struct('UncountedTerminatedPods', {
  succeeded: s.field(1, s.list(s.string, { listType: 'set' })),
  failed: s.field(2, s.list(s.string, { listType: 'set' })),
})
export type UncountedTerminatedPods = Infer<typeof uncountedTerminatedPods>

export const jobStatus = struct('JobStatus', {
  conditions: s.field(1, s.list(jobCondition, { listType: 'atomic', patchStrategy: 'merge', patchMergeKey: 'type' })),
  startTime: s.field(2, s.time, { pointer: true }),
  completionTime: s.field(3, s.time, { pointer: true }),
  active: s.field(4, s.int32),
  succeeded: s.field(5, s.int32),
  failed: s.field(6, s.int32),
  completedIndexes: s.field(7, s.string),
  uncountedTerminatedPods: s.field(8, uncountedTerminatedPods, { pointer: true }),
  ready: s.field(9, s.int32, { pointer: true }),
})
export type JobStatus = Infer<typeof jobStatus>

export const job = struct(
  'Job',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, jobSpec, { default: {} }),
    status: s.field(3, jobStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type Job = Infer<typeof job>
