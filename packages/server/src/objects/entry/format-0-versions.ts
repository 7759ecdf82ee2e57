// API version of each collection in storage format 0, whose entries have no apiVersion. Never changes: such entries may remain in a store.

import type { GroupName, Identity } from '@cluster-apiserver/api/api/identity.js'

const versions: readonly { readonly group: GroupName; readonly version: string; readonly resources: readonly string[] }[] = [
  {
    group: '',
    version: 'v1',
    resources: [
      'bindings',
      'componentstatuses',
      'configmaps',
      'endpoints',
      'events',
      'limitranges',
      'namespaces',
      'nodes',
      'persistentvolumeclaims',
      'persistentvolumes',
      'pods',
      'podtemplates',
      'replicationcontrollers',
      'resourcequotas',
      'secrets',
      'serviceaccounts',
      'services',
    ],
  },
  { group: 'apps', version: 'v1', resources: ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'] },
  { group: 'autoscaling', version: 'v2', resources: ['horizontalpodautoscalers'] },
  { group: 'batch', version: 'v1', resources: ['cronjobs', 'jobs'] },
  { group: 'policy', version: 'v1', resources: ['poddisruptionbudgets'] },
  {
    group: { stem: 'admissionregistration' },
    version: 'v1',
    resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
  },
  {
    group: { stem: 'admissionregistration' },
    version: 'v1alpha1',
    resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
  },
  { group: { stem: 'apiextensions' }, version: 'v1', resources: ['customresourcedefinitions'] },
  { group: { stem: 'apiregistration' }, version: 'v1', resources: ['apiservices'] },
  { group: { stem: 'authentication' }, version: 'v1', resources: ['tokenreviews'] },
  { group: { stem: 'authentication' }, version: 'v1alpha1', resources: ['selfsubjectreviews'] },
  {
    group: { stem: 'authorization' },
    version: 'v1',
    resources: ['localsubjectaccessreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'subjectaccessreviews'],
  },
  { group: { stem: 'certificates' }, version: 'v1', resources: ['certificatesigningrequests'] },
  { group: { stem: 'coordination' }, version: 'v1', resources: ['leases'] },
  { group: { stem: 'discovery' }, version: 'v1', resources: ['endpointslices'] },
  { group: { stem: 'flowcontrol.apiserver' }, version: 'v1beta2', resources: ['flowschemas', 'prioritylevelconfigurations'] },
  { group: { stem: 'internal.apiserver' }, version: 'v1alpha1', resources: ['storageversions'] },
  { group: { stem: 'networking' }, version: 'v1', resources: ['ingressclasses', 'ingresses', 'networkpolicies'] },
  { group: { stem: 'networking' }, version: 'v1alpha1', resources: ['clustercidrs'] },
  { group: { stem: 'node' }, version: 'v1', resources: ['runtimeclasses'] },
  { group: { stem: 'rbac.authorization' }, version: 'v1', resources: ['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'] },
  {
    group: { stem: 'resource' },
    version: 'v1alpha1',
    resources: ['podschedulings', 'resourceclaims', 'resourceclaimtemplates', 'resourceclasses'],
  },
  { group: { stem: 'scheduling' }, version: 'v1', resources: ['priorityclasses'] },
  {
    group: { stem: 'storage' },
    version: 'v1',
    resources: ['csidrivers', 'csinodes', 'csistoragecapacities', 'storageclasses', 'volumeattachments'],
  },
]

export const format0Versions = (identity: Identity): ReadonlyMap<string, string> =>
  new Map(
    versions.flatMap(({ group: stem, version, resources }) => {
      const group = identity.group(stem)
      return resources.map(
        (resource) => (group === '' ? [resource, version] : [`${resource}.${group}`, `${group}/${version}`]) as [string, string],
      )
    }),
  )
