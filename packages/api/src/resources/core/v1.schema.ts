// The types of core/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.core.v1')

export const awsElasticBlockStoreVolumeSource = struct('AWSElasticBlockStoreVolumeSource', {
  volumeID: s.field(1, s.string, { always: true, required: true, default: '' }),
  fsType: s.field(2, s.string),
  partition: s.field(3, s.int32),
  readOnly: s.field(4, s.boolean),
})
export type AWSElasticBlockStoreVolumeSource = Infer<typeof awsElasticBlockStoreVolumeSource>

export const nodeSelectorRequirement = struct('NodeSelectorRequirement', {
  key: s.field(1, s.string, { always: true, required: true, default: '' }),
  operator: s.field(2, s.string, {
    always: true,
    required: true,
    default: '',
    enum: ['DoesNotExist', 'Exists', 'Gt', 'In', 'Lt', 'NotIn'],
  }),
  values: s.field(3, s.list(s.string)),
})
export type NodeSelectorRequirement = Infer<typeof nodeSelectorRequirement>

export const nodeSelectorTerm = struct(
  'NodeSelectorTerm',
  {
    matchExpressions: s.field(1, s.list(nodeSelectorRequirement)),
    matchFields: s.field(2, s.list(nodeSelectorRequirement)),
  },
  { mapType: 'atomic' },
)
export type NodeSelectorTerm = Infer<typeof nodeSelectorTerm>

export const nodeSelector = struct(
  'NodeSelector',
  {
    nodeSelectorTerms: s.field(1, s.list(nodeSelectorTerm), { always: true, required: true }),
  },
  { mapType: 'atomic' },
)
export type NodeSelector = Infer<typeof nodeSelector>

export const preferredSchedulingTerm = struct('PreferredSchedulingTerm', {
  weight: s.field(1, s.int32, { always: true, required: true, default: 0 }),
  preference: s.field(2, nodeSelectorTerm, { always: true, required: true, default: {} }),
})
export type PreferredSchedulingTerm = Infer<typeof preferredSchedulingTerm>

export const nodeAffinity = struct('NodeAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: s.field(1, nodeSelector, { pointer: true }),
  preferredDuringSchedulingIgnoredDuringExecution: s.field(2, s.list(preferredSchedulingTerm)),
})
export type NodeAffinity = Infer<typeof nodeAffinity>

export const podAffinityTerm = struct('PodAffinityTerm', {
  labelSelector: s.field(1, meta.labelSelector, { pointer: true }),
  namespaces: s.field(2, s.list(s.string)),
  topologyKey: s.field(3, s.string, { always: true, required: true, default: '' }),
  namespaceSelector: s.field(4, meta.labelSelector, { pointer: true }),
})
export type PodAffinityTerm = Infer<typeof podAffinityTerm>

export const weightedPodAffinityTerm = struct('WeightedPodAffinityTerm', {
  weight: s.field(1, s.int32, { always: true, required: true, default: 0 }),
  podAffinityTerm: s.field(2, podAffinityTerm, { always: true, required: true, default: {} }),
})
export type WeightedPodAffinityTerm = Infer<typeof weightedPodAffinityTerm>

export const podAffinity = struct('PodAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: s.field(1, s.list(podAffinityTerm)),
  preferredDuringSchedulingIgnoredDuringExecution: s.field(2, s.list(weightedPodAffinityTerm)),
})
export type PodAffinity = Infer<typeof podAffinity>

export const podAntiAffinity = struct('PodAntiAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: s.field(1, s.list(podAffinityTerm)),
  preferredDuringSchedulingIgnoredDuringExecution: s.field(2, s.list(weightedPodAffinityTerm)),
})
export type PodAntiAffinity = Infer<typeof podAntiAffinity>

export const affinity = struct('Affinity', {
  nodeAffinity: s.field(1, nodeAffinity, { pointer: true }),
  podAffinity: s.field(2, podAffinity, { pointer: true }),
  podAntiAffinity: s.field(3, podAntiAffinity, { pointer: true }),
})
export type Affinity = Infer<typeof affinity>

export const attachedVolume = struct('AttachedVolume', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  devicePath: s.field(2, s.string, { always: true, required: true, default: '' }),
})
export type AttachedVolume = Infer<typeof attachedVolume>

export const podSignature = struct('PodSignature', {
  podController: s.field(1, meta.ownerReference, { pointer: true }),
})
export type PodSignature = Infer<typeof podSignature>

export const preferAvoidPodsEntry = struct('PreferAvoidPodsEntry', {
  podSignature: s.field(1, podSignature, { always: true, required: true, default: {} }),
  evictionTime: s.field(2, s.time, { default: {} }),
  reason: s.field(3, s.string),
  message: s.field(4, s.string),
})
export type PreferAvoidPodsEntry = Infer<typeof preferAvoidPodsEntry>

export const avoidPods = struct('AvoidPods', {
  preferAvoidPods: s.field(1, s.list(preferAvoidPodsEntry)),
})
export type AvoidPods = Infer<typeof avoidPods>

export const azureDiskVolumeSource = struct('AzureDiskVolumeSource', {
  diskName: s.field(1, s.string, { always: true, required: true, default: '' }),
  diskURI: s.field(2, s.string, { always: true, required: true, default: '' }),
  cachingMode: s.field(3, s.string, { pointer: true }),
  fsType: s.field(4, s.string, { pointer: true }),
  readOnly: s.field(5, s.boolean, { pointer: true }),
  kind: s.field(6, s.string, { pointer: true }),
})
export type AzureDiskVolumeSource = Infer<typeof azureDiskVolumeSource>

export const azureFilePersistentVolumeSource = struct('AzureFilePersistentVolumeSource', {
  secretName: s.field(1, s.string, { always: true, required: true, default: '' }),
  shareName: s.field(2, s.string, { always: true, required: true, default: '' }),
  readOnly: s.field(3, s.boolean),
  secretNamespace: s.field(4, s.string, { pointer: true, always: true }),
})
export type AzureFilePersistentVolumeSource = Infer<typeof azureFilePersistentVolumeSource>

export const azureFileVolumeSource = struct('AzureFileVolumeSource', {
  secretName: s.field(1, s.string, { always: true, required: true, default: '' }),
  shareName: s.field(2, s.string, { always: true, required: true, default: '' }),
  readOnly: s.field(3, s.boolean),
})
export type AzureFileVolumeSource = Infer<typeof azureFileVolumeSource>

export const objectReference = struct(
  'ObjectReference',
  {
    kind: s.field(1, s.string),
    namespace: s.field(2, s.string),
    name: s.field(3, s.string),
    uid: s.field(4, s.string),
    apiVersion: s.field(5, s.string),
    resourceVersion: s.field(6, s.string),
    fieldPath: s.field(7, s.string),
  },
  { mapType: 'atomic' },
)
export type ObjectReference = Infer<typeof objectReference>

export const binding = struct(
  'Binding',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    target: s.field(2, objectReference, { always: true, required: true, default: {} }),
  },
  { typeMeta: true },
)
export type Binding = Infer<typeof binding>

export const secretReference = struct(
  'SecretReference',
  {
    name: s.field(1, s.string),
    namespace: s.field(2, s.string),
  },
  { mapType: 'atomic' },
)
export type SecretReference = Infer<typeof secretReference>

export const csiPersistentVolumeSource = struct('CSIPersistentVolumeSource', {
  driver: s.field(1, s.string, { always: true, required: true, default: '' }),
  volumeHandle: s.field(2, s.string, { always: true, required: true, default: '' }),
  readOnly: s.field(3, s.boolean),
  fsType: s.field(4, s.string),
  volumeAttributes: s.field(5, s.map(s.string)),
  controllerPublishSecretRef: s.field(6, secretReference, { pointer: true }),
  nodeStageSecretRef: s.field(7, secretReference, { pointer: true }),
  nodePublishSecretRef: s.field(8, secretReference, { pointer: true }),
  controllerExpandSecretRef: s.field(9, secretReference, { pointer: true }),
  nodeExpandSecretRef: s.field(10, secretReference, { pointer: true }),
})
export type CSIPersistentVolumeSource = Infer<typeof csiPersistentVolumeSource>

export const localObjectReference = struct(
  'LocalObjectReference',
  {
    name: s.field(1, s.string),
  },
  { mapType: 'atomic' },
)
export type LocalObjectReference = Infer<typeof localObjectReference>

export const csiVolumeSource = struct('CSIVolumeSource', {
  driver: s.field(1, s.string, { always: true, required: true, default: '' }),
  readOnly: s.field(2, s.boolean, { pointer: true }),
  fsType: s.field(3, s.string, { pointer: true }),
  volumeAttributes: s.field(4, s.map(s.string)),
  nodePublishSecretRef: s.field(5, localObjectReference, { pointer: true }),
})
export type CSIVolumeSource = Infer<typeof csiVolumeSource>

export const capabilities = struct('Capabilities', {
  add: s.field(1, s.list(s.string)),
  drop: s.field(2, s.list(s.string)),
})
export type Capabilities = Infer<typeof capabilities>

export const cephFSPersistentVolumeSource = struct('CephFSPersistentVolumeSource', {
  monitors: s.field(1, s.list(s.string), { always: true, required: true }),
  path: s.field(2, s.string),
  user: s.field(3, s.string),
  secretFile: s.field(4, s.string),
  secretRef: s.field(5, secretReference, { pointer: true }),
  readOnly: s.field(6, s.boolean),
})
export type CephFSPersistentVolumeSource = Infer<typeof cephFSPersistentVolumeSource>

export const cephFSVolumeSource = struct('CephFSVolumeSource', {
  monitors: s.field(1, s.list(s.string), { always: true, required: true }),
  path: s.field(2, s.string),
  user: s.field(3, s.string),
  secretFile: s.field(4, s.string),
  secretRef: s.field(5, localObjectReference, { pointer: true }),
  readOnly: s.field(6, s.boolean),
})
export type CephFSVolumeSource = Infer<typeof cephFSVolumeSource>

export const cinderPersistentVolumeSource = struct('CinderPersistentVolumeSource', {
  volumeID: s.field(1, s.string, { always: true, required: true, default: '' }),
  fsType: s.field(2, s.string),
  readOnly: s.field(3, s.boolean),
  secretRef: s.field(4, secretReference, { pointer: true }),
})
export type CinderPersistentVolumeSource = Infer<typeof cinderPersistentVolumeSource>

export const cinderVolumeSource = struct('CinderVolumeSource', {
  volumeID: s.field(1, s.string, { always: true, required: true, default: '' }),
  fsType: s.field(2, s.string),
  readOnly: s.field(3, s.boolean),
  secretRef: s.field(4, localObjectReference, { pointer: true }),
})
export type CinderVolumeSource = Infer<typeof cinderVolumeSource>

export const claimSource = struct('ClaimSource', {
  resourceClaimName: s.field(1, s.string, { pointer: true }),
  resourceClaimTemplateName: s.field(2, s.string, { pointer: true }),
})
export type ClaimSource = Infer<typeof claimSource>

export const clientIPConfig = struct('ClientIPConfig', {
  timeoutSeconds: s.field(1, s.int32, { pointer: true }),
})
export type ClientIPConfig = Infer<typeof clientIPConfig>

export const componentCondition = struct('ComponentCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  message: s.field(3, s.string),
  error: s.field(4, s.string),
})
export type ComponentCondition = Infer<typeof componentCondition>

export const componentStatus = struct(
  'ComponentStatus',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    conditions: s.field(2, s.list(componentCondition, { patchStrategy: 'merge', patchMergeKey: 'type' })),
  },
  { typeMeta: true },
)
export type ComponentStatus = Infer<typeof componentStatus>

export const configMap = struct(
  'ConfigMap',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    immutable: s.field(4, s.boolean, { pointer: true }),
    data: s.field(2, s.map(s.string)),
    binaryData: s.field(3, s.map(s.bytes)),
  },
  { typeMeta: true },
)
export type ConfigMap = Infer<typeof configMap>

export const configMapEnvSource = struct('ConfigMapEnvSource', {
  ...s.embed(1, localObjectReference),
  optional: s.field(2, s.boolean, { pointer: true }),
})
export type ConfigMapEnvSource = Infer<typeof configMapEnvSource>

export const configMapKeySelector = struct(
  'ConfigMapKeySelector',
  {
    ...s.embed(1, localObjectReference),
    key: s.field(2, s.string, { always: true, required: true, default: '' }),
    optional: s.field(3, s.boolean, { pointer: true }),
  },
  { mapType: 'atomic' },
)
export type ConfigMapKeySelector = Infer<typeof configMapKeySelector>

export const configMapNodeConfigSource = struct('ConfigMapNodeConfigSource', {
  namespace: s.field(1, s.string, { always: true, required: true, default: '' }),
  name: s.field(2, s.string, { always: true, required: true, default: '' }),
  uid: s.field(3, s.string),
  resourceVersion: s.field(4, s.string),
  kubeletConfigKey: s.field(5, s.string, { always: true, required: true, default: '' }),
})
export type ConfigMapNodeConfigSource = Infer<typeof configMapNodeConfigSource>

export const keyToPath = struct('KeyToPath', {
  key: s.field(1, s.string, { always: true, required: true, default: '' }),
  path: s.field(2, s.string, { always: true, required: true, default: '' }),
  mode: s.field(3, s.int32, { pointer: true }),
})
export type KeyToPath = Infer<typeof keyToPath>

export const configMapProjection = struct('ConfigMapProjection', {
  ...s.embed(1, localObjectReference),
  items: s.field(2, s.list(keyToPath)),
  optional: s.field(4, s.boolean, { pointer: true }),
})
export type ConfigMapProjection = Infer<typeof configMapProjection>

export const configMapVolumeSource = struct('ConfigMapVolumeSource', {
  ...s.embed(1, localObjectReference),
  items: s.field(2, s.list(keyToPath)),
  defaultMode: s.field(3, s.int32, { pointer: true }),
  optional: s.field(4, s.boolean, { pointer: true }),
})
export type ConfigMapVolumeSource = Infer<typeof configMapVolumeSource>

export const containerPort = struct('ContainerPort', {
  name: s.field(1, s.string),
  hostPort: s.field(2, s.int32),
  containerPort: s.field(3, s.int32, { always: true, required: true, default: 0 }),
  protocol: s.field(4, s.string, { default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }),
  hostIP: s.field(5, s.string),
})
export type ContainerPort = Infer<typeof containerPort>

export const secretEnvSource = struct('SecretEnvSource', {
  ...s.embed(1, localObjectReference),
  optional: s.field(2, s.boolean, { pointer: true }),
})
export type SecretEnvSource = Infer<typeof secretEnvSource>

export const envFromSource = struct('EnvFromSource', {
  prefix: s.field(1, s.string),
  configMapRef: s.field(2, configMapEnvSource, { pointer: true }),
  secretRef: s.field(3, secretEnvSource, { pointer: true }),
})
export type EnvFromSource = Infer<typeof envFromSource>

export const objectFieldSelector = struct(
  'ObjectFieldSelector',
  {
    apiVersion: s.field(1, s.string),
    fieldPath: s.field(2, s.string, { always: true, required: true, default: '' }),
  },
  { mapType: 'atomic' },
)
export type ObjectFieldSelector = Infer<typeof objectFieldSelector>

export const resourceFieldSelector = struct(
  'ResourceFieldSelector',
  {
    containerName: s.field(1, s.string),
    resource: s.field(2, s.string, { always: true, required: true, default: '' }),
    divisor: s.field(3, s.quantity, { default: {} }),
  },
  { mapType: 'atomic' },
)
export type ResourceFieldSelector = Infer<typeof resourceFieldSelector>

export const secretKeySelector = struct(
  'SecretKeySelector',
  {
    ...s.embed(1, localObjectReference),
    key: s.field(2, s.string, { always: true, required: true, default: '' }),
    optional: s.field(3, s.boolean, { pointer: true }),
  },
  { mapType: 'atomic' },
)
export type SecretKeySelector = Infer<typeof secretKeySelector>

export const envVarSource = struct('EnvVarSource', {
  fieldRef: s.field(1, objectFieldSelector, { pointer: true }),
  resourceFieldRef: s.field(2, resourceFieldSelector, { pointer: true }),
  configMapKeyRef: s.field(3, configMapKeySelector, { pointer: true }),
  secretKeyRef: s.field(4, secretKeySelector, { pointer: true }),
})
export type EnvVarSource = Infer<typeof envVarSource>

export const envVar = struct('EnvVar', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  value: s.field(2, s.string),
  valueFrom: s.field(3, envVarSource, { pointer: true }),
})
export type EnvVar = Infer<typeof envVar>

export const resourceClaim = struct('ResourceClaim', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
})
export type ResourceClaim = Infer<typeof resourceClaim>

export const resourceRequirements = struct('ResourceRequirements', {
  limits: s.field(1, s.map(s.quantity)),
  requests: s.field(2, s.map(s.quantity)),
  claims: s.field(3, s.list(resourceClaim, { listType: 'map', keys: ['name'] })),
})
export type ResourceRequirements = Infer<typeof resourceRequirements>

export const volumeMount = struct('VolumeMount', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  readOnly: s.field(2, s.boolean),
  mountPath: s.field(3, s.string, { always: true, required: true, default: '' }),
  subPath: s.field(4, s.string),
  mountPropagation: s.field(5, s.string, { pointer: true }),
  subPathExpr: s.field(6, s.string),
})
export type VolumeMount = Infer<typeof volumeMount>

export const volumeDevice = struct('VolumeDevice', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  devicePath: s.field(2, s.string, { always: true, required: true, default: '' }),
})
export type VolumeDevice = Infer<typeof volumeDevice>

export const execAction = struct('ExecAction', {
  command: s.field(1, s.list(s.string)),
})
export type ExecAction = Infer<typeof execAction>

export const httpHeader = struct('HTTPHeader', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  value: s.field(2, s.string, { always: true, required: true, default: '' }),
})
export type HTTPHeader = Infer<typeof httpHeader>

export const httpGetAction = struct('HTTPGetAction', {
  path: s.field(1, s.string),
  port: s.field(2, s.intOrString, { always: true, required: true, default: {} }),
  host: s.field(3, s.string),
  scheme: s.field(4, s.string, { enum: ['HTTP', 'HTTPS'] }),
  httpHeaders: s.field(5, s.list(httpHeader)),
})
export type HTTPGetAction = Infer<typeof httpGetAction>

export const tcpSocketAction = struct('TCPSocketAction', {
  port: s.field(1, s.intOrString, { always: true, required: true, default: {} }),
  host: s.field(2, s.string),
})
export type TCPSocketAction = Infer<typeof tcpSocketAction>

export const grpcAction = struct('GRPCAction', {
  port: s.field(1, s.int32, { always: true, required: true, default: 0 }),
  service: s.field(2, s.string, { pointer: true, always: true, default: '' }),
})
export type GRPCAction = Infer<typeof grpcAction>

export const probeHandler = struct('ProbeHandler', {
  exec: s.field(1, execAction, { pointer: true }),
  httpGet: s.field(2, httpGetAction, { pointer: true }),
  tcpSocket: s.field(3, tcpSocketAction, { pointer: true }),
  grpc: s.field(4, grpcAction, { pointer: true }),
})
export type ProbeHandler = Infer<typeof probeHandler>

export const probe = struct('Probe', {
  ...s.embed(1, probeHandler),
  initialDelaySeconds: s.field(2, s.int32),
  timeoutSeconds: s.field(3, s.int32),
  periodSeconds: s.field(4, s.int32),
  successThreshold: s.field(5, s.int32),
  failureThreshold: s.field(6, s.int32),
  terminationGracePeriodSeconds: s.field(7, s.int64, { pointer: true }),
})
export type Probe = Infer<typeof probe>

export const lifecycleHandler = struct('LifecycleHandler', {
  exec: s.field(1, execAction, { pointer: true }),
  httpGet: s.field(2, httpGetAction, { pointer: true }),
  tcpSocket: s.field(3, tcpSocketAction, { pointer: true }),
})
export type LifecycleHandler = Infer<typeof lifecycleHandler>

export const lifecycle = struct('Lifecycle', {
  postStart: s.field(1, lifecycleHandler, { pointer: true }),
  preStop: s.field(2, lifecycleHandler, { pointer: true }),
})
export type Lifecycle = Infer<typeof lifecycle>

export const seLinuxOptions = struct('SELinuxOptions', {
  user: s.field(1, s.string),
  role: s.field(2, s.string),
  type: s.field(3, s.string),
  level: s.field(4, s.string),
})
export type SELinuxOptions = Infer<typeof seLinuxOptions>

export const windowsSecurityContextOptions = struct('WindowsSecurityContextOptions', {
  gmsaCredentialSpecName: s.field(1, s.string, { pointer: true }),
  gmsaCredentialSpec: s.field(2, s.string, { pointer: true }),
  runAsUserName: s.field(3, s.string, { pointer: true }),
  hostProcess: s.field(4, s.boolean, { pointer: true }),
})
export type WindowsSecurityContextOptions = Infer<typeof windowsSecurityContextOptions>

export const seccompProfile = struct(
  'SeccompProfile',
  {
    type: s.field(1, s.string, { always: true, required: true, default: '', enum: ['Localhost', 'RuntimeDefault', 'Unconfined'] }),
    localhostProfile: s.field(2, s.string, { pointer: true }),
  },
  { unions: [{ discriminator: 'type', values: { localhostProfile: 'LocalhostProfile' } }] },
)
export type SeccompProfile = Infer<typeof seccompProfile>

export const securityContext = struct('SecurityContext', {
  capabilities: s.field(1, capabilities, { pointer: true }),
  privileged: s.field(2, s.boolean, { pointer: true }),
  seLinuxOptions: s.field(3, seLinuxOptions, { pointer: true }),
  windowsOptions: s.field(10, windowsSecurityContextOptions, { pointer: true }),
  runAsUser: s.field(4, s.int64, { pointer: true }),
  runAsGroup: s.field(8, s.int64, { pointer: true }),
  runAsNonRoot: s.field(5, s.boolean, { pointer: true }),
  readOnlyRootFilesystem: s.field(6, s.boolean, { pointer: true }),
  allowPrivilegeEscalation: s.field(7, s.boolean, { pointer: true }),
  procMount: s.field(9, s.string, { pointer: true }),
  seccompProfile: s.field(11, seccompProfile, { pointer: true }),
})
export type SecurityContext = Infer<typeof securityContext>

export const container = struct('Container', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  image: s.field(2, s.string),
  command: s.field(3, s.list(s.string)),
  args: s.field(4, s.list(s.string)),
  workingDir: s.field(5, s.string),
  ports: s.field(
    6,
    s.list(containerPort, { listType: 'map', keys: ['containerPort', 'protocol'], patchStrategy: 'merge', patchMergeKey: 'containerPort' }),
  ),
  envFrom: s.field(19, s.list(envFromSource)),
  env: s.field(7, s.list(envVar, { patchStrategy: 'merge', patchMergeKey: 'name' })),
  resources: s.field(8, resourceRequirements, { default: {} }),
  volumeMounts: s.field(9, s.list(volumeMount, { patchStrategy: 'merge', patchMergeKey: 'mountPath' })),
  volumeDevices: s.field(21, s.list(volumeDevice, { patchStrategy: 'merge', patchMergeKey: 'devicePath' })),
  livenessProbe: s.field(10, probe, { pointer: true }),
  readinessProbe: s.field(11, probe, { pointer: true }),
  startupProbe: s.field(22, probe, { pointer: true }),
  lifecycle: s.field(12, lifecycle, { pointer: true }),
  terminationMessagePath: s.field(13, s.string),
  terminationMessagePolicy: s.field(20, s.string, { enum: ['FallbackToLogsOnError', 'File'] }),
  imagePullPolicy: s.field(14, s.string, { enum: ['Always', 'IfNotPresent', 'Never'] }),
  securityContext: s.field(15, securityContext, { pointer: true }),
  stdin: s.field(16, s.boolean),
  stdinOnce: s.field(17, s.boolean),
  tty: s.field(18, s.boolean),
})
export type Container = Infer<typeof container>

export const containerImage = struct('ContainerImage', {
  names: s.field(1, s.list(s.string), { always: true }),
  sizeBytes: s.field(2, s.int64),
})
export type ContainerImage = Infer<typeof containerImage>

export const containerStateWaiting = struct('ContainerStateWaiting', {
  reason: s.field(1, s.string),
  message: s.field(2, s.string),
})
export type ContainerStateWaiting = Infer<typeof containerStateWaiting>

export const containerStateRunning = struct('ContainerStateRunning', {
  startedAt: s.field(1, s.time, { default: {} }),
})
export type ContainerStateRunning = Infer<typeof containerStateRunning>

export const containerStateTerminated = struct('ContainerStateTerminated', {
  exitCode: s.field(1, s.int32, { always: true, required: true, default: 0 }),
  signal: s.field(2, s.int32),
  reason: s.field(3, s.string),
  message: s.field(4, s.string),
  startedAt: s.field(5, s.time, { default: {} }),
  finishedAt: s.field(6, s.time, { default: {} }),
  containerID: s.field(7, s.string),
})
export type ContainerStateTerminated = Infer<typeof containerStateTerminated>

export const containerState = struct('ContainerState', {
  waiting: s.field(1, containerStateWaiting, { pointer: true }),
  running: s.field(2, containerStateRunning, { pointer: true }),
  terminated: s.field(3, containerStateTerminated, { pointer: true }),
})
export type ContainerState = Infer<typeof containerState>

export const containerStatus = struct('ContainerStatus', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  state: s.field(2, containerState, { default: {} }),
  lastState: s.field(3, containerState, { default: {} }),
  ready: s.field(4, s.boolean, { always: true, required: true, default: false }),
  restartCount: s.field(5, s.int32, { always: true, required: true, default: 0 }),
  image: s.field(6, s.string, { always: true, required: true, default: '' }),
  imageID: s.field(7, s.string, { always: true, required: true, default: '' }),
  containerID: s.field(8, s.string),
  started: s.field(9, s.boolean, { pointer: true }),
})
export type ContainerStatus = Infer<typeof containerStatus>

export const daemonEndpoint = struct('DaemonEndpoint', {
  Port: s.field(1, s.int32, { always: true, required: true, default: 0 }),
})
export type DaemonEndpoint = Infer<typeof daemonEndpoint>

export const downwardAPIVolumeFile = struct('DownwardAPIVolumeFile', {
  path: s.field(1, s.string, { always: true, required: true, default: '' }),
  fieldRef: s.field(2, objectFieldSelector, { pointer: true }),
  resourceFieldRef: s.field(3, resourceFieldSelector, { pointer: true }),
  mode: s.field(4, s.int32, { pointer: true }),
})
export type DownwardAPIVolumeFile = Infer<typeof downwardAPIVolumeFile>

export const downwardAPIProjection = struct('DownwardAPIProjection', {
  items: s.field(1, s.list(downwardAPIVolumeFile)),
})
export type DownwardAPIProjection = Infer<typeof downwardAPIProjection>

export const downwardAPIVolumeSource = struct('DownwardAPIVolumeSource', {
  items: s.field(1, s.list(downwardAPIVolumeFile)),
  defaultMode: s.field(2, s.int32, { pointer: true }),
})
export type DownwardAPIVolumeSource = Infer<typeof downwardAPIVolumeSource>

export const emptyDirVolumeSource = struct('EmptyDirVolumeSource', {
  medium: s.field(1, s.string),
  sizeLimit: s.field(2, s.quantity, { pointer: true }),
})
export type EmptyDirVolumeSource = Infer<typeof emptyDirVolumeSource>

export const endpointAddress = struct(
  'EndpointAddress',
  {
    ip: s.field(1, s.string, { always: true, required: true, default: '' }),
    hostname: s.field(3, s.string),
    nodeName: s.field(4, s.string, { pointer: true }),
    targetRef: s.field(2, objectReference, { pointer: true }),
  },
  { mapType: 'atomic' },
)
export type EndpointAddress = Infer<typeof endpointAddress>

export const endpointPort = struct(
  'EndpointPort',
  {
    name: s.field(1, s.string),
    port: s.field(2, s.int32, { always: true, required: true, default: 0 }),
    protocol: s.field(3, s.string, { enum: ['SCTP', 'TCP', 'UDP'] }),
    appProtocol: s.field(4, s.string, { pointer: true }),
  },
  { mapType: 'atomic' },
)
export type EndpointPort = Infer<typeof endpointPort>

export const endpointSubset = struct('EndpointSubset', {
  addresses: s.field(1, s.list(endpointAddress)),
  notReadyAddresses: s.field(2, s.list(endpointAddress)),
  ports: s.field(3, s.list(endpointPort)),
})
export type EndpointSubset = Infer<typeof endpointSubset>

export const endpoints = struct(
  'Endpoints',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    subsets: s.field(2, s.list(endpointSubset)),
  },
  { typeMeta: true },
)
export type Endpoints = Infer<typeof endpoints>

export const ephemeralContainerCommon = struct('EphemeralContainerCommon', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  image: s.field(2, s.string),
  command: s.field(3, s.list(s.string)),
  args: s.field(4, s.list(s.string)),
  workingDir: s.field(5, s.string),
  ports: s.field(
    6,
    s.list(containerPort, { listType: 'map', keys: ['containerPort', 'protocol'], patchStrategy: 'merge', patchMergeKey: 'containerPort' }),
  ),
  envFrom: s.field(19, s.list(envFromSource)),
  env: s.field(7, s.list(envVar, { patchStrategy: 'merge', patchMergeKey: 'name' })),
  resources: s.field(8, resourceRequirements, { default: {} }),
  volumeMounts: s.field(9, s.list(volumeMount, { patchStrategy: 'merge', patchMergeKey: 'mountPath' })),
  volumeDevices: s.field(21, s.list(volumeDevice, { patchStrategy: 'merge', patchMergeKey: 'devicePath' })),
  livenessProbe: s.field(10, probe, { pointer: true }),
  readinessProbe: s.field(11, probe, { pointer: true }),
  startupProbe: s.field(22, probe, { pointer: true }),
  lifecycle: s.field(12, lifecycle, { pointer: true }),
  terminationMessagePath: s.field(13, s.string),
  terminationMessagePolicy: s.field(20, s.string, { enum: ['FallbackToLogsOnError', 'File'] }),
  imagePullPolicy: s.field(14, s.string, { enum: ['Always', 'IfNotPresent', 'Never'] }),
  securityContext: s.field(15, securityContext, { pointer: true }),
  stdin: s.field(16, s.boolean),
  stdinOnce: s.field(17, s.boolean),
  tty: s.field(18, s.boolean),
})
export type EphemeralContainerCommon = Infer<typeof ephemeralContainerCommon>

export const ephemeralContainer = struct('EphemeralContainer', {
  ...s.embed(1, ephemeralContainerCommon),
  targetContainerName: s.field(2, s.string),
})
export type EphemeralContainer = Infer<typeof ephemeralContainer>

export const typedLocalObjectReference = struct(
  'TypedLocalObjectReference',
  {
    apiGroup: s.field(1, s.string, { pointer: true, always: true }),
    kind: s.field(2, s.string, { always: true, required: true, default: '' }),
    name: s.field(3, s.string, { always: true, required: true, default: '' }),
  },
  { mapType: 'atomic' },
)
export type TypedLocalObjectReference = Infer<typeof typedLocalObjectReference>

export const typedObjectReference = struct('TypedObjectReference', {
  apiGroup: s.field(1, s.string, { pointer: true, always: true }),
  kind: s.field(2, s.string, { always: true, required: true, default: '' }),
  name: s.field(3, s.string, { always: true, required: true, default: '' }),
  namespace: s.field(4, s.string, { pointer: true }),
})
export type TypedObjectReference = Infer<typeof typedObjectReference>

export const persistentVolumeClaimSpec = struct('PersistentVolumeClaimSpec', {
  accessModes: s.field(1, s.list(s.string)),
  selector: s.field(4, meta.labelSelector, { pointer: true }),
  resources: s.field(2, resourceRequirements, { default: {} }),
  volumeName: s.field(3, s.string),
  storageClassName: s.field(5, s.string, { pointer: true }),
  volumeMode: s.field(6, s.string, { pointer: true }),
  dataSource: s.field(7, typedLocalObjectReference, { pointer: true }),
  dataSourceRef: s.field(8, typedObjectReference, { pointer: true }),
})
export type PersistentVolumeClaimSpec = Infer<typeof persistentVolumeClaimSpec>

export const persistentVolumeClaimTemplate = struct('PersistentVolumeClaimTemplate', {
  metadata: s.field(1, meta.objectMeta, { default: {} }),
  spec: s.field(2, persistentVolumeClaimSpec, { always: true, required: true, default: {} }),
})
export type PersistentVolumeClaimTemplate = Infer<typeof persistentVolumeClaimTemplate>

export const ephemeralVolumeSource = struct('EphemeralVolumeSource', {
  volumeClaimTemplate: s.field(1, persistentVolumeClaimTemplate, { pointer: true }),
})
export type EphemeralVolumeSource = Infer<typeof ephemeralVolumeSource>

export const eventSource = struct('EventSource', {
  component: s.field(1, s.string),
  host: s.field(2, s.string),
})
export type EventSource = Infer<typeof eventSource>

export const eventSeries = struct('EventSeries', {
  count: s.field(1, s.int32),
  lastObservedTime: s.field(2, s.microTime, { default: {} }),
})
export type EventSeries = Infer<typeof eventSeries>

export const event = struct(
  'Event',
  {
    metadata: s.field(1, meta.objectMeta, { always: true, required: true, default: {} }),
    involvedObject: s.field(2, objectReference, { always: true, required: true, default: {} }),
    reason: s.field(3, s.string),
    message: s.field(4, s.string),
    source: s.field(5, eventSource, { default: {} }),
    firstTimestamp: s.field(6, s.time, { default: {} }),
    lastTimestamp: s.field(7, s.time, { default: {} }),
    count: s.field(8, s.int32),
    type: s.field(9, s.string),
    eventTime: s.field(10, s.microTime, { default: {} }),
    series: s.field(11, eventSeries, { pointer: true }),
    action: s.field(12, s.string),
    related: s.field(13, objectReference, { pointer: true }),
    reportingComponent: s.field(14, s.string, { always: true, default: '' }),
    reportingInstance: s.field(15, s.string, { always: true, default: '' }),
  },
  { typeMeta: true },
)
export type Event = Infer<typeof event>

export const fcVolumeSource = struct('FCVolumeSource', {
  targetWWNs: s.field(1, s.list(s.string)),
  lun: s.field(2, s.int32, { pointer: true }),
  fsType: s.field(3, s.string),
  readOnly: s.field(4, s.boolean),
  wwids: s.field(5, s.list(s.string)),
})
export type FCVolumeSource = Infer<typeof fcVolumeSource>

export const flexPersistentVolumeSource = struct('FlexPersistentVolumeSource', {
  driver: s.field(1, s.string, { always: true, required: true, default: '' }),
  fsType: s.field(2, s.string),
  secretRef: s.field(3, secretReference, { pointer: true }),
  readOnly: s.field(4, s.boolean),
  options: s.field(5, s.map(s.string)),
})
export type FlexPersistentVolumeSource = Infer<typeof flexPersistentVolumeSource>

export const flexVolumeSource = struct('FlexVolumeSource', {
  driver: s.field(1, s.string, { always: true, required: true, default: '' }),
  fsType: s.field(2, s.string),
  secretRef: s.field(3, localObjectReference, { pointer: true }),
  readOnly: s.field(4, s.boolean),
  options: s.field(5, s.map(s.string)),
})
export type FlexVolumeSource = Infer<typeof flexVolumeSource>

export const flockerVolumeSource = struct('FlockerVolumeSource', {
  datasetName: s.field(1, s.string),
  datasetUUID: s.field(2, s.string),
})
export type FlockerVolumeSource = Infer<typeof flockerVolumeSource>

export const gcePersistentDiskVolumeSource = struct('GCEPersistentDiskVolumeSource', {
  pdName: s.field(1, s.string, { always: true, required: true, default: '' }),
  fsType: s.field(2, s.string),
  partition: s.field(3, s.int32),
  readOnly: s.field(4, s.boolean),
})
export type GCEPersistentDiskVolumeSource = Infer<typeof gcePersistentDiskVolumeSource>

export const gitRepoVolumeSource = struct('GitRepoVolumeSource', {
  repository: s.field(1, s.string, { always: true, required: true, default: '' }),
  revision: s.field(2, s.string),
  directory: s.field(3, s.string),
})
export type GitRepoVolumeSource = Infer<typeof gitRepoVolumeSource>

export const glusterfsPersistentVolumeSource = struct('GlusterfsPersistentVolumeSource', {
  endpoints: s.field(1, s.string, { always: true, required: true, default: '' }),
  path: s.field(2, s.string, { always: true, required: true, default: '' }),
  readOnly: s.field(3, s.boolean),
  endpointsNamespace: s.field(4, s.string, { pointer: true }),
})
export type GlusterfsPersistentVolumeSource = Infer<typeof glusterfsPersistentVolumeSource>

export const glusterfsVolumeSource = struct('GlusterfsVolumeSource', {
  endpoints: s.field(1, s.string, { always: true, required: true, default: '' }),
  path: s.field(2, s.string, { always: true, required: true, default: '' }),
  readOnly: s.field(3, s.boolean),
})
export type GlusterfsVolumeSource = Infer<typeof glusterfsVolumeSource>

export const hostAlias = struct('HostAlias', {
  ip: s.field(1, s.string),
  hostnames: s.field(2, s.list(s.string)),
})
export type HostAlias = Infer<typeof hostAlias>

export const hostPathVolumeSource = struct('HostPathVolumeSource', {
  path: s.field(1, s.string, { always: true, required: true, default: '' }),
  type: s.field(2, s.string, { pointer: true }),
})
export type HostPathVolumeSource = Infer<typeof hostPathVolumeSource>

export const iscsiPersistentVolumeSource = struct('ISCSIPersistentVolumeSource', {
  targetPortal: s.field(1, s.string, { always: true, required: true, default: '' }),
  iqn: s.field(2, s.string, { always: true, required: true, default: '' }),
  lun: s.field(3, s.int32, { always: true, required: true, default: 0 }),
  iscsiInterface: s.field(4, s.string),
  fsType: s.field(5, s.string),
  readOnly: s.field(6, s.boolean),
  portals: s.field(7, s.list(s.string)),
  chapAuthDiscovery: s.field(8, s.boolean),
  chapAuthSession: s.field(11, s.boolean),
  secretRef: s.field(10, secretReference, { pointer: true }),
  initiatorName: s.field(12, s.string, { pointer: true }),
})
export type ISCSIPersistentVolumeSource = Infer<typeof iscsiPersistentVolumeSource>

export const iscsiVolumeSource = struct('ISCSIVolumeSource', {
  targetPortal: s.field(1, s.string, { always: true, required: true, default: '' }),
  iqn: s.field(2, s.string, { always: true, required: true, default: '' }),
  lun: s.field(3, s.int32, { always: true, required: true, default: 0 }),
  iscsiInterface: s.field(4, s.string),
  fsType: s.field(5, s.string),
  readOnly: s.field(6, s.boolean),
  portals: s.field(7, s.list(s.string)),
  chapAuthDiscovery: s.field(8, s.boolean),
  chapAuthSession: s.field(11, s.boolean),
  secretRef: s.field(10, localObjectReference, { pointer: true }),
  initiatorName: s.field(12, s.string, { pointer: true }),
})
export type ISCSIVolumeSource = Infer<typeof iscsiVolumeSource>

export const limitRangeItem = struct('LimitRangeItem', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  max: s.field(2, s.map(s.quantity)),
  min: s.field(3, s.map(s.quantity)),
  default: s.field(4, s.map(s.quantity)),
  defaultRequest: s.field(5, s.map(s.quantity)),
  maxLimitRequestRatio: s.field(6, s.map(s.quantity)),
})
export type LimitRangeItem = Infer<typeof limitRangeItem>

export const limitRangeSpec = struct('LimitRangeSpec', {
  limits: s.field(1, s.list(limitRangeItem), { always: true, required: true }),
})
export type LimitRangeSpec = Infer<typeof limitRangeSpec>

export const limitRange = struct(
  'LimitRange',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, limitRangeSpec, { default: {} }),
  },
  { typeMeta: true },
)
export type LimitRange = Infer<typeof limitRange>

export const portStatus = struct('PortStatus', {
  port: s.field(1, s.int32, { always: true, required: true, default: 0 }),
  protocol: s.field(2, s.string, { always: true, required: true, default: '', enum: ['SCTP', 'TCP', 'UDP'] }),
  error: s.field(3, s.string, { pointer: true }),
})
export type PortStatus = Infer<typeof portStatus>

export const loadBalancerIngress = struct('LoadBalancerIngress', {
  ip: s.field(1, s.string),
  hostname: s.field(2, s.string),
  ports: s.field(4, s.list(portStatus, { listType: 'atomic' })),
})
export type LoadBalancerIngress = Infer<typeof loadBalancerIngress>

export const loadBalancerStatus = struct('LoadBalancerStatus', {
  ingress: s.field(1, s.list(loadBalancerIngress)),
})
export type LoadBalancerStatus = Infer<typeof loadBalancerStatus>

export const localVolumeSource = struct('LocalVolumeSource', {
  path: s.field(1, s.string, { always: true, required: true, default: '' }),
  fsType: s.field(2, s.string, { pointer: true }),
})
export type LocalVolumeSource = Infer<typeof localVolumeSource>

export const nfsVolumeSource = struct('NFSVolumeSource', {
  server: s.field(1, s.string, { always: true, required: true, default: '' }),
  path: s.field(2, s.string, { always: true, required: true, default: '' }),
  readOnly: s.field(3, s.boolean),
})
export type NFSVolumeSource = Infer<typeof nfsVolumeSource>

export const namespaceSpec = struct('NamespaceSpec', {
  finalizers: s.field(1, s.list(s.string)),
})
export type NamespaceSpec = Infer<typeof namespaceSpec>

export const namespaceCondition = struct('NamespaceCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  lastTransitionTime: s.field(4, s.time, { default: {} }),
  reason: s.field(5, s.string),
  message: s.field(6, s.string),
})
export type NamespaceCondition = Infer<typeof namespaceCondition>

export const namespaceStatus = struct('NamespaceStatus', {
  phase: s.field(1, s.string, { enum: ['Active', 'Terminating'] }),
  conditions: s.field(2, s.list(namespaceCondition, { patchStrategy: 'merge', patchMergeKey: 'type' })),
})
export type NamespaceStatus = Infer<typeof namespaceStatus>

export const namespace = struct(
  'Namespace',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, namespaceSpec, { default: {} }),
    status: s.field(3, namespaceStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type Namespace = Infer<typeof namespace>

export const taint = struct('Taint', {
  key: s.field(1, s.string, { always: true, required: true, default: '' }),
  value: s.field(2, s.string),
  effect: s.field(3, s.string, { always: true, required: true, default: '', enum: ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] }),
  timeAdded: s.field(4, s.time, { pointer: true }),
})
export type Taint = Infer<typeof taint>

export const nodeConfigSource = struct('NodeConfigSource', {
  configMap: s.field(2, configMapNodeConfigSource, { pointer: true }),
})
export type NodeConfigSource = Infer<typeof nodeConfigSource>

export const nodeSpec = struct('NodeSpec', {
  podCIDR: s.field(1, s.string),
  podCIDRs: s.field(7, s.list(s.string, { patchStrategy: 'merge' })),
  providerID: s.field(3, s.string),
  unschedulable: s.field(4, s.boolean),
  taints: s.field(5, s.list(taint)),
  configSource: s.field(6, nodeConfigSource, { pointer: true }),
  externalID: s.field(2, s.string),
})
export type NodeSpec = Infer<typeof nodeSpec>

export const nodeCondition = struct('NodeCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  lastHeartbeatTime: s.field(3, s.time, { default: {} }),
  lastTransitionTime: s.field(4, s.time, { default: {} }),
  reason: s.field(5, s.string),
  message: s.field(6, s.string),
})
export type NodeCondition = Infer<typeof nodeCondition>

export const nodeAddress = struct('NodeAddress', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  address: s.field(2, s.string, { always: true, required: true, default: '' }),
})
export type NodeAddress = Infer<typeof nodeAddress>

export const nodeDaemonEndpoints = struct('NodeDaemonEndpoints', {
  kubeletEndpoint: s.field(1, daemonEndpoint, { default: {} }),
})
export type NodeDaemonEndpoints = Infer<typeof nodeDaemonEndpoints>

export const nodeSystemInfo = struct('NodeSystemInfo', {
  machineID: s.field(1, s.string, { always: true, required: true, default: '' }),
  systemUUID: s.field(2, s.string, { always: true, required: true, default: '' }),
  bootID: s.field(3, s.string, { always: true, required: true, default: '' }),
  kernelVersion: s.field(4, s.string, { always: true, required: true, default: '' }),
  osImage: s.field(5, s.string, { always: true, required: true, default: '' }),
  containerRuntimeVersion: s.field(6, s.string, { always: true, required: true, default: '' }),
  kubeletVersion: s.field(7, s.string, { always: true, required: true, default: '' }),
  kubeProxyVersion: s.field(8, s.string, { always: true, required: true, default: '' }),
  operatingSystem: s.field(9, s.string, { always: true, required: true, default: '' }),
  architecture: s.field(10, s.string, { always: true, required: true, default: '' }),
})
export type NodeSystemInfo = Infer<typeof nodeSystemInfo>

export const nodeConfigStatus = struct('NodeConfigStatus', {
  assigned: s.field(1, nodeConfigSource, { pointer: true }),
  active: s.field(2, nodeConfigSource, { pointer: true }),
  lastKnownGood: s.field(3, nodeConfigSource, { pointer: true }),
  error: s.field(4, s.string),
})
export type NodeConfigStatus = Infer<typeof nodeConfigStatus>

export const nodeStatus = struct('NodeStatus', {
  capacity: s.field(1, s.map(s.quantity)),
  allocatable: s.field(2, s.map(s.quantity)),
  phase: s.field(3, s.string, { enum: ['Pending', 'Running', 'Terminated'] }),
  conditions: s.field(4, s.list(nodeCondition, { patchStrategy: 'merge', patchMergeKey: 'type' })),
  addresses: s.field(5, s.list(nodeAddress, { patchStrategy: 'merge', patchMergeKey: 'type' })),
  daemonEndpoints: s.field(6, nodeDaemonEndpoints, { default: {} }),
  nodeInfo: s.field(7, nodeSystemInfo, { default: {} }),
  images: s.field(8, s.list(containerImage)),
  volumesInUse: s.field(9, s.list(s.string)),
  volumesAttached: s.field(10, s.list(attachedVolume)),
  config: s.field(11, nodeConfigStatus, { pointer: true }),
})
export type NodeStatus = Infer<typeof nodeStatus>

export const node = struct(
  'Node',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, nodeSpec, { default: {} }),
    status: s.field(3, nodeStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type Node = Infer<typeof node>

export const nodeProxyOptions = struct(
  'NodeProxyOptions',
  {
    path: s.field(1, s.string),
  },
  { typeMeta: true },
)
export type NodeProxyOptions = Infer<typeof nodeProxyOptions>

export const nodeResources = struct('NodeResources', {
  Capacity: s.field(1, s.map(s.quantity), { protoName: 'capacity', always: true, required: true }),
})
export type NodeResources = Infer<typeof nodeResources>

export const rbdPersistentVolumeSource = struct('RBDPersistentVolumeSource', {
  monitors: s.field(1, s.list(s.string), { always: true, required: true }),
  image: s.field(2, s.string, { always: true, required: true, default: '' }),
  fsType: s.field(3, s.string),
  pool: s.field(4, s.string),
  user: s.field(5, s.string),
  keyring: s.field(6, s.string),
  secretRef: s.field(7, secretReference, { pointer: true }),
  readOnly: s.field(8, s.boolean),
})
export type RBDPersistentVolumeSource = Infer<typeof rbdPersistentVolumeSource>

export const vsphereVirtualDiskVolumeSource = struct('VsphereVirtualDiskVolumeSource', {
  volumePath: s.field(1, s.string, { always: true, required: true, default: '' }),
  fsType: s.field(2, s.string),
  storagePolicyName: s.field(3, s.string),
  storagePolicyID: s.field(4, s.string),
})
export type VsphereVirtualDiskVolumeSource = Infer<typeof vsphereVirtualDiskVolumeSource>

export const quobyteVolumeSource = struct('QuobyteVolumeSource', {
  registry: s.field(1, s.string, { always: true, required: true, default: '' }),
  volume: s.field(2, s.string, { always: true, required: true, default: '' }),
  readOnly: s.field(3, s.boolean),
  user: s.field(4, s.string),
  group: s.field(5, s.string),
  tenant: s.field(6, s.string),
})
export type QuobyteVolumeSource = Infer<typeof quobyteVolumeSource>

export const photonPersistentDiskVolumeSource = struct('PhotonPersistentDiskVolumeSource', {
  pdID: s.field(1, s.string, { always: true, required: true, default: '' }),
  fsType: s.field(2, s.string),
})
export type PhotonPersistentDiskVolumeSource = Infer<typeof photonPersistentDiskVolumeSource>

export const portworxVolumeSource = struct('PortworxVolumeSource', {
  volumeID: s.field(1, s.string, { always: true, required: true, default: '' }),
  fsType: s.field(2, s.string),
  readOnly: s.field(3, s.boolean),
})
export type PortworxVolumeSource = Infer<typeof portworxVolumeSource>

export const scaleIOPersistentVolumeSource = struct('ScaleIOPersistentVolumeSource', {
  gateway: s.field(1, s.string, { always: true, required: true, default: '' }),
  system: s.field(2, s.string, { always: true, required: true, default: '' }),
  secretRef: s.field(3, secretReference, { pointer: true, always: true, required: true }),
  sslEnabled: s.field(4, s.boolean),
  protectionDomain: s.field(5, s.string),
  storagePool: s.field(6, s.string),
  storageMode: s.field(7, s.string),
  volumeName: s.field(8, s.string),
  fsType: s.field(9, s.string),
  readOnly: s.field(10, s.boolean),
})
export type ScaleIOPersistentVolumeSource = Infer<typeof scaleIOPersistentVolumeSource>

export const storageOSPersistentVolumeSource = struct('StorageOSPersistentVolumeSource', {
  volumeName: s.field(1, s.string),
  volumeNamespace: s.field(2, s.string),
  fsType: s.field(3, s.string),
  readOnly: s.field(4, s.boolean),
  secretRef: s.field(5, objectReference, { pointer: true }),
})
export type StorageOSPersistentVolumeSource = Infer<typeof storageOSPersistentVolumeSource>

export const persistentVolumeSource = struct('PersistentVolumeSource', {
  gcePersistentDisk: s.field(1, gcePersistentDiskVolumeSource, { pointer: true }),
  awsElasticBlockStore: s.field(2, awsElasticBlockStoreVolumeSource, { pointer: true }),
  hostPath: s.field(3, hostPathVolumeSource, { pointer: true }),
  glusterfs: s.field(4, glusterfsPersistentVolumeSource, { pointer: true }),
  nfs: s.field(5, nfsVolumeSource, { pointer: true }),
  rbd: s.field(6, rbdPersistentVolumeSource, { pointer: true }),
  iscsi: s.field(7, iscsiPersistentVolumeSource, { pointer: true }),
  cinder: s.field(8, cinderPersistentVolumeSource, { pointer: true }),
  cephfs: s.field(9, cephFSPersistentVolumeSource, { pointer: true }),
  fc: s.field(10, fcVolumeSource, { pointer: true }),
  flocker: s.field(11, flockerVolumeSource, { pointer: true }),
  flexVolume: s.field(12, flexPersistentVolumeSource, { pointer: true }),
  azureFile: s.field(13, azureFilePersistentVolumeSource, { pointer: true }),
  vsphereVolume: s.field(14, vsphereVirtualDiskVolumeSource, { pointer: true }),
  quobyte: s.field(15, quobyteVolumeSource, { pointer: true }),
  azureDisk: s.field(16, azureDiskVolumeSource, { pointer: true }),
  photonPersistentDisk: s.field(17, photonPersistentDiskVolumeSource, { pointer: true }),
  portworxVolume: s.field(18, portworxVolumeSource, { pointer: true }),
  scaleIO: s.field(19, scaleIOPersistentVolumeSource, { pointer: true }),
  local: s.field(20, localVolumeSource, { pointer: true }),
  storageos: s.field(21, storageOSPersistentVolumeSource, { pointer: true }),
  csi: s.field(22, csiPersistentVolumeSource, { pointer: true }),
})
export type PersistentVolumeSource = Infer<typeof persistentVolumeSource>

export const volumeNodeAffinity = struct('VolumeNodeAffinity', {
  required: s.field(1, nodeSelector, { pointer: true }),
})
export type VolumeNodeAffinity = Infer<typeof volumeNodeAffinity>

export const persistentVolumeSpec = struct('PersistentVolumeSpec', {
  capacity: s.field(1, s.map(s.quantity)),
  ...s.embed(2, persistentVolumeSource),
  accessModes: s.field(3, s.list(s.string)),
  claimRef: s.field(4, objectReference, { pointer: true, mapType: 'granular' }),
  persistentVolumeReclaimPolicy: s.field(5, s.string, { enum: ['Delete', 'Recycle', 'Retain'] }),
  storageClassName: s.field(6, s.string),
  mountOptions: s.field(7, s.list(s.string)),
  volumeMode: s.field(8, s.string, { pointer: true }),
  nodeAffinity: s.field(9, volumeNodeAffinity, { pointer: true }),
})
export type PersistentVolumeSpec = Infer<typeof persistentVolumeSpec>

export const persistentVolumeStatus = struct('PersistentVolumeStatus', {
  phase: s.field(1, s.string, { enum: ['Available', 'Bound', 'Failed', 'Pending', 'Released'] }),
  message: s.field(2, s.string),
  reason: s.field(3, s.string),
})
export type PersistentVolumeStatus = Infer<typeof persistentVolumeStatus>

export const persistentVolume = struct(
  'PersistentVolume',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, persistentVolumeSpec, { default: {} }),
    status: s.field(3, persistentVolumeStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type PersistentVolume = Infer<typeof persistentVolume>

export const persistentVolumeClaimCondition = struct('PersistentVolumeClaimCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  lastProbeTime: s.field(3, s.time, { default: {} }),
  lastTransitionTime: s.field(4, s.time, { default: {} }),
  reason: s.field(5, s.string),
  message: s.field(6, s.string),
})
export type PersistentVolumeClaimCondition = Infer<typeof persistentVolumeClaimCondition>

export const persistentVolumeClaimStatus = struct('PersistentVolumeClaimStatus', {
  phase: s.field(1, s.string, { enum: ['Bound', 'Lost', 'Pending'] }),
  accessModes: s.field(2, s.list(s.string)),
  capacity: s.field(3, s.map(s.quantity)),
  conditions: s.field(4, s.list(persistentVolumeClaimCondition, { patchStrategy: 'merge', patchMergeKey: 'type' })),
  allocatedResources: s.field(5, s.map(s.quantity)),
  resizeStatus: s.field(6, s.string, { pointer: true }),
})
export type PersistentVolumeClaimStatus = Infer<typeof persistentVolumeClaimStatus>

export const persistentVolumeClaim = struct(
  'PersistentVolumeClaim',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, persistentVolumeClaimSpec, { default: {} }),
    status: s.field(3, persistentVolumeClaimStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type PersistentVolumeClaim = Infer<typeof persistentVolumeClaim>

export const persistentVolumeClaimVolumeSource = struct('PersistentVolumeClaimVolumeSource', {
  claimName: s.field(1, s.string, { always: true, required: true, default: '' }),
  readOnly: s.field(2, s.boolean),
})
export type PersistentVolumeClaimVolumeSource = Infer<typeof persistentVolumeClaimVolumeSource>

export const secretVolumeSource = struct('SecretVolumeSource', {
  secretName: s.field(1, s.string),
  items: s.field(2, s.list(keyToPath)),
  defaultMode: s.field(3, s.int32, { pointer: true }),
  optional: s.field(4, s.boolean, { pointer: true }),
})
export type SecretVolumeSource = Infer<typeof secretVolumeSource>

export const rbdVolumeSource = struct('RBDVolumeSource', {
  monitors: s.field(1, s.list(s.string), { always: true, required: true }),
  image: s.field(2, s.string, { always: true, required: true, default: '' }),
  fsType: s.field(3, s.string),
  pool: s.field(4, s.string),
  user: s.field(5, s.string),
  keyring: s.field(6, s.string),
  secretRef: s.field(7, localObjectReference, { pointer: true }),
  readOnly: s.field(8, s.boolean),
})
export type RBDVolumeSource = Infer<typeof rbdVolumeSource>

export const secretProjection = struct('SecretProjection', {
  ...s.embed(1, localObjectReference),
  items: s.field(2, s.list(keyToPath)),
  optional: s.field(4, s.boolean, { pointer: true }),
})
export type SecretProjection = Infer<typeof secretProjection>

export const serviceAccountTokenProjection = struct('ServiceAccountTokenProjection', {
  audience: s.field(1, s.string),
  expirationSeconds: s.field(2, s.int64, { pointer: true }),
  path: s.field(3, s.string, { always: true, required: true, default: '' }),
})
export type ServiceAccountTokenProjection = Infer<typeof serviceAccountTokenProjection>

export const volumeProjection = struct('VolumeProjection', {
  secret: s.field(1, secretProjection, { pointer: true }),
  downwardAPI: s.field(2, downwardAPIProjection, { pointer: true }),
  configMap: s.field(3, configMapProjection, { pointer: true }),
  serviceAccountToken: s.field(4, serviceAccountTokenProjection, { pointer: true }),
})
export type VolumeProjection = Infer<typeof volumeProjection>

export const projectedVolumeSource = struct('ProjectedVolumeSource', {
  sources: s.field(1, s.list(volumeProjection), { always: true }),
  defaultMode: s.field(2, s.int32, { pointer: true }),
})
export type ProjectedVolumeSource = Infer<typeof projectedVolumeSource>

export const scaleIOVolumeSource = struct('ScaleIOVolumeSource', {
  gateway: s.field(1, s.string, { always: true, required: true, default: '' }),
  system: s.field(2, s.string, { always: true, required: true, default: '' }),
  secretRef: s.field(3, localObjectReference, { pointer: true, always: true, required: true }),
  sslEnabled: s.field(4, s.boolean),
  protectionDomain: s.field(5, s.string),
  storagePool: s.field(6, s.string),
  storageMode: s.field(7, s.string),
  volumeName: s.field(8, s.string),
  fsType: s.field(9, s.string),
  readOnly: s.field(10, s.boolean),
})
export type ScaleIOVolumeSource = Infer<typeof scaleIOVolumeSource>

export const storageOSVolumeSource = struct('StorageOSVolumeSource', {
  volumeName: s.field(1, s.string),
  volumeNamespace: s.field(2, s.string),
  fsType: s.field(3, s.string),
  readOnly: s.field(4, s.boolean),
  secretRef: s.field(5, localObjectReference, { pointer: true }),
})
export type StorageOSVolumeSource = Infer<typeof storageOSVolumeSource>

export const volumeSource = struct('VolumeSource', {
  hostPath: s.field(1, hostPathVolumeSource, { pointer: true }),
  emptyDir: s.field(2, emptyDirVolumeSource, { pointer: true }),
  gcePersistentDisk: s.field(3, gcePersistentDiskVolumeSource, { pointer: true }),
  awsElasticBlockStore: s.field(4, awsElasticBlockStoreVolumeSource, { pointer: true }),
  gitRepo: s.field(5, gitRepoVolumeSource, { pointer: true }),
  secret: s.field(6, secretVolumeSource, { pointer: true }),
  nfs: s.field(7, nfsVolumeSource, { pointer: true }),
  iscsi: s.field(8, iscsiVolumeSource, { pointer: true }),
  glusterfs: s.field(9, glusterfsVolumeSource, { pointer: true }),
  persistentVolumeClaim: s.field(10, persistentVolumeClaimVolumeSource, { pointer: true }),
  rbd: s.field(11, rbdVolumeSource, { pointer: true }),
  flexVolume: s.field(12, flexVolumeSource, { pointer: true }),
  cinder: s.field(13, cinderVolumeSource, { pointer: true }),
  cephfs: s.field(14, cephFSVolumeSource, { pointer: true }),
  flocker: s.field(15, flockerVolumeSource, { pointer: true }),
  downwardAPI: s.field(16, downwardAPIVolumeSource, { pointer: true }),
  fc: s.field(17, fcVolumeSource, { pointer: true }),
  azureFile: s.field(18, azureFileVolumeSource, { pointer: true }),
  configMap: s.field(19, configMapVolumeSource, { pointer: true }),
  vsphereVolume: s.field(20, vsphereVirtualDiskVolumeSource, { pointer: true }),
  quobyte: s.field(21, quobyteVolumeSource, { pointer: true }),
  azureDisk: s.field(22, azureDiskVolumeSource, { pointer: true }),
  photonPersistentDisk: s.field(23, photonPersistentDiskVolumeSource, { pointer: true }),
  projected: s.field(26, projectedVolumeSource, { pointer: true }),
  portworxVolume: s.field(24, portworxVolumeSource, { pointer: true }),
  scaleIO: s.field(25, scaleIOVolumeSource, { pointer: true }),
  storageos: s.field(27, storageOSVolumeSource, { pointer: true }),
  csi: s.field(28, csiVolumeSource, { pointer: true }),
  ephemeral: s.field(29, ephemeralVolumeSource, { pointer: true }),
})
export type VolumeSource = Infer<typeof volumeSource>

export const volume = struct('Volume', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  ...s.embed(2, volumeSource),
})
export type Volume = Infer<typeof volume>

export const sysctl = struct('Sysctl', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  value: s.field(2, s.string, { always: true, required: true, default: '' }),
})
export type Sysctl = Infer<typeof sysctl>

export const podSecurityContext = struct('PodSecurityContext', {
  seLinuxOptions: s.field(1, seLinuxOptions, { pointer: true }),
  windowsOptions: s.field(8, windowsSecurityContextOptions, { pointer: true }),
  runAsUser: s.field(2, s.int64, { pointer: true }),
  runAsGroup: s.field(6, s.int64, { pointer: true }),
  runAsNonRoot: s.field(3, s.boolean, { pointer: true }),
  supplementalGroups: s.field(4, s.list(s.int64)),
  fsGroup: s.field(5, s.int64, { pointer: true }),
  sysctls: s.field(7, s.list(sysctl)),
  fsGroupChangePolicy: s.field(9, s.string, { pointer: true }),
  seccompProfile: s.field(10, seccompProfile, { pointer: true }),
})
export type PodSecurityContext = Infer<typeof podSecurityContext>

export const toleration = struct('Toleration', {
  key: s.field(1, s.string),
  operator: s.field(2, s.string, { enum: ['Equal', 'Exists'] }),
  value: s.field(3, s.string),
  effect: s.field(4, s.string, { enum: ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] }),
  tolerationSeconds: s.field(5, s.int64, { pointer: true }),
})
export type Toleration = Infer<typeof toleration>

export const podDNSConfigOption = struct('PodDNSConfigOption', {
  name: s.field(1, s.string),
  value: s.field(2, s.string, { pointer: true }),
})
export type PodDNSConfigOption = Infer<typeof podDNSConfigOption>

export const podDNSConfig = struct('PodDNSConfig', {
  nameservers: s.field(1, s.list(s.string)),
  searches: s.field(2, s.list(s.string)),
  options: s.field(3, s.list(podDNSConfigOption)),
})
export type PodDNSConfig = Infer<typeof podDNSConfig>

export const podReadinessGate = struct('PodReadinessGate', {
  conditionType: s.field(1, s.string, { always: true, required: true, default: '' }),
})
export type PodReadinessGate = Infer<typeof podReadinessGate>

export const topologySpreadConstraint = struct('TopologySpreadConstraint', {
  maxSkew: s.field(1, s.int32, { always: true, required: true, default: 0 }),
  topologyKey: s.field(2, s.string, { always: true, required: true, default: '' }),
  whenUnsatisfiable: s.field(3, s.string, { always: true, required: true, default: '', enum: ['DoNotSchedule', 'ScheduleAnyway'] }),
  labelSelector: s.field(4, meta.labelSelector, { pointer: true }),
  minDomains: s.field(5, s.int32, { pointer: true }),
  nodeAffinityPolicy: s.field(6, s.string, { pointer: true }),
  nodeTaintsPolicy: s.field(7, s.string, { pointer: true }),
  matchLabelKeys: s.field(8, s.list(s.string, { listType: 'atomic' })),
})
export type TopologySpreadConstraint = Infer<typeof topologySpreadConstraint>

export const podOS = struct('PodOS', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
})
export type PodOS = Infer<typeof podOS>

export const podSchedulingGate = struct('PodSchedulingGate', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
})
export type PodSchedulingGate = Infer<typeof podSchedulingGate>

export const podResourceClaim = struct('PodResourceClaim', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  source: s.field(2, claimSource, { default: {} }),
})
export type PodResourceClaim = Infer<typeof podResourceClaim>

export const podSpec = struct('PodSpec', {
  volumes: s.field(1, s.list(volume, { patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' })),
  initContainers: s.field(20, s.list(container, { patchStrategy: 'merge', patchMergeKey: 'name' })),
  containers: s.field(2, s.list(container, { patchStrategy: 'merge', patchMergeKey: 'name' }), { always: true, required: true }),
  ephemeralContainers: s.field(34, s.list(ephemeralContainer, { patchStrategy: 'merge', patchMergeKey: 'name' })),
  restartPolicy: s.field(3, s.string, { enum: ['Always', 'Never', 'OnFailure'] }),
  terminationGracePeriodSeconds: s.field(4, s.int64, { pointer: true }),
  activeDeadlineSeconds: s.field(5, s.int64, { pointer: true }),
  dnsPolicy: s.field(6, s.string, { enum: ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'] }),
  nodeSelector: s.field(7, s.map(s.string, { mapType: 'atomic' })),
  serviceAccountName: s.field(8, s.string),
  serviceAccount: s.field(9, s.string),
  automountServiceAccountToken: s.field(21, s.boolean, { pointer: true }),
  nodeName: s.field(10, s.string),
  hostNetwork: s.field(11, s.boolean),
  hostPID: s.field(12, s.boolean),
  hostIPC: s.field(13, s.boolean),
  shareProcessNamespace: s.field(27, s.boolean, { pointer: true }),
  securityContext: s.field(14, podSecurityContext, { pointer: true }),
  imagePullSecrets: s.field(15, s.list(localObjectReference, { patchStrategy: 'merge', patchMergeKey: 'name' })),
  hostname: s.field(16, s.string),
  subdomain: s.field(17, s.string),
  affinity: s.field(18, affinity, { pointer: true }),
  schedulerName: s.field(19, s.string),
  tolerations: s.field(22, s.list(toleration)),
  hostAliases: s.field(23, s.list(hostAlias, { patchStrategy: 'merge', patchMergeKey: 'ip' })),
  priorityClassName: s.field(24, s.string),
  priority: s.field(25, s.int32, { pointer: true }),
  dnsConfig: s.field(26, podDNSConfig, { pointer: true }),
  readinessGates: s.field(28, s.list(podReadinessGate)),
  runtimeClassName: s.field(29, s.string, { pointer: true }),
  enableServiceLinks: s.field(30, s.boolean, { pointer: true }),
  preemptionPolicy: s.field(31, s.string, { pointer: true }),
  overhead: s.field(32, s.map(s.quantity)),
  topologySpreadConstraints: s.field(
    33,
    s.list(topologySpreadConstraint, {
      listType: 'map',
      keys: ['topologyKey', 'whenUnsatisfiable'],
      patchStrategy: 'merge',
      patchMergeKey: 'topologyKey',
    }),
  ),
  setHostnameAsFQDN: s.field(35, s.boolean, { pointer: true }),
  os: s.field(36, podOS, { pointer: true }),
  hostUsers: s.field(37, s.boolean, { pointer: true }),
  schedulingGates: s.field(
    38,
    s.list(podSchedulingGate, { listType: 'map', keys: ['name'], patchStrategy: 'merge', patchMergeKey: 'name' }),
  ),
  resourceClaims: s.field(
    39,
    s.list(podResourceClaim, { listType: 'map', keys: ['name'], patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' }),
  ),
})
export type PodSpec = Infer<typeof podSpec>

export const podCondition = struct('PodCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  lastProbeTime: s.field(3, s.time, { default: {} }),
  lastTransitionTime: s.field(4, s.time, { default: {} }),
  reason: s.field(5, s.string),
  message: s.field(6, s.string),
})
export type PodCondition = Infer<typeof podCondition>

export const podIP = struct('PodIP', {
  ip: s.field(1, s.string),
})
export type PodIP = Infer<typeof podIP>

export const podStatus = struct('PodStatus', {
  phase: s.field(1, s.string, { enum: ['Failed', 'Pending', 'Running', 'Succeeded', 'Unknown'] }),
  conditions: s.field(2, s.list(podCondition, { patchStrategy: 'merge', patchMergeKey: 'type' })),
  message: s.field(3, s.string),
  reason: s.field(4, s.string),
  nominatedNodeName: s.field(11, s.string),
  hostIP: s.field(5, s.string),
  podIP: s.field(6, s.string),
  podIPs: s.field(12, s.list(podIP, { patchStrategy: 'merge', patchMergeKey: 'ip' })),
  startTime: s.field(7, s.time, { pointer: true }),
  initContainerStatuses: s.field(10, s.list(containerStatus)),
  containerStatuses: s.field(8, s.list(containerStatus)),
  qosClass: s.field(9, s.string, { enum: ['BestEffort', 'Burstable', 'Guaranteed'] }),
  ephemeralContainerStatuses: s.field(13, s.list(containerStatus)),
})
export type PodStatus = Infer<typeof podStatus>

export const pod = struct(
  'Pod',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, podSpec, { default: {} }),
    status: s.field(3, podStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type Pod = Infer<typeof pod>

export const podAttachOptions = struct(
  'PodAttachOptions',
  {
    stdin: s.field(1, s.boolean),
    stdout: s.field(2, s.boolean),
    stderr: s.field(3, s.boolean),
    tty: s.field(4, s.boolean),
    container: s.field(5, s.string),
  },
  { typeMeta: true },
)
export type PodAttachOptions = Infer<typeof podAttachOptions>

export const podExecOptions = struct(
  'PodExecOptions',
  {
    stdin: s.field(1, s.boolean),
    stdout: s.field(2, s.boolean),
    stderr: s.field(3, s.boolean),
    tty: s.field(4, s.boolean),
    container: s.field(5, s.string),
    command: s.field(6, s.list(s.string), { always: true, required: true }),
  },
  { typeMeta: true },
)
export type PodExecOptions = Infer<typeof podExecOptions>

export const podLogOptions = struct(
  'PodLogOptions',
  {
    container: s.field(1, s.string),
    follow: s.field(2, s.boolean),
    previous: s.field(3, s.boolean),
    sinceSeconds: s.field(4, s.int64, { pointer: true }),
    sinceTime: s.field(5, s.time, { pointer: true }),
    timestamps: s.field(6, s.boolean),
    tailLines: s.field(7, s.int64, { pointer: true }),
    limitBytes: s.field(8, s.int64, { pointer: true }),
    insecureSkipTLSVerifyBackend: s.field(9, s.boolean),
  },
  { typeMeta: true },
)
export type PodLogOptions = Infer<typeof podLogOptions>

export const podPortForwardOptions = struct(
  'PodPortForwardOptions',
  {
    ports: s.field(1, s.list(s.int32)),
  },
  { typeMeta: true },
)
export type PodPortForwardOptions = Infer<typeof podPortForwardOptions>

export const podProxyOptions = struct(
  'PodProxyOptions',
  {
    path: s.field(1, s.string),
  },
  { typeMeta: true },
)
export type PodProxyOptions = Infer<typeof podProxyOptions>

export const podStatusResult = struct(
  'PodStatusResult',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    status: s.field(2, podStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type PodStatusResult = Infer<typeof podStatusResult>

export const podTemplateSpec = struct('PodTemplateSpec', {
  metadata: s.field(1, meta.objectMeta, { default: {} }),
  spec: s.field(2, podSpec, { default: {} }),
})
export type PodTemplateSpec = Infer<typeof podTemplateSpec>

export const podTemplate = struct(
  'PodTemplate',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    template: s.field(2, podTemplateSpec, { default: {} }),
  },
  { typeMeta: true },
)
export type PodTemplate = Infer<typeof podTemplate>

export const preconditions = struct('Preconditions', {
  uid: s.field(1, s.string, { pointer: true }),
})
export type Preconditions = Infer<typeof preconditions>

export const rangeAllocation = struct(
  'RangeAllocation',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    range: s.field(2, s.string, { always: true, required: true, default: '' }),
    data: s.field(3, s.bytes, { always: true, required: true }),
  },
  { typeMeta: true },
)
export type RangeAllocation = Infer<typeof rangeAllocation>

export const replicationControllerSpec = struct('ReplicationControllerSpec', {
  replicas: s.field(1, s.int32, { pointer: true }),
  minReadySeconds: s.field(4, s.int32),
  selector: s.field(2, s.map(s.string, { mapType: 'atomic' })),
  template: s.field(3, podTemplateSpec, { pointer: true }),
})
export type ReplicationControllerSpec = Infer<typeof replicationControllerSpec>

export const replicationControllerCondition = struct('ReplicationControllerCondition', {
  type: s.field(1, s.string, { always: true, required: true, default: '' }),
  status: s.field(2, s.string, { always: true, required: true, default: '' }),
  lastTransitionTime: s.field(3, s.time, { default: {} }),
  reason: s.field(4, s.string),
  message: s.field(5, s.string),
})
export type ReplicationControllerCondition = Infer<typeof replicationControllerCondition>

export const replicationControllerStatus = struct('ReplicationControllerStatus', {
  replicas: s.field(1, s.int32, { always: true, required: true, default: 0 }),
  fullyLabeledReplicas: s.field(2, s.int32),
  readyReplicas: s.field(4, s.int32),
  availableReplicas: s.field(5, s.int32),
  observedGeneration: s.field(3, s.int64),
  conditions: s.field(6, s.list(replicationControllerCondition, { patchStrategy: 'merge', patchMergeKey: 'type' })),
})
export type ReplicationControllerStatus = Infer<typeof replicationControllerStatus>

export const replicationController = struct(
  'ReplicationController',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, replicationControllerSpec, { default: {} }),
    status: s.field(3, replicationControllerStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type ReplicationController = Infer<typeof replicationController>

export const scopedResourceSelectorRequirement = struct('ScopedResourceSelectorRequirement', {
  scopeName: s.field(1, s.string, {
    always: true,
    required: true,
    default: '',
    enum: ['BestEffort', 'CrossNamespacePodAffinity', 'NotBestEffort', 'NotTerminating', 'PriorityClass', 'Terminating'],
  }),
  operator: s.field(2, s.string, { always: true, required: true, default: '', enum: ['DoesNotExist', 'Exists', 'In', 'NotIn'] }),
  values: s.field(3, s.list(s.string)),
})
export type ScopedResourceSelectorRequirement = Infer<typeof scopedResourceSelectorRequirement>

export const scopeSelector = struct(
  'ScopeSelector',
  {
    matchExpressions: s.field(1, s.list(scopedResourceSelectorRequirement)),
  },
  { mapType: 'atomic' },
)
export type ScopeSelector = Infer<typeof scopeSelector>

export const resourceQuotaSpec = struct('ResourceQuotaSpec', {
  hard: s.field(1, s.map(s.quantity)),
  scopes: s.field(2, s.list(s.string)),
  scopeSelector: s.field(3, scopeSelector, { pointer: true }),
})
export type ResourceQuotaSpec = Infer<typeof resourceQuotaSpec>

export const resourceQuotaStatus = struct('ResourceQuotaStatus', {
  hard: s.field(1, s.map(s.quantity)),
  used: s.field(2, s.map(s.quantity)),
})
export type ResourceQuotaStatus = Infer<typeof resourceQuotaStatus>

export const resourceQuota = struct(
  'ResourceQuota',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, resourceQuotaSpec, { default: {} }),
    status: s.field(3, resourceQuotaStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type ResourceQuota = Infer<typeof resourceQuota>

export const secret = struct(
  'Secret',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    immutable: s.field(5, s.boolean, { pointer: true }),
    data: s.field(2, s.map(s.bytes)),
    stringData: s.field(4, s.map(s.string)),
    type: s.field(3, s.string),
  },
  { typeMeta: true },
)
export type Secret = Infer<typeof secret>

export const serializedReference = struct(
  'SerializedReference',
  {
    reference: s.field(1, objectReference, { default: {} }),
  },
  { typeMeta: true },
)
export type SerializedReference = Infer<typeof serializedReference>

export const servicePort = struct('ServicePort', {
  name: s.field(1, s.string),
  protocol: s.field(2, s.string, { default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }),
  appProtocol: s.field(6, s.string, { pointer: true }),
  port: s.field(3, s.int32, { always: true, required: true, default: 0 }),
  targetPort: s.field(4, s.intOrString, { default: {} }),
  nodePort: s.field(5, s.int32),
})
export type ServicePort = Infer<typeof servicePort>

export const sessionAffinityConfig = struct('SessionAffinityConfig', {
  clientIP: s.field(1, clientIPConfig, { pointer: true }),
})
export type SessionAffinityConfig = Infer<typeof sessionAffinityConfig>

export const serviceSpec = struct('ServiceSpec', {
  ports: s.field(1, s.list(servicePort, { listType: 'map', keys: ['port', 'protocol'], patchStrategy: 'merge', patchMergeKey: 'port' })),
  selector: s.field(2, s.map(s.string, { mapType: 'atomic' })),
  clusterIP: s.field(3, s.string),
  clusterIPs: s.field(18, s.list(s.string, { listType: 'atomic' })),
  type: s.field(4, s.string, { enum: ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'] }),
  externalIPs: s.field(5, s.list(s.string)),
  sessionAffinity: s.field(7, s.string, { enum: ['ClientIP', 'None'] }),
  loadBalancerIP: s.field(8, s.string),
  loadBalancerSourceRanges: s.field(9, s.list(s.string)),
  externalName: s.field(10, s.string),
  externalTrafficPolicy: s.field(11, s.string, { enum: ['Cluster', 'Local'] }),
  healthCheckNodePort: s.field(12, s.int32),
  publishNotReadyAddresses: s.field(13, s.boolean),
  sessionAffinityConfig: s.field(14, sessionAffinityConfig, { pointer: true }),
  ipFamilies: s.field(19, s.list(s.string, { listType: 'atomic' })),
  ipFamilyPolicy: s.field(17, s.string, { pointer: true }),
  allocateLoadBalancerNodePorts: s.field(20, s.boolean, { pointer: true }),
  loadBalancerClass: s.field(21, s.string, { pointer: true }),
  internalTrafficPolicy: s.field(22, s.string, { pointer: true }),
})
export type ServiceSpec = Infer<typeof serviceSpec>

export const serviceStatus = struct('ServiceStatus', {
  loadBalancer: s.field(1, loadBalancerStatus, { default: {} }),
  conditions: s.field(2, s.list(meta.condition, { listType: 'map', keys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type' })),
})
export type ServiceStatus = Infer<typeof serviceStatus>

export const service = struct(
  'Service',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, serviceSpec, { default: {} }),
    status: s.field(3, serviceStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type Service = Infer<typeof service>

export const serviceAccount = struct(
  'ServiceAccount',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    secrets: s.field(2, s.list(objectReference, { patchStrategy: 'merge', patchMergeKey: 'name' })),
    imagePullSecrets: s.field(3, s.list(localObjectReference)),
    automountServiceAccountToken: s.field(4, s.boolean, { pointer: true }),
  },
  { typeMeta: true },
)
export type ServiceAccount = Infer<typeof serviceAccount>

export const serviceProxyOptions = struct(
  'ServiceProxyOptions',
  {
    path: s.field(1, s.string),
  },
  { typeMeta: true },
)
export type ServiceProxyOptions = Infer<typeof serviceProxyOptions>

export const topologySelectorLabelRequirement = struct('TopologySelectorLabelRequirement', {
  key: s.field(1, s.string, { always: true, required: true, default: '' }),
  values: s.field(2, s.list(s.string), { always: true, required: true }),
})
export type TopologySelectorLabelRequirement = Infer<typeof topologySelectorLabelRequirement>

export const topologySelectorTerm = struct(
  'TopologySelectorTerm',
  {
    matchLabelExpressions: s.field(1, s.list(topologySelectorLabelRequirement)),
  },
  { mapType: 'atomic' },
)
export type TopologySelectorTerm = Infer<typeof topologySelectorTerm>
