// Test kinds with those fields of real kinds that merge in different ways, because patch/ does not import the real kinds.

import * as s from '../../schema/node.js'

const always = { always: true, required: true }
const optional = { pointer: true }

const ownerReference = s.struct(
  'OwnerReference',
  {
    apiVersion: s.jsonField(s.string, always),
    kind: s.jsonField(s.string, always),
    name: s.jsonField(s.string, always),
    uid: s.jsonField(s.string, always),
  },
  { mapType: 'atomic' },
)

const metadata = s.struct('ObjectMeta', {
  name: s.jsonField(s.string),
  namespace: s.jsonField(s.string),
  uid: s.jsonField(s.string),
  resourceVersion: s.jsonField(s.string),
  generation: s.jsonField(s.int64),
  creationTimestamp: s.jsonField(s.time),
  labels: s.jsonField(s.map(s.string)),
  annotations: s.jsonField(s.map(s.string)),
  ownerReferences: s.jsonField(s.list(ownerReference, { patchStrategy: 'merge', patchMergeKey: 'uid' })),
  finalizers: s.jsonField(s.list(s.string, { patchStrategy: 'merge' })),
})

const kind = <Fields extends s.FieldTable>(name: string, fields: Fields): s.StructNode =>
  s.struct(name, { metadata: s.jsonField(metadata), ...fields }, { typeMeta: true })

export const configMap = kind('ConfigMap', { data: s.jsonField(s.map(s.string)), immutable: s.jsonField(s.boolean, optional) })

export const lease = kind('Lease', { spec: s.jsonField(s.struct('LeaseSpec', { holderIdentity: s.jsonField(s.string, optional) })) })

const reference = s.struct('ObjectReference', { namespace: s.jsonField(s.string), name: s.jsonField(s.string) }, { mapType: 'atomic' })

export const serviceAccount = kind('ServiceAccount', {
  secrets: s.jsonField(s.list(reference, { patchStrategy: 'merge', patchMergeKey: 'name' })),
  imagePullSecrets: s.jsonField(s.list(reference)),
  automountServiceAccountToken: s.jsonField(s.boolean, optional),
})

const servicePort = s.struct('ServicePort', {
  name: s.jsonField(s.string),
  protocol: s.jsonField(s.string, { default: 'TCP' }),
  port: s.jsonField(s.int32, { ...always, default: 0 }),
  targetPort: s.jsonField(s.intOrString),
})

const clientIP = s.struct('ClientIPConfig', { timeoutSeconds: s.jsonField(s.int32, optional) })

export const service = kind('Service', {
  spec: s.jsonField(
    s.struct('ServiceSpec', {
      selector: s.jsonField(s.map(s.string, { mapType: 'atomic' })),
      ports: s.jsonField(
        s.list(servicePort, { listType: 'map', keys: ['port', 'protocol'], patchStrategy: 'merge', patchMergeKey: 'port' }),
      ),
      externalIPs: s.jsonField(s.list(s.string)),
      sessionAffinityConfig: s.jsonField(s.struct('SessionAffinityConfig', { clientIP: s.jsonField(clientIP, optional) }), optional),
    }),
  ),
})

const containerPort = s.struct('ContainerPort', {
  name: s.jsonField(s.string),
  containerPort: s.jsonField(s.int32, { ...always, default: 0 }),
  protocol: s.jsonField(s.string, { default: 'TCP' }),
})

const container = s.struct('Container', {
  name: s.jsonField(s.string, { ...always, default: '' }),
  image: s.jsonField(s.string),
  command: s.jsonField(s.list(s.string)),
  ports: s.jsonField(
    s.list(containerPort, { listType: 'map', keys: ['containerPort', 'protocol'], patchStrategy: 'merge', patchMergeKey: 'containerPort' }),
  ),
  env: s.jsonField(
    s.list(s.struct('EnvVar', { name: s.jsonField(s.string, always), value: s.jsonField(s.string) }), {
      patchStrategy: 'merge',
      patchMergeKey: 'name',
    }),
  ),
  resources: s.jsonField(s.struct('ResourceRequirements', { limits: s.jsonField(s.map(s.quantity)) })),
  volumeMounts: s.jsonField(
    s.list(s.struct('VolumeMount', { name: s.jsonField(s.string, always), mountPath: s.jsonField(s.string, always) }), {
      patchStrategy: 'merge',
      patchMergeKey: 'mountPath',
    }),
  ),
  stdin: s.jsonField(s.boolean),
})

const volume = s.struct('Volume', {
  name: s.jsonField(s.string, always),
  emptyDir: s.jsonField(s.struct('EmptyDir', { medium: s.jsonField(s.string) }), optional),
  configMap: s.jsonField(s.struct('ConfigMapSource', { name: s.jsonField(s.string) }), optional),
})

const podSpec = s.struct('PodSpec', {
  containers: s.jsonField(s.list(container, { patchStrategy: 'merge', patchMergeKey: 'name' }), always),
  volumes: s.jsonField(s.list(volume, { patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' })),
  tolerations: s.jsonField(s.list(s.struct('Toleration', { key: s.jsonField(s.string) }))),
  imagePullSecrets: s.jsonField(s.list(reference, { patchStrategy: 'merge', patchMergeKey: 'name' })),
  nodeName: s.jsonField(s.string),
  nodeSelector: s.jsonField(s.map(s.string, { mapType: 'atomic' })),
  securityContext: s.jsonField(s.struct('PodSecurityContext', { runAsUser: s.jsonField(s.int64, optional) }), optional),
})

const podCondition = s.struct('PodCondition', {
  type: s.jsonField(s.string, always),
  status: s.jsonField(s.string, always),
  lastProbeTime: s.jsonField(s.time),
  lastTransitionTime: s.jsonField(s.time),
  reason: s.jsonField(s.string),
})

export const pod = kind('Pod', {
  spec: s.jsonField(podSpec),
  status: s.jsonField(
    s.struct('PodStatus', {
      phase: s.jsonField(s.string),
      conditions: s.jsonField(s.list(podCondition, { patchStrategy: 'merge', patchMergeKey: 'type' })),
    }),
  ),
})

const labelSelector = s.struct('LabelSelector', { matchLabels: s.jsonField(s.map(s.string)) }, { mapType: 'atomic' })

const strategy = s.struct('DeploymentStrategy', {
  type: s.jsonField(s.string),
  rollingUpdate: s.jsonField(s.struct('RollingUpdate', { maxSurge: s.jsonField(s.intOrString, optional) }), optional),
})

export const deployment = kind('Deployment', {
  spec: s.jsonField(
    s.struct('DeploymentSpec', {
      replicas: s.jsonField(s.int32, optional),
      selector: s.jsonField(labelSelector, { ...always, ...optional }),
      template: s.jsonField(s.struct('PodTemplateSpec', { metadata: s.jsonField(metadata), spec: s.jsonField(podSpec) }), always),
      strategy: s.jsonField(strategy, { patchStrategy: 'retainKeys' }),
    }),
  ),
})
