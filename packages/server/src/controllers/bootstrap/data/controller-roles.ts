// Default ClusterRoles of controllers, each bound to the service account of the same name in the system namespace.

import { allow, type RoleTemplate, readVerbs, recordEvents } from './role-template.js'

/** Names without the prefix `system:controller:`. `role-template.ts` explains the placeholders in names. */
export const controllerRoles: readonly RoleTemplate[] = [
  {
    name: 'attachdetach-controller',
    rules: [
      allow('list watch', 'core', 'persistentvolumeclaims persistentvolumes'),
      allow(readVerbs, 'core', 'nodes'),
      allow('patch update', 'core', 'nodes/status'),
      allow('list watch', 'core', 'pods'),
      recordEvents,
      allow('create delete get list watch', '{storage}', 'volumeattachments'),
      allow(readVerbs, '{storage}', 'csidrivers'),
      allow(readVerbs, '{storage}', 'csinodes'),
    ],
  },
  {
    name: 'certificate-controller',
    rules: [
      allow('delete get list watch', '{certificates}', 'certificatesigningrequests'),
      allow('update', '{certificates}', 'certificatesigningrequests/approval certificatesigningrequests/status'),
      allow('approve', '{certificates}', 'signers', './%-apiserver-client-kubelet'),
      allow('sign', '{certificates}', 'signers', './%-apiserver-client ./%-apiserver-client-kubelet ./kubelet-serving ./legacy-unknown'),
      allow('create', '{authorization}', 'subjectaccessreviews'),
      recordEvents,
    ],
  },
  {
    name: 'clusterrole-aggregation-controller',
    rules: [allow('escalate get list patch update watch', '{rbac.authorization}', 'clusterroles')],
  },
  {
    name: 'cronjob-controller',
    rules: [
      allow('get list update watch', 'batch', 'cronjobs'),
      allow('create delete get list patch update watch', 'batch', 'jobs'),
      allow('update', 'batch', 'cronjobs/status'),
      allow('update', 'batch', 'cronjobs/finalizers'),
      allow('delete list', 'core', 'pods'),
      recordEvents,
    ],
  },
  {
    name: 'daemon-set-controller',
    rules: [
      allow(readVerbs, 'apps extensions', 'daemonsets'),
      allow('update', 'apps extensions', 'daemonsets/status'),
      allow('update', 'apps extensions', 'daemonsets/finalizers'),
      allow('list watch', 'core', 'nodes'),
      allow('create delete list patch watch', 'core', 'pods'),
      allow('create', 'core', 'pods/binding'),
      allow('create delete get list patch update watch', 'apps', 'controllerrevisions'),
      recordEvents,
    ],
  },
  {
    name: 'deployment-controller',
    rules: [
      allow('get list update watch', 'apps extensions', 'deployments'),
      allow('update', 'apps extensions', 'deployments/status'),
      allow('update', 'apps extensions', 'deployments/finalizers'),
      allow('create delete get list patch update watch', 'apps extensions', 'replicasets'),
      allow('get list update watch', 'core', 'pods'),
      recordEvents,
    ],
  },
  {
    name: 'disruption-controller',
    rules: [
      allow(readVerbs, 'apps extensions', 'deployments'),
      allow(readVerbs, 'apps extensions', 'replicasets'),
      allow(readVerbs, 'core', 'replicationcontrollers'),
      allow(readVerbs, 'policy', 'poddisruptionbudgets'),
      allow(readVerbs, 'apps', 'statefulsets'),
      allow('update', 'policy', 'poddisruptionbudgets/status'),
      allow('get', '*', '*/scale'),
      recordEvents,
      allow('patch', 'core', 'pods/status'),
    ],
  },
  {
    name: 'endpoint-controller',
    rules: [
      allow(readVerbs, 'core', 'pods services'),
      allow('create delete get list update', 'core', 'endpoints'),
      allow('create', 'core', 'endpoints/restricted'),
      recordEvents,
    ],
  },
  {
    name: 'endpointslice-controller',
    rules: [
      allow(readVerbs, 'core', 'nodes pods services'),
      allow('update', 'core', 'services/finalizers'),
      allow('create delete get list update', '{discovery}', 'endpointslices'),
      recordEvents,
    ],
  },
  {
    name: 'endpointslicemirroring-controller',
    rules: [
      allow(readVerbs, 'core', 'endpoints services'),
      allow('update', 'core', 'services/finalizers'),
      allow('update', 'core', 'endpoints/finalizers'),
      allow('create delete get list update', '{discovery}', 'endpointslices'),
      recordEvents,
    ],
  },
  {
    name: 'ephemeral-volume-controller',
    rules: [
      allow(readVerbs, 'core', 'pods'),
      allow('update', 'core', 'pods/finalizers'),
      allow('create get list watch', 'core', 'persistentvolumeclaims'),
      recordEvents,
    ],
  },
  {
    name: 'expand-controller',
    rules: [
      allow('get list patch update watch', 'core', 'persistentvolumes'),
      allow('patch update', 'core', 'persistentvolumeclaims/status'),
      allow(readVerbs, 'core', 'persistentvolumeclaims'),
      allow(readVerbs, '{storage}', 'storageclasses'),
      allow('get', 'core', 'endpoints services'),
      allow('get', 'core', 'secrets'),
      recordEvents,
    ],
  },
  {
    name: 'generic-garbage-collector',
    rules: [allow('delete get list patch update watch', '*', '*'), recordEvents],
  },
  {
    name: 'horizontal-pod-autoscaler',
    rules: [
      allow(readVerbs, 'autoscaling', 'horizontalpodautoscalers'),
      allow('update', 'autoscaling', 'horizontalpodautoscalers/status'),
      allow('get update', '*', '*/scale'),
      allow('list', 'core', 'pods'),
      allow('get', 'core', 'services/proxy', 'http:heapster: https:heapster:'),
      allow('list', '{metrics}', 'pods'),
      allow('get list', '{custom.metrics}', '*'),
      allow('get list', '{external.metrics}', '*'),
      recordEvents,
    ],
  },
  {
    name: 'job-controller',
    rules: [
      allow('get list patch update watch', 'batch', 'jobs'),
      allow('update', 'batch', 'jobs/status'),
      allow('update', 'batch', 'jobs/finalizers'),
      allow('create delete list patch watch', 'core', 'pods'),
      recordEvents,
    ],
  },
  {
    name: 'namespace-controller',
    rules: [
      allow('delete get list watch', 'core', 'namespaces'),
      allow('update', 'core', 'namespaces/finalize namespaces/status'),
      allow('delete deletecollection get list', '*', '*'),
    ],
  },
  {
    name: 'node-controller',
    rules: [
      allow('delete get list patch update', 'core', 'nodes'),
      allow('patch update', 'core', 'nodes/status'),
      allow('patch update', 'core', 'pods/status'),
      allow('delete list', 'core', 'pods'),
      allow('create get list update', '{networking}', 'clustercidrs'),
      recordEvents,
      allow('get', 'core', 'pods'),
    ],
  },
  {
    name: 'persistent-volume-binder',
    rules: [
      allow('create delete get list update watch', 'core', 'persistentvolumes'),
      allow('update', 'core', 'persistentvolumes/status'),
      allow('get list update watch', 'core', 'persistentvolumeclaims'),
      allow('update', 'core', 'persistentvolumeclaims/status'),
      allow('create delete get list watch', 'core', 'pods'),
      allow(readVerbs, '{storage}', 'storageclasses'),
      allow('create delete get update', 'core', 'endpoints'),
      allow('create delete get', 'core', 'services'),
      allow('get', 'core', 'secrets'),
      allow('get list', 'core', 'nodes'),
      allow('watch', 'core', 'events'),
      recordEvents,
    ],
  },
  {
    name: 'pod-garbage-collector',
    rules: [allow('delete list watch', 'core', 'pods'), allow('get list', 'core', 'nodes'), allow('patch', 'core', 'pods/status')],
  },
  {
    name: 'pv-protection-controller',
    rules: [allow('get list update watch', 'core', 'persistentvolumes'), recordEvents],
  },
  {
    name: 'pvc-protection-controller',
    rules: [allow('get list update watch', 'core', 'persistentvolumeclaims'), allow(readVerbs, 'core', 'pods'), recordEvents],
  },
  {
    name: 'replicaset-controller',
    rules: [
      allow('get list update watch', 'apps extensions', 'replicasets'),
      allow('update', 'apps extensions', 'replicasets/status'),
      allow('update', 'apps extensions', 'replicasets/finalizers'),
      allow('create delete list patch watch', 'core', 'pods'),
      recordEvents,
    ],
  },
  {
    name: 'replication-controller',
    rules: [
      allow('get list update watch', 'core', 'replicationcontrollers'),
      allow('update', 'core', 'replicationcontrollers/status'),
      allow('update', 'core', 'replicationcontrollers/finalizers'),
      allow('create delete list patch watch', 'core', 'pods'),
      recordEvents,
    ],
  },
  {
    name: 'resource-claim-controller',
    gate: 'DynamicResourceAllocation',
    rules: [
      allow(readVerbs, 'core', 'pods'),
      allow('update', 'core', 'pods/finalizers'),
      allow('create get list watch', '{resource}', 'resourceclaims'),
      allow('patch update', '{resource}', 'resourceclaims/status'),
      recordEvents,
    ],
  },
  {
    name: 'resourcequota-controller',
    rules: [allow('list watch', '*', '*'), allow('update', 'core', 'resourcequotas/status'), recordEvents],
  },
  {
    name: 'root-ca-cert-publisher',
    rules: [allow('create update', 'core', 'configmaps'), recordEvents],
  },
  {
    name: 'route-controller',
    rules: [allow('list watch', 'core', 'nodes'), allow('patch', 'core', 'nodes/status'), recordEvents],
  },
  {
    name: 'service-account-controller',
    rules: [allow('create', 'core', 'serviceaccounts'), recordEvents],
  },
  {
    name: 'service-controller',
    rules: [
      allow(readVerbs, 'core', 'services'),
      allow('patch update', 'core', 'services/status'),
      allow('list watch', 'core', 'nodes'),
      recordEvents,
    ],
  },
  {
    name: 'statefulset-controller',
    rules: [
      allow('list watch', 'core', 'pods'),
      allow(readVerbs, 'apps', 'statefulsets'),
      allow('update', 'apps', 'statefulsets/status'),
      allow('update', 'apps', 'statefulsets/finalizers'),
      allow('create delete get patch update', 'core', 'pods'),
      allow('create delete get list patch update watch', 'apps', 'controllerrevisions'),
      allow('create get', 'core', 'persistentvolumeclaims'),
      recordEvents,
    ],
  },
  {
    name: 'ttl-after-finished-controller',
    rules: [allow('delete get list watch', 'batch', 'jobs'), recordEvents],
  },
  {
    name: 'ttl-controller',
    rules: [allow('list patch update watch', 'core', 'nodes'), recordEvents],
  },
]
