// The types of apps/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import * as core from '../../resources/core/v1.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.apps.v1')

export const controllerRevision = struct(
  'ControllerRevision',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    data: s.field(2, s.any('raw'), { default: {} }),
    revision: s.field(3, s.int64, { always: true, required: true, default: 0 }),
  },
  { typeMeta: true },
)
export type ControllerRevision = Infer<typeof controllerRevision>

export const rollingUpdateDaemonSet = struct('RollingUpdateDaemonSet', {
  maxUnavailable: s.field(1, s.intOrString, { pointer: true }),
  maxSurge: s.field(2, s.intOrString, { pointer: true }),
})
export type RollingUpdateDaemonSet = Infer<typeof rollingUpdateDaemonSet>

export const daemonSetUpdateStrategy = struct('DaemonSetUpdateStrategy', {
  type: s.field(1, s.string, { enum: ['OnDelete', 'RollingUpdate'] }),
  rollingUpdate: s.field(2, rollingUpdateDaemonSet, { pointer: true }),
})
export type DaemonSetUpdateStrategy = Infer<typeof daemonSetUpdateStrategy>

export const daemonSetSpec = struct('DaemonSetSpec', {
  selector: s.field(1, meta.labelSelector, { pointer: true, always: true, required: true }),
  template: s.field(2, core.podTemplateSpec, { always: true, required: true, default: {} }),
  updateStrategy: s.field(3, daemonSetUpdateStrategy, { default: {} }),
  minReadySeconds: s.field(4, s.int32),
  revisionHistoryLimit: s.field(6, s.int32, { pointer: true }),
})
export type DaemonSetSpec = Infer<typeof daemonSetSpec>

export const daemonSetCondition = struct('DaemonSetCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  lastTransitionTime: s.field(3, s.time, { default: {} }),
  reason: s.field(4, s.string),
  message: s.field(5, s.string),
})
export type DaemonSetCondition = Infer<typeof daemonSetCondition>

export const daemonSetStatus = struct('DaemonSetStatus', {
  currentNumberScheduled: s.field(1, s.int32, { always: true, required: true, default: 0 }),
  numberMisscheduled: s.field(2, s.int32, { always: true, required: true, default: 0 }),
  desiredNumberScheduled: s.field(3, s.int32, { always: true, required: true, default: 0 }),
  numberReady: s.field(4, s.int32, { always: true, required: true, default: 0 }),
  observedGeneration: s.field(5, s.int64),
  updatedNumberScheduled: s.field(6, s.int32),
  numberAvailable: s.field(7, s.int32),
  numberUnavailable: s.field(8, s.int32),
  collisionCount: s.field(9, s.int32, { pointer: true }),
  conditions: s.field(10, s.list(daemonSetCondition, { patchStrategy: 'merge', patchMergeKey: 'type' })),
})
export type DaemonSetStatus = Infer<typeof daemonSetStatus>

export const daemonSet = struct(
  'DaemonSet',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, daemonSetSpec, { default: {} }),
    status: s.field(3, daemonSetStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type DaemonSet = Infer<typeof daemonSet>

export const rollingUpdateDeployment = struct('RollingUpdateDeployment', {
  maxUnavailable: s.field(1, s.intOrString, { pointer: true }),
  maxSurge: s.field(2, s.intOrString, { pointer: true }),
})
export type RollingUpdateDeployment = Infer<typeof rollingUpdateDeployment>

export const deploymentStrategy = struct('DeploymentStrategy', {
  type: s.field(1, s.string, { enum: ['Recreate', 'RollingUpdate'] }),
  rollingUpdate: s.field(2, rollingUpdateDeployment, { pointer: true }),
})
export type DeploymentStrategy = Infer<typeof deploymentStrategy>

export const deploymentSpec = struct('DeploymentSpec', {
  replicas: s.field(1, s.int32, { pointer: true }),
  selector: s.field(2, meta.labelSelector, { pointer: true, always: true, required: true }),
  template: s.field(3, core.podTemplateSpec, { always: true, required: true, default: {} }),
  strategy: s.field(4, deploymentStrategy, { default: {}, patchStrategy: 'retainKeys' }),
  minReadySeconds: s.field(5, s.int32),
  revisionHistoryLimit: s.field(6, s.int32, { pointer: true }),
  paused: s.field(7, s.boolean),
  progressDeadlineSeconds: s.field(9, s.int32, { pointer: true }),
})
export type DeploymentSpec = Infer<typeof deploymentSpec>

export const deploymentCondition = struct('DeploymentCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  lastUpdateTime: s.field(6, s.time, { default: {} }),
  lastTransitionTime: s.field(7, s.time, { default: {} }),
  reason: s.field(4, s.string),
  message: s.field(5, s.string),
})
export type DeploymentCondition = Infer<typeof deploymentCondition>

export const deploymentStatus = struct('DeploymentStatus', {
  observedGeneration: s.field(1, s.int64),
  replicas: s.field(2, s.int32),
  updatedReplicas: s.field(3, s.int32),
  readyReplicas: s.field(7, s.int32),
  availableReplicas: s.field(4, s.int32),
  unavailableReplicas: s.field(5, s.int32),
  conditions: s.field(6, s.list(deploymentCondition, { patchStrategy: 'merge', patchMergeKey: 'type' })),
  collisionCount: s.field(8, s.int32, { pointer: true }),
})
export type DeploymentStatus = Infer<typeof deploymentStatus>

export const deployment = struct(
  'Deployment',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, deploymentSpec, { default: {} }),
    status: s.field(3, deploymentStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type Deployment = Infer<typeof deployment>

export const replicaSetSpec = struct('ReplicaSetSpec', {
  replicas: s.field(1, s.int32, { pointer: true }),
  minReadySeconds: s.field(4, s.int32),
  selector: s.field(2, meta.labelSelector, { pointer: true, always: true, required: true }),
  template: s.field(3, core.podTemplateSpec, { default: {} }),
})
export type ReplicaSetSpec = Infer<typeof replicaSetSpec>

export const replicaSetCondition = struct('ReplicaSetCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  lastTransitionTime: s.field(3, s.time, { default: {} }),
  reason: s.field(4, s.string),
  message: s.field(5, s.string),
})
export type ReplicaSetCondition = Infer<typeof replicaSetCondition>

export const replicaSetStatus = struct('ReplicaSetStatus', {
  replicas: s.field(1, s.int32, { always: true, required: true, default: 0 }),
  fullyLabeledReplicas: s.field(2, s.int32),
  readyReplicas: s.field(4, s.int32),
  availableReplicas: s.field(5, s.int32),
  observedGeneration: s.field(3, s.int64),
  conditions: s.field(6, s.list(replicaSetCondition, { patchStrategy: 'merge', patchMergeKey: 'type' })),
})
export type ReplicaSetStatus = Infer<typeof replicaSetStatus>

export const replicaSet = struct(
  'ReplicaSet',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, replicaSetSpec, { default: {} }),
    status: s.field(3, replicaSetStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type ReplicaSet = Infer<typeof replicaSet>

export const rollingUpdateStatefulSetStrategy = struct('RollingUpdateStatefulSetStrategy', {
  partition: s.field(1, s.int32, { pointer: true }),
  maxUnavailable: s.field(2, s.intOrString, { pointer: true }),
})
export type RollingUpdateStatefulSetStrategy = Infer<typeof rollingUpdateStatefulSetStrategy>

export const statefulSetUpdateStrategy = struct('StatefulSetUpdateStrategy', {
  type: s.field(1, s.string, { enum: ['OnDelete', 'RollingUpdate'] }),
  rollingUpdate: s.field(2, rollingUpdateStatefulSetStrategy, { pointer: true }),
})
export type StatefulSetUpdateStrategy = Infer<typeof statefulSetUpdateStrategy>

export const statefulSetPersistentVolumeClaimRetentionPolicy = struct('StatefulSetPersistentVolumeClaimRetentionPolicy', {
  whenDeleted: s.field(1, s.string),
  whenScaled: s.field(2, s.string),
})
export type StatefulSetPersistentVolumeClaimRetentionPolicy = Infer<typeof statefulSetPersistentVolumeClaimRetentionPolicy>

export const statefulSetOrdinals = struct('StatefulSetOrdinals', {
  start: s.field(1, s.int32, { always: true, default: 0 }),
})
export type StatefulSetOrdinals = Infer<typeof statefulSetOrdinals>

export const statefulSetSpec = struct('StatefulSetSpec', {
  replicas: s.field(1, s.int32, { pointer: true }),
  selector: s.field(2, meta.labelSelector, { pointer: true, always: true, required: true }),
  template: s.field(3, core.podTemplateSpec, { always: true, required: true, default: {} }),
  volumeClaimTemplates: s.field(4, s.list(core.persistentVolumeClaim)),
  serviceName: s.field(5, s.string, { always: true, required: true, default: '' }),
  podManagementPolicy: s.field(6, s.string, { enum: ['OrderedReady', 'Parallel'] }),
  updateStrategy: s.field(7, statefulSetUpdateStrategy, { default: {} }),
  revisionHistoryLimit: s.field(8, s.int32, { pointer: true }),
  minReadySeconds: s.field(9, s.int32),
  persistentVolumeClaimRetentionPolicy: s.field(10, statefulSetPersistentVolumeClaimRetentionPolicy, { pointer: true }),
  ordinals: s.field(11, statefulSetOrdinals, { pointer: true }),
})
export type StatefulSetSpec = Infer<typeof statefulSetSpec>

export const statefulSetCondition = struct('StatefulSetCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  lastTransitionTime: s.field(3, s.time, { default: {} }),
  reason: s.field(4, s.string),
  message: s.field(5, s.string),
})
export type StatefulSetCondition = Infer<typeof statefulSetCondition>

export const statefulSetStatus = struct('StatefulSetStatus', {
  observedGeneration: s.field(1, s.int64),
  replicas: s.field(2, s.int32, { always: true, required: true, default: 0 }),
  readyReplicas: s.field(3, s.int32),
  currentReplicas: s.field(4, s.int32),
  updatedReplicas: s.field(5, s.int32),
  currentRevision: s.field(6, s.string),
  updateRevision: s.field(7, s.string),
  collisionCount: s.field(9, s.int32, { pointer: true }),
  conditions: s.field(10, s.list(statefulSetCondition, { patchStrategy: 'merge', patchMergeKey: 'type' })),
  availableReplicas: s.field(11, s.int32, { always: true, default: 0 }),
})
export type StatefulSetStatus = Infer<typeof statefulSetStatus>

export const statefulSet = struct(
  'StatefulSet',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, statefulSetSpec, { default: {} }),
    status: s.field(3, statefulSetStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type StatefulSet = Infer<typeof statefulSet>
