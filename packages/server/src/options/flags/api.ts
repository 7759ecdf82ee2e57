// Flags of the API: identity, versions, feature gates, service ranges, controllers, egress, kubelets and extension API servers.

import { identityNames } from '@cluster-apiserver/api/api/identity.js'
import type { FlagDefinition } from './flag.js'

/** Controllers have the same name as in kube-controller-manager, if it has them. */
export const controllerNames = [
  'garbagecollector',
  'namespace',
  'serviceaccount',
  'root-ca-cert-publisher',
  'flow-schema-status',
  'clusterrole-aggregation',
  'serviceaccount-token',
  'csrsigning',
  'tokencleaner',
  'bootstrapsigner',
  'resourcequota',
  'ttl-after-finished',
  'disruption',
  'pvc-protection',
  'pv-protection',
  'csrapproving',
  'csrcleaner',
  'identity-lease-garbage-collector',
  'custom-resource-definitions',
  'apiservice-registration',
  'apiservice-status-available',
] as const

/** Controllers of the group `workloads`, off by default. Each is a line in controllers/workloads/workload-table.ts, too. */
export const workloadNames = [
  'replicaset',
  'replicationcontroller',
  'deployment',
  'job',
  'cronjob',
  'statefulset',
  'daemonset',
  'nodelifecycle',
  'endpoint',
  'endpointslice',
  'podgc',
  'persistentvolume-binder',
  'scheduler',
  'persistentvolume-expander',
  'ephemeral-volume',
  'horizontalpodautoscaling',
  'endpointslicemirroring',
  'service-lb',
  'resource-claim',
  'attachdetach',
  'nodeipam',
] as const

/** Controllers that kube-controller-manager does not have. */
export const apiServerControllers: readonly string[] = [
  'flow-schema-status',
  'identity-lease-garbage-collector',
  'custom-resource-definitions',
  'apiservice-registration',
  'apiservice-status-available',
]

/** Disabled by default, as in kube-controller-manager. */
export const optInControllers: readonly string[] = ['tokencleaner', 'bootstrapsigner']

export const apiFlags = [
  {
    name: 'identity',
    kind: 'choice',
    choices: identityNames,
    default: 'cluster',
    help: 'names of API groups, labels and system namespaces: neutral ones (cluster), or the ones that Kubernetes uses',
  },
  {
    name: 'runtime-config',
    kind: 'list',
    help: 'API versions and resources to enable or disable: api/all, api/beta, <group>/<version>[/<resource>], each with =true or =false',
  },
  { name: 'feature-gates', kind: 'list', help: 'feature gates, as <name>=true or <name>=false' },
  { name: 'allow-privileged', kind: 'boolean', default: 'false', help: 'allow privileged containers' },
  { name: 'service-cluster-ip-range', kind: 'list', default: '10.0.0.0/24', help: 'address ranges of services, at most one per IP family' },
  { name: 'service-node-port-range', kind: 'text', default: '30000-32767', help: 'port range of services of type NodePort' },
  {
    name: 'apiserver-count',
    kind: 'integer',
    min: 1,
    default: '1',
    help: 'number of API servers; only 1, unless --endpoint-reconciler-type=master-count, which counts the running servers itself',
  },
  {
    name: 'endpoint-reconciler-type',
    kind: 'choice',
    choices: ['lease', 'master-count', 'none'],
    default: 'lease',
    help: "how the endpoints of the API's own service are reconciled: with the running servers (lease, master-count), or not at all (none)",
  },
  {
    name: 'controllers',
    kind: 'choices',
    choices: ['*', 'workloads', ...[...controllerNames, ...workloadNames].flatMap((name) => [name, `-${name}`] as const)],
    default: '*',
    help: 'controllers to run: * for all except tokencleaner, bootstrapsigner and workloads, workloads for the controllers of workloads, <name> to add a controller, -<name> to remove it; remove the controllers that another program runs',
  },
  {
    name: 'terminated-pod-gc-threshold',
    kind: 'integer',
    min: 0,
    default: '12500',
    help: 'number of finished pods above which the controller podgc deletes the oldest; 0 keeps all',
  },
  {
    name: 'service-lb-range',
    kind: 'text',
    default: '198.51.100.0/24',
    help: 'address range from which the controller service-lb assigns addresses to services of type LoadBalancer',
  },
  {
    name: 'simulate-nodes',
    kind: 'integer',
    min: 0,
    max: 5000,
    help: 'number of simulated nodes to create, which run pods without machines; turns on the controllers of workloads',
  },
  {
    name: 'node-templates',
    kind: 'file',
    content: 'yaml',
    help: 'NodeTemplates: capacity, labels, zones and taints of simulated nodes to create; turns on the controllers of workloads',
  },
  {
    name: 'simulation-rules',
    kind: 'file',
    content: 'yaml',
    help: 'SimulationRules: how containers on simulated nodes start, become ready, fail and exit',
  },
  {
    name: 'allocate-node-cidrs',
    kind: 'boolean',
    default: 'false',
    help: 'the controller nodeipam assigns pod ranges of --cluster-cidr to nodes',
  },
  { name: 'cluster-cidr', kind: 'list', help: 'address ranges of pods, at most one per IP family; needs --allocate-node-cidrs' },
  {
    name: 'node-cidr-mask-size',
    kind: 'integer',
    min: 1,
    help: 'mask size of the pod range of a node, in the first range of --cluster-cidr; 24 for IPv4 and 64 for IPv6 if unset',
  },
  {
    name: 'external-controller-manager',
    kind: 'boolean',
    default: 'false',
    help: 'a controller manager runs with this server; only controllers that it does not have are run here',
  },
  {
    name: 'identity-lease-duration-seconds',
    kind: 'integer',
    min: 1,
    default: '3600',
    help: 'duration of the identity lease of this server',
  },
  {
    name: 'identity-lease-renew-interval-seconds',
    kind: 'integer',
    min: 1,
    help: 'renew interval of that lease; a quarter of its duration if unset',
  },
  {
    name: 'kubernetes-service-node-port',
    kind: 'port',
    default: '0',
    refused: "the API's own service has no node port; remove the flag",
    help: "must be 0: the API's own service has no node port",
  },
  {
    name: 'cloud-provider',
    kind: 'text',
    refused: 'not supported; run the cloud controller manager of the provider, and remove the flag',
    help: 'rejected: cloud providers are not supported',
  },
  {
    name: 'cloud-config',
    kind: 'text',
    refused: 'not supported; remove the flag',
    help: 'rejected: cloud providers are not supported',
  },
  {
    name: 'egress-selector-config-file',
    kind: 'file',
    content: 'yaml',
    help: 'EgressSelectorConfiguration: which connections go through HTTP CONNECT proxies',
  },
  {
    name: 'kubelet-certificate-authority',
    kind: 'file',
    content: 'certificates',
    help: 'CA of kubelet serving certificates; they are not verified if unset',
  },
  {
    name: 'kubelet-client-certificate',
    kind: 'file',
    content: 'certificates',
    help: 'client certificate for kubelets; reloaded when it changes',
  },
  { name: 'kubelet-client-key', kind: 'file', content: 'private-key', help: 'private key of that certificate' },
  {
    name: 'kubelet-preferred-address-types',
    kind: 'list',
    default: 'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
    help: 'address types of nodes, in the order in which they are tried',
  },
  { name: 'kubelet-timeout', kind: 'duration', default: '5s', help: 'timeout of connections to kubelets' },
] as const satisfies readonly FlagDefinition[]

export const aggregationFlags = [
  {
    name: 'proxy-client-cert-file',
    kind: 'file',
    content: 'certificates',
    help: 'client certificate for extension API servers, which authenticates the X-Remote-* headers; reloaded when it changes',
  },
  { name: 'proxy-client-key-file', kind: 'file', content: 'private-key', help: 'private key of that certificate' },
  {
    name: 'enable-aggregator-routing',
    kind: 'boolean',
    default: 'false',
    help: 'connect to endpoints of extension API servers and not to the cluster IP of their service',
  },
  {
    name: 'aggregator-reject-forwarding-redirect',
    kind: 'boolean',
    default: 'true',
    help: 'reject redirects of extension API servers instead of forwarding them',
  },
] as const satisfies readonly FlagDefinition[]
