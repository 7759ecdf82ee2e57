// Every kind that the server knows by itself, under the word that the client has for it, with the type of its objects. The words are the
// plurals with their capitals; a test holds this table against the definitions.

import type { GroupName } from '../../api/identity.js'
import { Collection, type CollectionSettings } from '../collection.js'
import { PodCollection } from '../pod-collection.js'
import {
  CertificateRequestCollection,
  NamespaceCollection,
  ReviewCollection,
  ScaledCollection,
  ServiceAccountCollection,
  StatusCollection,
} from './collections.js'
import type { GroupEntry, KindEntry, NamespacedKind } from './typed-client.js'
import type * as types from './types.js'

type CollectionType<C> = new (settings: CollectionSettings) => C

const namespaced = <C>(kind: string, type: CollectionType<C>): NamespacedKind<C> => ({ kind, namespaced: true, type })
const global = <C>(kind: string, type: CollectionType<C>): KindEntry<C> & { readonly namespaced: false } => ({
  kind,
  namespaced: false,
  type,
})
const group = <Versions>(name: GroupName, versions: Versions): GroupEntry<Versions> => ({ group: name, versions })

export const kinds = {
  core: group('', {
    v1: {
      bindings: namespaced('Binding', ReviewCollection<types.Binding>),
      componentStatuses: global('ComponentStatus', Collection<types.ComponentStatus>),
      configMaps: namespaced('ConfigMap', Collection<types.ConfigMap>),
      endpoints: namespaced('Endpoints', Collection<types.Endpoints>),
      events: namespaced('Event', Collection<types.Event>),
      limitRanges: namespaced('LimitRange', Collection<types.LimitRange>),
      namespaces: global('Namespace', NamespaceCollection),
      nodes: global('Node', StatusCollection<types.Node>),
      persistentVolumeClaims: namespaced('PersistentVolumeClaim', StatusCollection<types.PersistentVolumeClaim>),
      persistentVolumes: global('PersistentVolume', StatusCollection<types.PersistentVolume>),
      podTemplates: namespaced('PodTemplate', Collection<types.PodTemplate>),
      pods: namespaced('Pod', PodCollection),
      replicationControllers: namespaced('ReplicationController', ScaledCollection<types.ReplicationController>),
      resourceQuotas: namespaced('ResourceQuota', StatusCollection<types.ResourceQuota>),
      secrets: namespaced('Secret', Collection<types.Secret>),
      serviceAccounts: namespaced('ServiceAccount', ServiceAccountCollection),
      services: namespaced('Service', StatusCollection<types.Service>),
    },
  }),
  admissionregistration: group(
    { stem: 'admissionregistration' },
    {
      v1: {
        mutatingWebhookConfigurations: global('MutatingWebhookConfiguration', Collection<types.MutatingWebhookConfiguration>),
        validatingWebhookConfigurations: global('ValidatingWebhookConfiguration', Collection<types.ValidatingWebhookConfiguration>),
      },
      v1alpha1: {
        validatingAdmissionPolicies: global('ValidatingAdmissionPolicy', Collection<types.ValidatingAdmissionPolicy>),
        validatingAdmissionPolicyBindings: global('ValidatingAdmissionPolicyBinding', Collection<types.ValidatingAdmissionPolicyBinding>),
      },
    },
  ),
  apiextensions: group(
    { stem: 'apiextensions' },
    {
      v1: {
        customResourceDefinitions: global('CustomResourceDefinition', StatusCollection<types.CustomResourceDefinition>),
      },
    },
  ),
  apiregistration: group(
    { stem: 'apiregistration' },
    {
      v1: {
        apiServices: global('APIService', StatusCollection<types.APIService>),
      },
    },
  ),
  apps: group('apps', {
    v1: {
      controllerRevisions: namespaced('ControllerRevision', Collection<types.ControllerRevision>),
      daemonSets: namespaced('DaemonSet', StatusCollection<types.DaemonSet>),
      deployments: namespaced('Deployment', ScaledCollection<types.Deployment>),
      replicaSets: namespaced('ReplicaSet', ScaledCollection<types.ReplicaSet>),
      statefulSets: namespaced('StatefulSet', ScaledCollection<types.StatefulSet>),
    },
  }),
  authentication: group(
    { stem: 'authentication' },
    {
      v1alpha1: {
        selfSubjectReviews: global('SelfSubjectReview', ReviewCollection<types.SelfSubjectReview>),
      },
      v1: {
        tokenReviews: global('TokenReview', ReviewCollection<types.TokenReview>),
      },
    },
  ),
  authorization: group(
    { stem: 'authorization' },
    {
      v1: {
        localSubjectAccessReviews: namespaced('LocalSubjectAccessReview', ReviewCollection<types.LocalSubjectAccessReview>),
        selfSubjectAccessReviews: global('SelfSubjectAccessReview', ReviewCollection<types.SelfSubjectAccessReview>),
        selfSubjectRulesReviews: global('SelfSubjectRulesReview', ReviewCollection<types.SelfSubjectRulesReview>),
        subjectAccessReviews: global('SubjectAccessReview', ReviewCollection<types.SubjectAccessReview>),
      },
    },
  ),
  autoscaling: group('autoscaling', {
    v2: {
      horizontalPodAutoscalers: namespaced('HorizontalPodAutoscaler', StatusCollection<types.HorizontalPodAutoscaler>),
    },
    v1: {
      horizontalPodAutoscalers: namespaced('HorizontalPodAutoscaler', StatusCollection<types.HorizontalPodAutoscalerV1>),
    },
  }),
  batch: group('batch', {
    v1: {
      cronJobs: namespaced('CronJob', StatusCollection<types.CronJob>),
      jobs: namespaced('Job', StatusCollection<types.Job>),
    },
  }),
  certificates: group(
    { stem: 'certificates' },
    {
      v1: {
        certificateSigningRequests: global('CertificateSigningRequest', CertificateRequestCollection),
      },
    },
  ),
  coordination: group(
    { stem: 'coordination' },
    {
      v1: {
        leases: namespaced('Lease', Collection<types.Lease>),
      },
    },
  ),
  discovery: group(
    { stem: 'discovery' },
    {
      v1: {
        endpointSlices: namespaced('EndpointSlice', Collection<types.EndpointSlice>),
      },
    },
  ),
  events: group(
    { stem: 'events' },
    {
      v1: {
        events: namespaced('Event', Collection<types.EventOfEvents>),
      },
    },
  ),
  flowcontrolApiserver: group(
    { stem: 'flowcontrol.apiserver' },
    {
      v1beta3: {
        flowSchemas: global('FlowSchema', StatusCollection<types.FlowSchema>),
        priorityLevelConfigurations: global('PriorityLevelConfiguration', StatusCollection<types.PriorityLevelConfiguration>),
      },
      v1beta2: {
        flowSchemas: global('FlowSchema', StatusCollection<types.FlowSchemaV1beta2>),
        priorityLevelConfigurations: global('PriorityLevelConfiguration', StatusCollection<types.PriorityLevelConfigurationV1beta2>),
      },
    },
  ),
  internalApiserver: group(
    { stem: 'internal.apiserver' },
    {
      v1alpha1: {
        storageVersions: global('StorageVersion', StatusCollection<types.StorageVersion>),
      },
    },
  ),
  networking: group(
    { stem: 'networking' },
    {
      v1alpha1: {
        clusterCIDRs: global('ClusterCIDR', Collection<types.ClusterCIDR>),
      },
      v1: {
        ingressClasses: global('IngressClass', Collection<types.IngressClass>),
        ingresses: namespaced('Ingress', StatusCollection<types.Ingress>),
        networkPolicies: namespaced('NetworkPolicy', StatusCollection<types.NetworkPolicy>),
      },
    },
  ),
  node: group(
    { stem: 'node' },
    {
      v1: {
        runtimeClasses: global('RuntimeClass', Collection<types.RuntimeClass>),
      },
    },
  ),
  policy: group('policy', {
    v1: {
      podDisruptionBudgets: namespaced('PodDisruptionBudget', StatusCollection<types.PodDisruptionBudget>),
    },
  }),
  rbacAuthorization: group(
    { stem: 'rbac.authorization' },
    {
      v1: {
        clusterRoleBindings: global('ClusterRoleBinding', Collection<types.ClusterRoleBinding>),
        clusterRoles: global('ClusterRole', Collection<types.ClusterRole>),
        roleBindings: namespaced('RoleBinding', Collection<types.RoleBinding>),
        roles: namespaced('Role', Collection<types.Role>),
      },
    },
  ),
  resource: group(
    { stem: 'resource' },
    {
      v1alpha1: {
        podSchedulings: namespaced('PodScheduling', StatusCollection<types.PodScheduling>),
        resourceClaimTemplates: namespaced('ResourceClaimTemplate', Collection<types.ResourceClaimTemplate>),
        resourceClaims: namespaced('ResourceClaim', StatusCollection<types.ResourceClaim>),
        resourceClasses: global('ResourceClass', Collection<types.ResourceClass>),
      },
    },
  ),
  scheduling: group(
    { stem: 'scheduling' },
    {
      v1: {
        priorityClasses: global('PriorityClass', Collection<types.PriorityClass>),
      },
    },
  ),
  storage: group(
    { stem: 'storage' },
    {
      v1: {
        csiDrivers: global('CSIDriver', Collection<types.CSIDriver>),
        csiNodes: global('CSINode', Collection<types.CSINode>),
        csiStorageCapacities: namespaced('CSIStorageCapacity', Collection<types.CSIStorageCapacity>),
        storageClasses: global('StorageClass', Collection<types.StorageClass>),
        volumeAttachments: global('VolumeAttachment', StatusCollection<types.VolumeAttachment>),
      },
      v1beta1: {
        csiStorageCapacities: namespaced('CSIStorageCapacity', Collection<types.CSIStorageCapacityV1beta1>),
      },
    },
  ),
}

export type Kinds = typeof kinds
