// In which version each collection was written by servers whose entries did not say so (format 0). Such entries may lie in an etcd for ever, and
// what they are does not change when a kind is stored in another version one day: nothing is ever changed here.

import type { GroupName, Identity } from '../api/identity.js'

/** By group, as definitions name it, and version. */
const written: readonly { readonly group: GroupName; readonly version: string; readonly resources: readonly string[] }[] = [
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

export const firstFormatVersions = (identity: Identity): ReadonlyMap<string, string> =>
  new Map(
    written.flatMap(({ group: stem, version, resources }) => {
      const group = identity.group(stem)
      return resources.map(
        (resource) => (group === '' ? [resource, version] : [`${resource}.${group}`, `${group}/${version}`]) as [string, string],
      )
    }),
  )
