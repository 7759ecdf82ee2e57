// The roles of the loops that tend a cluster, each bound to the service account of the same name in the system namespace.

import { on, type RoleTemplate, reading, tellingEvents } from './rules.js'

/** Named without the beginning that they share. */
export const controllerRoles = (): readonly RoleTemplate[] => [
  {
    name: 'attachdetach-controller',
    rules: [
      on('list watch', 'core', 'persistentvolumeclaims persistentvolumes'),
      on(reading, 'core', 'nodes'),
      on('patch update', 'core', 'nodes/status'),
      on('list watch', 'core', 'pods'),
      tellingEvents,
      on('create delete get list watch', '{storage}', 'volumeattachments'),
      on(reading, '{storage}', 'csidrivers'),
      on(reading, '{storage}', 'csinodes'),
    ],
  },
  {
    name: 'certificate-controller',
    rules: [
      on('delete get list watch', '{certificates}', 'certificatesigningrequests'),
      on('update', '{certificates}', 'certificatesigningrequests/approval certificatesigningrequests/status'),
      on('approve', '{certificates}', 'signers', './%-apiserver-client-kubelet'),
      on('sign', '{certificates}', 'signers', './%-apiserver-client ./%-apiserver-client-kubelet ./kubelet-serving ./legacy-unknown'),
      on('create', '{authorization}', 'subjectaccessreviews'),
      tellingEvents,
    ],
  },
  {
    name: 'clusterrole-aggregation-controller',
    rules: [on('escalate get list patch update watch', '{rbac.authorization}', 'clusterroles')],
  },
  {
    name: 'cronjob-controller',
    rules: [
      on('get list update watch', 'batch', 'cronjobs'),
      on('create delete get list patch update watch', 'batch', 'jobs'),
      on('update', 'batch', 'cronjobs/status'),
      on('update', 'batch', 'cronjobs/finalizers'),
      on('delete list', 'core', 'pods'),
      tellingEvents,
    ],
  },
  {
    name: 'daemon-set-controller',
    rules: [
      on(reading, 'apps extensions', 'daemonsets'),
      on('update', 'apps extensions', 'daemonsets/status'),
      on('update', 'apps extensions', 'daemonsets/finalizers'),
      on('list watch', 'core', 'nodes'),
      on('create delete list patch watch', 'core', 'pods'),
      on('create', 'core', 'pods/binding'),
      on('create delete get list patch update watch', 'apps', 'controllerrevisions'),
      tellingEvents,
    ],
  },
  {
    name: 'deployment-controller',
    rules: [
      on('get list update watch', 'apps extensions', 'deployments'),
      on('update', 'apps extensions', 'deployments/status'),
      on('update', 'apps extensions', 'deployments/finalizers'),
      on('create delete get list patch update watch', 'apps extensions', 'replicasets'),
      on('get list update watch', 'core', 'pods'),
      tellingEvents,
    ],
  },
  {
    name: 'disruption-controller',
    rules: [
      on(reading, 'apps extensions', 'deployments'),
      on(reading, 'apps extensions', 'replicasets'),
      on(reading, 'core', 'replicationcontrollers'),
      on(reading, 'policy', 'poddisruptionbudgets'),
      on(reading, 'apps', 'statefulsets'),
      on('update', 'policy', 'poddisruptionbudgets/status'),
      on('get', '*', '*/scale'),
      tellingEvents,
      on('patch', 'core', 'pods/status'),
    ],
  },
  {
    name: 'endpoint-controller',
    rules: [
      on(reading, 'core', 'pods services'),
      on('create delete get list update', 'core', 'endpoints'),
      on('create', 'core', 'endpoints/restricted'),
      tellingEvents,
    ],
  },
  {
    name: 'endpointslice-controller',
    rules: [
      on(reading, 'core', 'nodes pods services'),
      on('update', 'core', 'services/finalizers'),
      on('create delete get list update', '{discovery}', 'endpointslices'),
      tellingEvents,
    ],
  },
  {
    name: 'endpointslicemirroring-controller',
    rules: [
      on(reading, 'core', 'endpoints services'),
      on('update', 'core', 'services/finalizers'),
      on('update', 'core', 'endpoints/finalizers'),
      on('create delete get list update', '{discovery}', 'endpointslices'),
      tellingEvents,
    ],
  },
  {
    name: 'ephemeral-volume-controller',
    rules: [
      on(reading, 'core', 'pods'),
      on('update', 'core', 'pods/finalizers'),
      on('create get list watch', 'core', 'persistentvolumeclaims'),
      tellingEvents,
    ],
  },
  {
    name: 'expand-controller',
    rules: [
      on('get list patch update watch', 'core', 'persistentvolumes'),
      on('patch update', 'core', 'persistentvolumeclaims/status'),
      on(reading, 'core', 'persistentvolumeclaims'),
      on(reading, '{storage}', 'storageclasses'),
      on('get', 'core', 'endpoints services'),
      on('get', 'core', 'secrets'),
      tellingEvents,
    ],
  },
  {
    name: 'generic-garbage-collector',
    rules: [on('delete get list patch update watch', '*', '*'), tellingEvents],
  },
  {
    name: 'horizontal-pod-autoscaler',
    rules: [
      on(reading, 'autoscaling', 'horizontalpodautoscalers'),
      on('update', 'autoscaling', 'horizontalpodautoscalers/status'),
      on('get update', '*', '*/scale'),
      on('list', 'core', 'pods'),
      on('get', 'core', 'services/proxy', 'http:heapster: https:heapster:'),
      on('list', '{metrics}', 'pods'),
      on('get list', '{custom.metrics}', '*'),
      on('get list', '{external.metrics}', '*'),
      tellingEvents,
    ],
  },
  {
    name: 'job-controller',
    rules: [
      on('get list patch update watch', 'batch', 'jobs'),
      on('update', 'batch', 'jobs/status'),
      on('update', 'batch', 'jobs/finalizers'),
      on('create delete list patch watch', 'core', 'pods'),
      tellingEvents,
    ],
  },
  {
    name: 'namespace-controller',
    rules: [
      on('delete get list watch', 'core', 'namespaces'),
      on('update', 'core', 'namespaces/finalize namespaces/status'),
      on('delete deletecollection get list', '*', '*'),
    ],
  },
  {
    name: 'node-controller',
    rules: [
      on('delete get list patch update', 'core', 'nodes'),
      on('patch update', 'core', 'nodes/status'),
      on('patch update', 'core', 'pods/status'),
      on('delete list', 'core', 'pods'),
      on('create get list update', '{networking}', 'clustercidrs'),
      tellingEvents,
      on('get', 'core', 'pods'),
    ],
  },
  {
    name: 'persistent-volume-binder',
    rules: [
      on('create delete get list update watch', 'core', 'persistentvolumes'),
      on('update', 'core', 'persistentvolumes/status'),
      on('get list update watch', 'core', 'persistentvolumeclaims'),
      on('update', 'core', 'persistentvolumeclaims/status'),
      on('create delete get list watch', 'core', 'pods'),
      on(reading, '{storage}', 'storageclasses'),
      on('create delete get update', 'core', 'endpoints'),
      on('create delete get', 'core', 'services'),
      on('get', 'core', 'secrets'),
      on('get list', 'core', 'nodes'),
      on('watch', 'core', 'events'),
      tellingEvents,
    ],
  },
  {
    name: 'pod-garbage-collector',
    rules: [on('delete list watch', 'core', 'pods'), on('get list', 'core', 'nodes'), on('patch', 'core', 'pods/status')],
  },
  {
    name: 'pv-protection-controller',
    rules: [on('get list update watch', 'core', 'persistentvolumes'), tellingEvents],
  },
  {
    name: 'pvc-protection-controller',
    rules: [on('get list update watch', 'core', 'persistentvolumeclaims'), on(reading, 'core', 'pods'), tellingEvents],
  },
  {
    name: 'replicaset-controller',
    rules: [
      on('get list update watch', 'apps extensions', 'replicasets'),
      on('update', 'apps extensions', 'replicasets/status'),
      on('update', 'apps extensions', 'replicasets/finalizers'),
      on('create delete list patch watch', 'core', 'pods'),
      tellingEvents,
    ],
  },
  {
    name: 'replication-controller',
    rules: [
      on('get list update watch', 'core', 'replicationcontrollers'),
      on('update', 'core', 'replicationcontrollers/status'),
      on('update', 'core', 'replicationcontrollers/finalizers'),
      on('create delete list patch watch', 'core', 'pods'),
      tellingEvents,
    ],
  },
  {
    name: 'resource-claim-controller',
    gate: 'DynamicResourceAllocation',
    rules: [
      on(reading, 'core', 'pods'),
      on('update', 'core', 'pods/finalizers'),
      on('create get list watch', '{resource}', 'resourceclaims'),
      on('patch update', '{resource}', 'resourceclaims/status'),
      tellingEvents,
    ],
  },
  {
    name: 'resourcequota-controller',
    rules: [on('list watch', '*', '*'), on('update', 'core', 'resourcequotas/status'), tellingEvents],
  },
  {
    name: 'root-ca-cert-publisher',
    rules: [on('create update', 'core', 'configmaps'), tellingEvents],
  },
  {
    name: 'route-controller',
    rules: [on('list watch', 'core', 'nodes'), on('patch', 'core', 'nodes/status'), tellingEvents],
  },
  {
    name: 'service-account-controller',
    rules: [on('create', 'core', 'serviceaccounts'), tellingEvents],
  },
  {
    name: 'service-controller',
    rules: [
      on(reading, 'core', 'services'),
      on('patch update', 'core', 'services/status'),
      on('list watch', 'core', 'nodes'),
      tellingEvents,
    ],
  },
  {
    name: 'statefulset-controller',
    rules: [
      on('list watch', 'core', 'pods'),
      on(reading, 'apps', 'statefulsets'),
      on('update', 'apps', 'statefulsets/status'),
      on('update', 'apps', 'statefulsets/finalizers'),
      on('create delete get patch update', 'core', 'pods'),
      on('create delete get list patch update watch', 'apps', 'controllerrevisions'),
      on('create get', 'core', 'persistentvolumeclaims'),
      tellingEvents,
    ],
  },
  {
    name: 'ttl-after-finished-controller',
    rules: [on('delete get list watch', 'batch', 'jobs'), tellingEvents],
  },
  {
    name: 'ttl-controller',
    rules: [on('list patch update watch', 'core', 'nodes'), tellingEvents],
  },
]
