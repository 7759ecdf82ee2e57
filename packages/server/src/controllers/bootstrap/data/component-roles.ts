// Default ClusterRoles of cluster components, nodes and all users; `role-template.ts` explains the placeholders in names.

import { allow, allowPaths, type RoleTemplate, readVerbs, recordEvents, whenGate } from './role-template.js'

export const componentRoles: readonly RoleTemplate[] = [
  {
    name: 'system:auth-delegator',
    rules: [allow('create', '{authentication}', 'tokenreviews'), allow('create', '{authorization}', 'subjectaccessreviews')],
  },
  {
    name: 'system:basic-user',
    rules: [
      allow('create', '{authorization}', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
      ...whenGate('APISelfSubjectReview', allow('create', '{authentication}', 'selfsubjectreviews')),
    ],
  },
  {
    name: 'system:{certificates}:certificatesigningrequests:nodeclient',
    rules: [allow('create', '{certificates}', 'certificatesigningrequests/nodeclient')],
  },
  {
    name: 'system:{certificates}:certificatesigningrequests:selfnodeclient',
    rules: [allow('create', '{certificates}', 'certificatesigningrequests/selfnodeclient')],
  },
  {
    name: 'system:{certificates}:%-apiserver-client-approver',
    rules: [allow('approve', '{certificates}', 'signers', './%-apiserver-client')],
  },
  {
    name: 'system:{certificates}:%-apiserver-client-kubelet-approver',
    rules: [allow('approve', '{certificates}', 'signers', './%-apiserver-client-kubelet')],
  },
  {
    name: 'system:{certificates}:kubelet-serving-approver',
    rules: [allow('approve', '{certificates}', 'signers', './kubelet-serving')],
  },
  {
    name: 'system:{certificates}:legacy-unknown-approver',
    rules: [allow('approve', '{certificates}', 'signers', './legacy-unknown')],
  },
  {
    name: 'system:discovery',
    rules: [allowPaths('get', '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/')],
  },
  {
    name: 'system:heapster',
    rules: [allow(readVerbs, 'core', 'events namespaces nodes pods'), allow(readVerbs, 'extensions', 'deployments')],
  },
  {
    name: 'system:%-aggregator',
    rules: [allow(readVerbs, 'core', 'endpoints services')],
  },
  {
    name: 'system:%-controller-manager',
    rules: [
      recordEvents,
      allow('create', '{coordination}', 'leases'),
      allow('get update', '{coordination}', 'leases', '%-controller-manager'),
      allow('create', 'core', 'endpoints'),
      allow('get update', 'core', 'endpoints', '%-controller-manager'),
      allow('create', 'core', 'secrets serviceaccounts'),
      allow('delete', 'core', 'secrets'),
      allow('get', 'core', 'configmaps namespaces secrets serviceaccounts'),
      allow('update', 'core', 'secrets serviceaccounts'),
      allow('create', '{authentication}', 'tokenreviews'),
      allow('create', '{authorization}', 'subjectaccessreviews'),
      allow('list watch', '*', '*'),
      allow('create', 'core', 'serviceaccounts/token'),
    ],
  },
  {
    name: 'system:%-dns',
    rules: [allow('list watch', 'core', 'endpoints services')],
  },
  {
    name: 'system:%-scheduler',
    rules: [
      recordEvents,
      allow('create', '{coordination}', 'leases'),
      allow('get update', '{coordination}', 'leases', '%-scheduler'),
      allow('create', 'core', 'endpoints'),
      allow('get update', 'core', 'endpoints', '%-scheduler'),
      allow(readVerbs, 'core', 'nodes'),
      allow('delete get list watch', 'core', 'pods'),
      allow('create', 'core', 'bindings pods/binding'),
      allow('patch update', 'core', 'pods/status'),
      allow(readVerbs, 'core', 'replicationcontrollers services'),
      allow(readVerbs, 'apps extensions', 'replicasets'),
      allow(readVerbs, 'apps', 'statefulsets'),
      allow(readVerbs, 'policy', 'poddisruptionbudgets'),
      allow(readVerbs, 'core', 'persistentvolumeclaims persistentvolumes'),
      allow('create', '{authentication}', 'tokenreviews'),
      allow('create', '{authorization}', 'subjectaccessreviews'),
      allow(readVerbs, '{storage}', 'csinodes'),
      allow(readVerbs, 'core', 'namespaces'),
      allow(readVerbs, '{storage}', 'csidrivers'),
      allow(readVerbs, '{storage}', 'csistoragecapacities'),
      ...whenGate(
        'DynamicResourceAllocation',
        allow(readVerbs, '{resource}', 'resourceclaims resourceclasses'),
        allow('get list patch update watch', '{resource}', 'resourceclaims/status'),
        allow('create delete deletecollection get list patch update watch', '{resource}', 'podschedulings'),
        allow(readVerbs, '{resource}', 'podschedulings/status'),
      ),
    ],
  },
  {
    name: 'system:kubelet-api-admin',
    rules: [
      allow(readVerbs, 'core', 'nodes'),
      allow('proxy', 'core', 'nodes'),
      allow('*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/spec nodes/stats'),
    ],
  },
  {
    name: 'system:monitoring',
    rules: [allowPaths('get', '/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*')],
  },
  {
    name: 'system:node',
    rules: [
      allow('create', '{authentication}', 'tokenreviews'),
      allow('create', '{authorization}', 'localsubjectaccessreviews subjectaccessreviews'),
      allow(readVerbs, 'core', 'services'),
      allow('create get list watch', 'core', 'nodes'),
      allow('patch update', 'core', 'nodes/status'),
      allow('patch update', 'core', 'nodes'),
      allow('create patch update', 'core', 'events'),
      allow(readVerbs, 'core', 'pods'),
      allow('create delete', 'core', 'pods'),
      allow('patch update', 'core', 'pods/status'),
      allow('create', 'core', 'pods/eviction'),
      allow(readVerbs, 'core', 'configmaps secrets'),
      allow('get', 'core', 'persistentvolumeclaims persistentvolumes'),
      allow('get', 'core', 'endpoints'),
      allow('create get list watch', '{certificates}', 'certificatesigningrequests'),
      allow('create delete get patch update', '{coordination}', 'leases'),
      allow('get', '{storage}', 'volumeattachments'),
      allow('create', 'core', 'serviceaccounts/token'),
      allow('get patch update', 'core', 'persistentvolumeclaims/status'),
      allow(readVerbs, '{storage}', 'csidrivers'),
      allow('create delete get patch update', '{storage}', 'csinodes'),
      allow(readVerbs, '{node}', 'runtimeclasses'),
      ...whenGate('DynamicResourceAllocation', allow('get', '{resource}', 'resourceclaims')),
    ],
  },
  {
    name: 'system:node-bootstrapper',
    rules: [allow('create get list watch', '{certificates}', 'certificatesigningrequests')],
  },
  {
    name: 'system:node-problem-detector',
    rules: [allow('get', 'core', 'nodes'), allow('patch', 'core', 'nodes/status'), recordEvents],
  },
  {
    name: 'system:node-proxier',
    rules: [
      allow('list watch', 'core', 'endpoints services'),
      allow(readVerbs, 'core', 'nodes'),
      recordEvents,
      allow('list watch', '{discovery}', 'endpointslices'),
    ],
  },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      allow('create delete get list watch', 'core', 'persistentvolumes'),
      allow('get list update watch', 'core', 'persistentvolumeclaims'),
      allow(readVerbs, '{storage}', 'storageclasses'),
      allow('watch', 'core', 'events'),
      recordEvents,
    ],
  },
  {
    name: 'system:public-info-viewer',
    rules: [allowPaths('get', '/healthz /livez /readyz /version /version/')],
  },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [allowPaths('get', '/.well-known/openid-configuration /openid/v1/jwks')],
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      allow('get list patch update watch', 'core', 'persistentvolumes'),
      allow(readVerbs, '{storage}', 'storageclasses'),
      allow('get list patch update watch', 'core', 'persistentvolumeclaims'),
    ],
  },
]
