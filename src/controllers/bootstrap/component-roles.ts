// The roles of everybody who talks to the server by trade: components of a cluster, nodes, and users as such.

import { at, on, onlyWith, type RoleTemplate, reading, tellingEvents } from './rules.js'

export const componentRoles = (): readonly RoleTemplate[] => [
  {
    name: 'system:auth-delegator',
    rules: [on('create', '{authentication}', 'tokenreviews'), on('create', '{authorization}', 'subjectaccessreviews')],
  },
  {
    name: 'system:basic-user',
    rules: [
      on('create', '{authorization}', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
      ...onlyWith('APISelfSubjectReview', on('create', '{authentication}', 'selfsubjectreviews')),
    ],
  },
  {
    name: 'system:{certificates}:certificatesigningrequests:nodeclient',
    rules: [on('create', '{certificates}', 'certificatesigningrequests/nodeclient')],
  },
  {
    name: 'system:{certificates}:certificatesigningrequests:selfnodeclient',
    rules: [on('create', '{certificates}', 'certificatesigningrequests/selfnodeclient')],
  },
  {
    name: 'system:{certificates}:%-apiserver-client-approver',
    rules: [on('approve', '{certificates}', 'signers', './%-apiserver-client')],
  },
  {
    name: 'system:{certificates}:%-apiserver-client-kubelet-approver',
    rules: [on('approve', '{certificates}', 'signers', './%-apiserver-client-kubelet')],
  },
  {
    name: 'system:{certificates}:kubelet-serving-approver',
    rules: [on('approve', '{certificates}', 'signers', './kubelet-serving')],
  },
  {
    name: 'system:{certificates}:legacy-unknown-approver',
    rules: [on('approve', '{certificates}', 'signers', './legacy-unknown')],
  },
  {
    name: 'system:discovery',
    rules: [at('get', '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/')],
  },
  {
    name: 'system:heapster',
    rules: [on(reading, 'core', 'events namespaces nodes pods'), on(reading, 'extensions', 'deployments')],
  },
  {
    name: 'system:%-aggregator',
    rules: [on(reading, 'core', 'endpoints services')],
  },
  {
    name: 'system:%-controller-manager',
    rules: [
      tellingEvents,
      on('create', '{coordination}', 'leases'),
      on('get update', '{coordination}', 'leases', '%-controller-manager'),
      on('create', 'core', 'endpoints'),
      on('get update', 'core', 'endpoints', '%-controller-manager'),
      on('create', 'core', 'secrets serviceaccounts'),
      on('delete', 'core', 'secrets'),
      on('get', 'core', 'configmaps namespaces secrets serviceaccounts'),
      on('update', 'core', 'secrets serviceaccounts'),
      on('create', '{authentication}', 'tokenreviews'),
      on('create', '{authorization}', 'subjectaccessreviews'),
      on('list watch', '*', '*'),
      on('create', 'core', 'serviceaccounts/token'),
    ],
  },
  {
    name: 'system:%-dns',
    rules: [on('list watch', 'core', 'endpoints services')],
  },
  {
    name: 'system:%-scheduler',
    rules: [
      tellingEvents,
      on('create', '{coordination}', 'leases'),
      on('get update', '{coordination}', 'leases', '%-scheduler'),
      on('create', 'core', 'endpoints'),
      on('get update', 'core', 'endpoints', '%-scheduler'),
      on(reading, 'core', 'nodes'),
      on('delete get list watch', 'core', 'pods'),
      on('create', 'core', 'bindings pods/binding'),
      on('patch update', 'core', 'pods/status'),
      on(reading, 'core', 'replicationcontrollers services'),
      on(reading, 'apps extensions', 'replicasets'),
      on(reading, 'apps', 'statefulsets'),
      on(reading, 'policy', 'poddisruptionbudgets'),
      on(reading, 'core', 'persistentvolumeclaims persistentvolumes'),
      on('create', '{authentication}', 'tokenreviews'),
      on('create', '{authorization}', 'subjectaccessreviews'),
      on(reading, '{storage}', 'csinodes'),
      on(reading, 'core', 'namespaces'),
      on(reading, '{storage}', 'csidrivers'),
      on(reading, '{storage}', 'csistoragecapacities'),
      ...onlyWith(
        'DynamicResourceAllocation',
        on(reading, '{resource}', 'resourceclaims resourceclasses'),
        on('get list patch update watch', '{resource}', 'resourceclaims/status'),
        on('create delete deletecollection get list patch update watch', '{resource}', 'podschedulings'),
        on(reading, '{resource}', 'podschedulings/status'),
      ),
    ],
  },
  {
    name: 'system:kubelet-api-admin',
    rules: [
      on(reading, 'core', 'nodes'),
      on('proxy', 'core', 'nodes'),
      on('*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/spec nodes/stats'),
    ],
  },
  {
    name: 'system:monitoring',
    rules: [at('get', '/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*')],
  },
  {
    name: 'system:node',
    rules: [
      on('create', '{authentication}', 'tokenreviews'),
      on('create', '{authorization}', 'localsubjectaccessreviews subjectaccessreviews'),
      on(reading, 'core', 'services'),
      on('create get list watch', 'core', 'nodes'),
      on('patch update', 'core', 'nodes/status'),
      on('patch update', 'core', 'nodes'),
      on('create patch update', 'core', 'events'),
      on(reading, 'core', 'pods'),
      on('create delete', 'core', 'pods'),
      on('patch update', 'core', 'pods/status'),
      on('create', 'core', 'pods/eviction'),
      on(reading, 'core', 'configmaps secrets'),
      on('get', 'core', 'persistentvolumeclaims persistentvolumes'),
      on('get', 'core', 'endpoints'),
      on('create get list watch', '{certificates}', 'certificatesigningrequests'),
      on('create delete get patch update', '{coordination}', 'leases'),
      on('get', '{storage}', 'volumeattachments'),
      on('create', 'core', 'serviceaccounts/token'),
      on('get patch update', 'core', 'persistentvolumeclaims/status'),
      on(reading, '{storage}', 'csidrivers'),
      on('create delete get patch update', '{storage}', 'csinodes'),
      on(reading, '{node}', 'runtimeclasses'),
      ...onlyWith('DynamicResourceAllocation', on('get', '{resource}', 'resourceclaims')),
    ],
  },
  {
    name: 'system:node-bootstrapper',
    rules: [on('create get list watch', '{certificates}', 'certificatesigningrequests')],
  },
  {
    name: 'system:node-problem-detector',
    rules: [on('get', 'core', 'nodes'), on('patch', 'core', 'nodes/status'), tellingEvents],
  },
  {
    name: 'system:node-proxier',
    rules: [
      on('list watch', 'core', 'endpoints services'),
      on(reading, 'core', 'nodes'),
      tellingEvents,
      on('list watch', '{discovery}', 'endpointslices'),
    ],
  },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      on('create delete get list watch', 'core', 'persistentvolumes'),
      on('get list update watch', 'core', 'persistentvolumeclaims'),
      on(reading, '{storage}', 'storageclasses'),
      on('watch', 'core', 'events'),
      tellingEvents,
    ],
  },
  {
    name: 'system:public-info-viewer',
    rules: [at('get', '/healthz /livez /readyz /version /version/')],
  },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [at('get', '/.well-known/openid-configuration /openid/v1/jwks')],
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      on('get list patch update watch', 'core', 'persistentvolumes'),
      on(reading, '{storage}', 'storageclasses'),
      on('get list patch update watch', 'core', 'persistentvolumeclaims'),
    ],
  },
]
