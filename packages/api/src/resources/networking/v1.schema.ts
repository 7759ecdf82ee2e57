// The types of networking/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import * as core from '../../resources/core/v1.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.networking.v1')

export const serviceBackendPort = struct('ServiceBackendPort', {
  name: s.field(1, s.string),
  number: s.field(2, s.int32),
})
export type ServiceBackendPort = Infer<typeof serviceBackendPort>

export const ingressServiceBackend = struct('IngressServiceBackend', {
  name: s.field(1, s.string, { always: true, required: true, default: '' }),
  port: s.field(2, serviceBackendPort, { default: {} }),
})
export type IngressServiceBackend = Infer<typeof ingressServiceBackend>

export const ingressBackend = struct('IngressBackend', {
  service: s.field(4, ingressServiceBackend, { pointer: true }),
  resource: s.field(3, core.typedLocalObjectReference, { pointer: true }),
})
export type IngressBackend = Infer<typeof ingressBackend>

export const httpIngressPath = struct('HTTPIngressPath', {
  path: s.field(1, s.string),
  pathType: s.field(3, s.string, { pointer: true, always: true, required: true }),
  backend: s.field(2, ingressBackend, { always: true, required: true, default: {} }),
})
export type HTTPIngressPath = Infer<typeof httpIngressPath>

export const httpIngressRuleValue = struct('HTTPIngressRuleValue', {
  paths: s.field(1, s.list(httpIngressPath, { listType: 'atomic' }), { always: true, required: true }),
})
export type HTTPIngressRuleValue = Infer<typeof httpIngressRuleValue>

export const ipBlock = struct('IPBlock', {
  cidr: s.field(1, s.string, { always: true, required: true, default: '' }),
  except: s.field(2, s.list(s.string)),
})
export type IPBlock = Infer<typeof ipBlock>

export const ingressTLS = struct('IngressTLS', {
  hosts: s.field(1, s.list(s.string, { listType: 'atomic' })),
  secretName: s.field(2, s.string),
})
export type IngressTLS = Infer<typeof ingressTLS>

export const ingressRuleValue = struct('IngressRuleValue', {
  http: s.field(1, httpIngressRuleValue, { pointer: true }),
})
export type IngressRuleValue = Infer<typeof ingressRuleValue>

export const ingressRule = struct('IngressRule', {
  host: s.field(1, s.string),
  ...s.embed(2, ingressRuleValue),
})
export type IngressRule = Infer<typeof ingressRule>

export const ingressSpec = struct('IngressSpec', {
  ingressClassName: s.field(4, s.string, { pointer: true }),
  defaultBackend: s.field(1, ingressBackend, { pointer: true }),
  tls: s.field(2, s.list(ingressTLS, { listType: 'atomic' })),
  rules: s.field(3, s.list(ingressRule, { listType: 'atomic' })),
})
export type IngressSpec = Infer<typeof ingressSpec>

export const ingressPortStatus = struct('IngressPortStatus', {
  port: s.field(1, s.int32, { always: true, required: true, default: 0 }),
  protocol: s.field(2, s.string, { always: true, required: true, default: '', enum: ['SCTP', 'TCP', 'UDP'] }),
  error: s.field(3, s.string, { pointer: true }),
})
export type IngressPortStatus = Infer<typeof ingressPortStatus>

export const ingressLoadBalancerIngress = struct('IngressLoadBalancerIngress', {
  ip: s.field(1, s.string),
  hostname: s.field(2, s.string),
  ports: s.field(4, s.list(ingressPortStatus, { listType: 'atomic' })),
})
export type IngressLoadBalancerIngress = Infer<typeof ingressLoadBalancerIngress>

export const ingressLoadBalancerStatus = struct('IngressLoadBalancerStatus', {
  ingress: s.field(1, s.list(ingressLoadBalancerIngress)),
})
export type IngressLoadBalancerStatus = Infer<typeof ingressLoadBalancerStatus>

export const ingressStatus = struct('IngressStatus', {
  loadBalancer: s.field(1, ingressLoadBalancerStatus, { default: {} }),
})
export type IngressStatus = Infer<typeof ingressStatus>

export const ingress = struct(
  'Ingress',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, ingressSpec, { default: {} }),
    status: s.field(3, ingressStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type Ingress = Infer<typeof ingress>

export const ingressClassParametersReference = struct('IngressClassParametersReference', {
  apiGroup: s.field(1, s.string, { protoName: 'aPIGroup', pointer: true }),
  kind: s.field(2, s.string, { always: true, required: true, default: '' }),
  name: s.field(3, s.string, { always: true, required: true, default: '' }),
  scope: s.field(4, s.string, { pointer: true, always: true }),
  namespace: s.field(5, s.string, { pointer: true }),
})
export type IngressClassParametersReference = Infer<typeof ingressClassParametersReference>

export const ingressClassSpec = struct('IngressClassSpec', {
  controller: s.field(1, s.string),
  parameters: s.field(2, ingressClassParametersReference, { pointer: true }),
})
export type IngressClassSpec = Infer<typeof ingressClassSpec>

export const ingressClass = struct(
  'IngressClass',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, ingressClassSpec, { default: {} }),
  },
  { typeMeta: true },
)
export type IngressClass = Infer<typeof ingressClass>

export const networkPolicyPort = struct('NetworkPolicyPort', {
  protocol: s.field(1, s.string, { pointer: true }),
  port: s.field(2, s.intOrString, { pointer: true }),
  endPort: s.field(3, s.int32, { pointer: true }),
})
export type NetworkPolicyPort = Infer<typeof networkPolicyPort>

export const networkPolicyPeer = struct('NetworkPolicyPeer', {
  podSelector: s.field(1, meta.labelSelector, { pointer: true }),
  namespaceSelector: s.field(2, meta.labelSelector, { pointer: true }),
  ipBlock: s.field(3, ipBlock, { pointer: true }),
})
export type NetworkPolicyPeer = Infer<typeof networkPolicyPeer>

export const networkPolicyIngressRule = struct('NetworkPolicyIngressRule', {
  ports: s.field(1, s.list(networkPolicyPort)),
  from: s.field(2, s.list(networkPolicyPeer)),
})
export type NetworkPolicyIngressRule = Infer<typeof networkPolicyIngressRule>

export const networkPolicyEgressRule = struct('NetworkPolicyEgressRule', {
  ports: s.field(1, s.list(networkPolicyPort)),
  to: s.field(2, s.list(networkPolicyPeer)),
})
export type NetworkPolicyEgressRule = Infer<typeof networkPolicyEgressRule>

export const networkPolicySpec = struct('NetworkPolicySpec', {
  podSelector: s.field(1, meta.labelSelector, { always: true, required: true, default: {} }),
  ingress: s.field(2, s.list(networkPolicyIngressRule)),
  egress: s.field(3, s.list(networkPolicyEgressRule)),
  policyTypes: s.field(4, s.list(s.string)),
})
export type NetworkPolicySpec = Infer<typeof networkPolicySpec>

export const networkPolicyStatus = struct('NetworkPolicyStatus', {
  conditions: s.field(1, s.list(meta.condition, { listType: 'map', keys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type' })),
})
export type NetworkPolicyStatus = Infer<typeof networkPolicyStatus>

export const networkPolicy = struct(
  'NetworkPolicy',
  {
    metadata: s.field(1, meta.objectMeta, { default: {} }),
    spec: s.field(2, networkPolicySpec, { default: {} }),
    status: s.field(3, networkPolicyStatus, { default: {} }),
  },
  { typeMeta: true },
)
export type NetworkPolicy = Infer<typeof networkPolicy>
