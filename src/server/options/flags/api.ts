// Flags about which API is spoken: its vocabulary, versions, features and the ranges it hands out.

import { identityNames } from '../../../api/identity.js'
import type { FlagDefinition } from '../flag.js'

/** The loops of the server, by the names that controllers of the original system have, where it has them. */
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

/** Those that no controller manager has: they are the API server's own. */
export const ownControllers: readonly string[] = [
  'flow-schema-status',
  'identity-lease-garbage-collector',
  'custom-resource-definitions',
  'apiservice-registration',
  'apiservice-status-available',
]

/** Those that run only where they are named, as in the original system. */
export const namedControllers: readonly string[] = ['tokencleaner', 'bootstrapsigner']

export const apiFlags = [
  {
    name: 'identity',
    kind: 'choice',
    choices: identityNames,
    default: 'cluster',
    effect: 'now',
    help: 'vocabulary of groups, labels and names that the server speaks',
  },
  {
    name: 'runtime-config',
    kind: 'list',
    effect: 'now',
    help: 'API versions and resources on or off: api/all, api/beta, <group>/<version>[/<resource>], each with =true or =false',
  },
  { name: 'feature-gates', kind: 'list', effect: 'now', help: 'features on or off, as <name>=true or <name>=false' },
  { name: 'allow-privileged', kind: 'boolean', default: 'false', effect: 'now', help: 'allow privileged containers' },
  {
    name: 'service-cluster-ip-range',
    kind: 'list',
    default: '10.0.0.0/24',
    effect: 'now',
    help: 'ranges of addresses for services, at most two',
  },
  { name: 'service-node-port-range', kind: 'text', default: '30000-32767', effect: 'now', help: 'ports for services of type NodePort' },
  {
    name: 'apiserver-count',
    kind: 'integer',
    min: 1,
    default: '1',
    effect: 'now',
    help: 'servers in the cluster; any number but 1 only beside --endpoint-reconciler-type=master-count, where the servers that are there count',
  },
  {
    name: 'endpoint-reconciler-type',
    kind: 'choice',
    choices: ['lease', 'master-count', 'none'],
    default: 'lease',
    effect: 'now',
    help: 'how the endpoints of the API itself are kept: by the servers that are there (lease and master-count), or not at all',
  },
  {
    name: 'controllers',
    kind: 'choices',
    choices: ['*', ...controllerNames, ...controllerNames.map((name) => `-${name}` as const)],
    default: '*',
    effect: 'now',
    help: 'loops of the server to run: * for all but tokencleaner and bootstrapsigner, a name for one, -name for all but one; switch those off that another program runs',
  },
  {
    name: 'external-controller-manager',
    kind: 'boolean',
    default: 'false',
    effect: 'now',
    help: 'a controller manager runs beside the server: of the loops that --controllers names, those run that it does not have',
  },
  {
    name: 'identity-lease-duration-seconds',
    kind: 'integer',
    min: 1,
    default: '3600',
    effect: 'now',
    help: 'length of the lease of this server',
  },
  {
    name: 'identity-lease-renew-interval-seconds',
    kind: 'integer',
    min: 1,
    effect: 'now',
    help: 'how often that lease is renewed; a quarter of its length if left out',
  },
  {
    name: 'kubernetes-service-node-port',
    kind: 'port',
    default: '0',
    effect: 'now',
    refused: "the API's own service has an address and no port on nodes; leave the flag out",
    help: "refused: the API's own service has no port on nodes",
  },
  {
    name: 'cloud-provider',
    kind: 'text',
    effect: 'now',
    refused: 'this server knows no cloud; run the controller manager of the provider beside it, and leave the flag out',
    help: 'refused: this server knows no cloud',
  },
  {
    name: 'cloud-config',
    kind: 'text',
    effect: 'now',
    refused: 'this server knows no cloud; leave the flag out',
    help: 'refused: this server knows no cloud',
  },
  {
    name: 'egress-selector-config-file',
    kind: 'file',
    content: 'yaml',
    effect: 'now',
    help: 'how the server reaches other networks: directly or through HTTP CONNECT proxies',
  },
  {
    name: 'kubelet-certificate-authority',
    kind: 'file',
    content: 'certificates',
    effect: 'now',
    help: 'authority that signed the certificates of node agents; left out: they are not checked',
  },
  {
    name: 'kubelet-client-certificate',
    kind: 'file',
    content: 'certificates',
    effect: 'now',
    help: 'certificate shown to node agents; read again when it changes',
  },
  { name: 'kubelet-client-key', kind: 'file', content: 'private-key', effect: 'now', help: 'key of that certificate' },
  {
    name: 'kubelet-preferred-address-types',
    kind: 'list',
    default: 'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
    effect: 'now',
    help: 'which addresses of nodes are tried, in this order',
  },
  { name: 'kubelet-timeout', kind: 'duration', default: '5s', effect: 'now', help: 'how long a connection to a node agent may take' },
] as const satisfies readonly FlagDefinition[]
