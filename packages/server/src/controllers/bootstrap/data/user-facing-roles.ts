// The roles that are given to people: the whole, and the three that collect the rules of others.

import { at, on, type RoleTemplate, reading, writing } from './rules.js'

export const peopleRoles = (): readonly RoleTemplate[] => [
  {
    name: 'admin',
    collects: 'admin',
  },
  {
    name: 'cluster-admin',
    rules: [on('*', '*', '*'), at('*', '*')],
  },
  {
    name: 'edit',
    partOf: 'admin',
    collects: 'edit',
  },
  {
    name: 'system:aggregate-to-admin',
    partOf: 'admin',
    rules: [
      on('create', '{authorization}', 'localsubjectaccessreviews'),
      on('create delete deletecollection get list patch update watch', '{rbac.authorization}', 'rolebindings roles'),
    ],
  },
  {
    name: 'system:aggregate-to-edit',
    partOf: 'edit',
    rules: [
      on(reading, 'core', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
      on('impersonate', 'core', 'serviceaccounts'),
      on(writing, 'core', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
      on('create', 'core', 'pods/eviction'),
      on(
        writing,
        'core',
        'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
      ),
      on('create', 'core', 'serviceaccounts/token'),
      on(
        writing,
        'apps',
        'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
      ),
      on(writing, 'autoscaling', 'horizontalpodautoscalers'),
      on(writing, 'batch', 'cronjobs jobs'),
      on(
        writing,
        'extensions',
        'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
      ),
      on(writing, 'policy', 'poddisruptionbudgets'),
      on(writing, '{networking}', 'ingresses networkpolicies'),
      on('create delete deletecollection get list patch update watch', '{coordination}', 'leases'),
    ],
  },
  {
    name: 'system:aggregate-to-view',
    partOf: 'view',
    rules: [
      on(
        reading,
        'core',
        'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
      ),
      on(
        reading,
        'core',
        'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
      ),
      on(reading, 'core', 'namespaces'),
      on(reading, '{discovery}', 'endpointslices'),
      on(
        reading,
        'apps',
        'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
      ),
      on(reading, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
      on(reading, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
      on(
        reading,
        'extensions',
        'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
      ),
      on(reading, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
      on(reading, '{networking}', 'ingresses ingresses/status networkpolicies'),
    ],
  },
  {
    name: 'view',
    partOf: 'edit',
    collects: 'view',
  },
]
