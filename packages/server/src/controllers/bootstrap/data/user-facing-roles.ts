// Default ClusterRoles for people: cluster-admin, and the aggregated roles admin, edit and view. `{…}` is an API group without its suffix.

import { allow, allowPaths, type RoleTemplate, readVerbs, writeVerbs } from './role-template.js'

export const userFacingRoles: readonly RoleTemplate[] = [
  {
    name: 'admin',
    aggregatesFrom: 'admin',
  },
  {
    name: 'cluster-admin',
    rules: [allow('*', '*', '*'), allowPaths('*', '*')],
  },
  {
    name: 'edit',
    aggregateTo: 'admin',
    aggregatesFrom: 'edit',
  },
  {
    name: 'system:aggregate-to-admin',
    aggregateTo: 'admin',
    rules: [
      allow('create', '{authorization}', 'localsubjectaccessreviews'),
      allow('create delete deletecollection get list patch update watch', '{rbac.authorization}', 'rolebindings roles'),
    ],
  },
  {
    name: 'system:aggregate-to-edit',
    aggregateTo: 'edit',
    rules: [
      allow(readVerbs, 'core', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
      allow('impersonate', 'core', 'serviceaccounts'),
      allow(writeVerbs, 'core', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
      allow('create', 'core', 'pods/eviction'),
      allow(
        writeVerbs,
        'core',
        'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
      ),
      allow('create', 'core', 'serviceaccounts/token'),
      allow(
        writeVerbs,
        'apps',
        'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
      ),
      allow(writeVerbs, 'autoscaling', 'horizontalpodautoscalers'),
      allow(writeVerbs, 'batch', 'cronjobs jobs'),
      allow(
        writeVerbs,
        'extensions',
        'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
      ),
      allow(writeVerbs, 'policy', 'poddisruptionbudgets'),
      allow(writeVerbs, '{networking}', 'ingresses networkpolicies'),
      allow('create delete deletecollection get list patch update watch', '{coordination}', 'leases'),
    ],
  },
  {
    name: 'system:aggregate-to-view',
    aggregateTo: 'view',
    rules: [
      allow(
        readVerbs,
        'core',
        'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
      ),
      allow(
        readVerbs,
        'core',
        'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
      ),
      allow(readVerbs, 'core', 'namespaces'),
      allow(readVerbs, '{discovery}', 'endpointslices'),
      allow(
        readVerbs,
        'apps',
        'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
      ),
      allow(readVerbs, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
      allow(readVerbs, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
      allow(
        readVerbs,
        'extensions',
        'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
      ),
      allow(readVerbs, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
      allow(readVerbs, '{networking}', 'ingresses ingresses/status networkpolicies'),
    ],
  },
  {
    name: 'view',
    aggregateTo: 'edit',
    aggregatesFrom: 'view',
  },
]
