// Written examples of built-in kinds. A test creates each of them.

import type { GroupName } from '@cluster-apiserver/api/api/identity.js'

export type Body = { readonly [field: string]: unknown }

export interface WrittenExample {
  readonly group: GroupName
  readonly kind: string
  /** Undefined: all versions. */
  readonly version?: string
  readonly title: string
  /** `group`: API group of the kind. */
  body(group: string): Body
}

const labels = { app: 'example' }
const image = 'registry.example.com/example:1.0'
const container = { name: 'main', image }
const resources = { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } }
const server = { ...container, ports: [{ name: 'http', containerPort: 8080 }], resources }
const template = { metadata: { labels }, spec: { containers: [server] } }
const runToEnd = { containers: [{ ...container, command: ['sh', '-c', 'echo done'] }], restartPolicy: 'Never' }
const selector = { matchLabels: labels }
const storage = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const policyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }
const webhook = {
  name: 'example.example.com',
  clientConfig: { service: { namespace: 'default', name: 'example', path: '/review' } },
  rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
  failurePolicy: 'Ignore',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
}
const matchDeployments = {
  resourceRules: [{ operations: ['CREATE', 'UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }],
}
const crdSchema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, description: 'How large the widget is.' },
        color: { type: 'string', enum: ['red', 'green'], default: 'red' },
      },
      'x-kubernetes-validations': [{ rule: "self.color != 'green' || self.size < 10", message: 'green widgets are small' }],
    },
    status: { type: 'object', properties: { ready: { type: 'boolean' } } },
  },
}
const roleKinds = ['Role', 'ClusterRole'] as const
const webhookKinds = ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'] as const
const rbac = { stem: 'rbac.authorization' }
const networking = { stem: 'networking' }
const admission = { stem: 'admissionregistration' }
const flowControl = { stem: 'flowcontrol.apiserver' }

export const writtenExamples: readonly WrittenExample[] = [
  { group: '', kind: 'Pod', title: 'One container', body: () => ({ metadata: { labels }, spec: { containers: [server] } }) },
  {
    group: '',
    kind: 'Service',
    title: 'Port of pods',
    body: () => ({ spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 'http' }] } }),
  },
  {
    group: '',
    kind: 'Service',
    title: 'Headless',
    body: () => ({ spec: { clusterIP: 'None', selector: labels, ports: [{ name: 'http', port: 80, targetPort: 'http' }] } }),
  },
  {
    group: '',
    kind: 'ConfigMap',
    title: 'Settings',
    body: () => ({ data: { 'settings.yaml': 'color: red\nsize: 3\n', LOG_LEVEL: 'info' } }),
  },
  { group: '', kind: 'Secret', title: 'Opaque', body: () => ({ type: 'Opaque', stringData: { password: 'change me' } }) },
  { group: '', kind: 'PersistentVolumeClaim', title: '1 GiB', body: () => ({ spec: storage }) },
  {
    group: '',
    kind: 'PersistentVolume',
    title: 'Folder of the node',
    body: () => ({ spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } } }),
  },
  {
    group: '',
    kind: 'ResourceQuota',
    title: 'Pods and CPU',
    body: () => ({ spec: { hard: { pods: '20', 'requests.cpu': '4', 'requests.memory': '8Gi' } } }),
  },
  {
    group: '',
    kind: 'LimitRange',
    title: 'Defaults of containers',
    body: () => ({
      spec: { limits: [{ type: 'Container', default: { memory: '128Mi' }, defaultRequest: { cpu: '100m', memory: '64Mi' } }] },
    }),
  },
  {
    group: '',
    kind: 'ReplicationController',
    title: 'Three replicas',
    body: () => ({ spec: { replicas: 3, selector: labels, template } }),
  },
  { group: '', kind: 'PodTemplate', title: 'One container', body: () => ({ template }) },
  { group: 'apps', kind: 'Deployment', title: 'Three replicas', body: () => ({ spec: { replicas: 3, selector, template } }) },
  {
    group: 'apps',
    kind: 'StatefulSet',
    title: 'With a volume each',
    body: () => ({
      spec: {
        serviceName: 'example',
        replicas: 2,
        selector,
        template: { metadata: { labels }, spec: { containers: [{ ...server, volumeMounts: [{ name: 'data', mountPath: '/data' }] }] } },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: storage }],
      },
    }),
  },
  { group: 'apps', kind: 'DaemonSet', title: 'On each node', body: () => ({ spec: { selector, template } }) },
  { group: 'apps', kind: 'ReplicaSet', title: 'Three replicas', body: () => ({ spec: { replicas: 3, selector, template } }) },
  {
    group: 'batch',
    kind: 'Job',
    title: 'Run once',
    body: () => ({ spec: { backoffLimit: 2, ttlSecondsAfterFinished: 3600, template: { spec: runToEnd } } }),
  },
  {
    group: 'batch',
    kind: 'CronJob',
    title: 'Each night',
    body: () => ({
      spec: {
        schedule: '30 2 * * *',
        timeZone: 'Etc/UTC',
        concurrencyPolicy: 'Forbid',
        jobTemplate: { spec: { template: { spec: runToEnd } } },
      },
    }),
  },
  {
    group: 'autoscaling',
    kind: 'HorizontalPodAutoscaler',
    version: 'v2',
    title: 'By CPU',
    body: () => ({
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'example' },
        minReplicas: 2,
        maxReplicas: 10,
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } }],
      },
    }),
  },
  {
    group: 'autoscaling',
    kind: 'HorizontalPodAutoscaler',
    version: 'v1',
    title: 'By CPU',
    body: () => ({ spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'example' }, maxReplicas: 10 } }),
  },
  { group: 'policy', kind: 'PodDisruptionBudget', title: 'At least one', body: () => ({ spec: { minAvailable: 1, selector } }) },
  {
    group: networking,
    kind: 'Ingress',
    title: 'Path of a host',
    body: () => ({
      spec: {
        rules: [
          {
            host: 'example.com',
            http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'example', port: { name: 'http' } } } }] },
          },
        ],
      },
    }),
  },
  {
    group: networking,
    kind: 'NetworkPolicy',
    title: 'Deny other traffic',
    body: () => ({
      spec: {
        podSelector: selector,
        policyTypes: ['Ingress'],
        ingress: [{ from: [{ podSelector: { matchLabels: { app: 'client' } } }], ports: [{ port: 8080 }] }],
      },
    }),
  },
  { group: networking, kind: 'IngressClass', title: 'Controller', body: () => ({ spec: { controller: 'example.com/ingress' } }) },
  ...roleKinds.map((kind) => ({ group: rbac, kind, title: 'Read pods', body: () => ({ rules: [policyRule] }) })),
  {
    group: rbac,
    kind: 'RoleBinding',
    title: 'For a service account',
    body: (group) => ({
      roleRef: { apiGroup: group, kind: 'Role', name: 'example' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
    }),
  },
  {
    group: rbac,
    kind: 'ClusterRoleBinding',
    title: 'For a group of users',
    body: (group) => ({
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: group, kind: 'Group', name: 'developers' }],
    }),
  },
  {
    group: { stem: 'storage' },
    kind: 'StorageClass',
    title: 'Wait for the first pod',
    body: () => ({ provisioner: 'example.com/disk', volumeBindingMode: 'WaitForFirstConsumer' }),
  },
  {
    group: { stem: 'scheduling' },
    kind: 'PriorityClass',
    title: 'Important',
    body: () => ({ value: 1000, description: 'Before others.' }),
  },
  {
    group: { stem: 'coordination' },
    kind: 'Lease',
    title: 'Leader',
    body: () => ({ spec: { holderIdentity: 'example', leaseDurationSeconds: 15 } }),
  },
  {
    group: { stem: 'apiextensions' },
    kind: 'CustomResourceDefinition',
    title: 'Kind Widget',
    body: () => ({
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: crdSchema }, subresources: { status: {} } }],
      },
    }),
  },
  ...webhookKinds.map((kind) => ({ group: admission, kind, title: 'For new pods', body: () => ({ webhooks: [webhook] }) })),
  {
    group: admission,
    kind: 'ValidatingAdmissionPolicy',
    title: 'At most five replicas',
    body: () => ({
      spec: {
        matchConstraints: matchDeployments,
        validations: [{ expression: 'object.spec.replicas <= 5', message: 'at most five replicas' }],
      },
    }),
  },
  {
    group: admission,
    kind: 'ValidatingAdmissionPolicyBinding',
    title: 'In all namespaces',
    body: () => ({ spec: { policyName: 'example' } }),
  },
  {
    group: flowControl,
    kind: 'PriorityLevelConfiguration',
    title: 'Queues',
    body: () => ({
      spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: { queues: 16, handSize: 4, queueLengthLimit: 50 } } } },
    }),
  },
  {
    group: flowControl,
    kind: 'FlowSchema',
    title: 'Reads of a group',
    body: () => ({
      spec: {
        priorityLevelConfiguration: { name: 'global-default' },
        matchingPrecedence: 9000,
        rules: [
          {
            subjects: [{ kind: 'Group', group: { name: 'developers' } }],
            resourceRules: [{ verbs: ['get', 'list'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
          },
        ],
      },
    }),
  },
  {
    group: { stem: 'discovery' },
    kind: 'EndpointSlice',
    title: 'One address',
    body: () => ({ addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.9'] }], ports: [{ name: 'http', port: 8080 }] }),
  },
  { group: networking, kind: 'ClusterCIDR', title: 'IPv4', body: () => ({ spec: { perNodeHostBits: 8, ipv4: '10.9.0.0/16' } }) },
  {
    group: { stem: 'apiregistration' },
    kind: 'APIService',
    title: 'Served by a Service',
    body: () => ({
      metadata: { name: 'v1.metrics.example.com' },
      spec: {
        group: 'metrics.example.com',
        version: 'v1',
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        service: { namespace: 'default', name: 'example' },
        insecureSkipTLSVerify: true,
      },
    }),
  },
]
