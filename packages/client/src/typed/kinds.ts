// Table of built-in kinds by group, version and accessor name. A test compares it with the server's definitions.

import type { GroupName } from '@cluster-apiserver/api/api/identity.js'
import { Collection, type CollectionSettings } from '../collection.js'
import type { ApiObject } from '../objects/objects.js'
import { PodCollection } from '../pods/pod-collection.js'
import type { WriteOptions } from '../requests/request-options.js'
import type * as types from './types.js'
import type { CertificateSigningRequest, Namespace, Scale, ServiceAccount, TokenRequest } from './types.js'

export class StatusCollection<T extends ApiObject> extends Collection<T> {
  get status(): Collection<T> {
    return this.subresource('status')
  }
}

export class ScaledCollection<T extends ApiObject> extends StatusCollection<T> {
  get scale(): Collection<Scale> {
    return this.subresource('scale')
  }
}

export class NamespaceCollection extends StatusCollection<Namespace> {
  get finalize(): Collection<Namespace> {
    return this.subresource('finalize')
  }
}

class CertificateRequestCollection extends StatusCollection<CertificateSigningRequest> {
  get approval(): Collection<CertificateSigningRequest> {
    return this.subresource('approval')
  }
}

class ServiceAccountCollection extends Collection<ServiceAccount> {
  /** Creates a TokenRequest: a bound, expiring token of the service account. */
  createToken(name: string, spec: NonNullable<TokenRequest['spec']> = {}, options: WriteOptions = {}): Promise<TokenRequest> {
    return this.subresource('token').createFor<TokenRequest>(name, { spec }, options)
  }
}

/** Reviews and bindings: kinds that are created but not stored. */
export class ReviewCollection<T extends ApiObject> {
  private readonly collection: Collection<T>

  constructor(settings: CollectionSettings) {
    this.collection = new Collection(settings)
  }

  create(review: T, options: WriteOptions = {}): Promise<T> {
    return this.collection.create(review, options)
  }
}

/** Entry of the table; `C` is the collection class of the kind. */
export interface KindEntry<C> {
  readonly kind: string
  readonly namespaced: boolean
  readonly type: new (settings: CollectionSettings) => C
}

export interface NamespacedKind<C> extends KindEntry<C> {
  readonly namespaced: true
}

export interface GroupEntry<Versions> {
  readonly group: GroupName
  readonly versions: Versions
}

type CollectionType<C> = new (settings: CollectionSettings) => C

const namespaced = <C>(kind: string, type: CollectionType<C>): NamespacedKind<C> => ({ kind, namespaced: true, type })
const clusterScoped = <C>(kind: string, type: CollectionType<C>): KindEntry<C> & { readonly namespaced: false } => ({
  kind,
  namespaced: false,
  type,
})
const group = <Versions>(name: GroupName, versions: Versions): GroupEntry<Versions> => ({ group: name, versions })

export const kinds = {
  core: group('', {
    v1: {
      bindings: namespaced('Binding', ReviewCollection<types.Binding>),
      componentStatuses: clusterScoped('ComponentStatus', Collection<types.ComponentStatus>),
      configMaps: namespaced('ConfigMap', Collection<types.ConfigMap>),
      endpoints: namespaced('Endpoints', Collection<types.Endpoints>),
      events: namespaced('Event', Collection<types.Event>),
      limitRanges: namespaced('LimitRange', Collection<types.LimitRange>),
      namespaces: clusterScoped('Namespace', NamespaceCollection),
      nodes: clusterScoped('Node', StatusCollection<types.Node>),
      persistentVolumeClaims: namespaced('PersistentVolumeClaim', StatusCollection<types.PersistentVolumeClaim>),
      persistentVolumes: clusterScoped('PersistentVolume', StatusCollection<types.PersistentVolume>),
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
        mutatingWebhookConfigurations: clusterScoped('MutatingWebhookConfiguration', Collection<types.MutatingWebhookConfiguration>),
        validatingWebhookConfigurations: clusterScoped('ValidatingWebhookConfiguration', Collection<types.ValidatingWebhookConfiguration>),
      },
      v1alpha1: {
        validatingAdmissionPolicies: clusterScoped('ValidatingAdmissionPolicy', Collection<types.ValidatingAdmissionPolicy>),
        validatingAdmissionPolicyBindings: clusterScoped(
          'ValidatingAdmissionPolicyBinding',
          Collection<types.ValidatingAdmissionPolicyBinding>,
        ),
      },
    },
  ),
  apiextensions: group(
    { stem: 'apiextensions' },
    {
      v1: {
        customResourceDefinitions: clusterScoped('CustomResourceDefinition', StatusCollection<types.CustomResourceDefinition>),
      },
    },
  ),
  apiregistration: group(
    { stem: 'apiregistration' },
    {
      v1: {
        apiServices: clusterScoped('APIService', StatusCollection<types.APIService>),
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
        selfSubjectReviews: clusterScoped('SelfSubjectReview', ReviewCollection<types.SelfSubjectReview>),
      },
      v1: {
        tokenReviews: clusterScoped('TokenReview', ReviewCollection<types.TokenReview>),
      },
    },
  ),
  authorization: group(
    { stem: 'authorization' },
    {
      v1: {
        localSubjectAccessReviews: namespaced('LocalSubjectAccessReview', ReviewCollection<types.LocalSubjectAccessReview>),
        selfSubjectAccessReviews: clusterScoped('SelfSubjectAccessReview', ReviewCollection<types.SelfSubjectAccessReview>),
        selfSubjectRulesReviews: clusterScoped('SelfSubjectRulesReview', ReviewCollection<types.SelfSubjectRulesReview>),
        subjectAccessReviews: clusterScoped('SubjectAccessReview', ReviewCollection<types.SubjectAccessReview>),
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
        certificateSigningRequests: clusterScoped('CertificateSigningRequest', CertificateRequestCollection),
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
        flowSchemas: clusterScoped('FlowSchema', StatusCollection<types.FlowSchema>),
        priorityLevelConfigurations: clusterScoped('PriorityLevelConfiguration', StatusCollection<types.PriorityLevelConfiguration>),
      },
      v1beta2: {
        flowSchemas: clusterScoped('FlowSchema', StatusCollection<types.FlowSchemaV1beta2>),
        priorityLevelConfigurations: clusterScoped('PriorityLevelConfiguration', StatusCollection<types.PriorityLevelConfigurationV1beta2>),
      },
    },
  ),
  internalApiserver: group(
    { stem: 'internal.apiserver' },
    {
      v1alpha1: {
        storageVersions: clusterScoped('StorageVersion', StatusCollection<types.StorageVersion>),
      },
    },
  ),
  networking: group(
    { stem: 'networking' },
    {
      v1alpha1: {
        clusterCIDRs: clusterScoped('ClusterCIDR', Collection<types.ClusterCIDR>),
      },
      v1: {
        ingressClasses: clusterScoped('IngressClass', Collection<types.IngressClass>),
        ingresses: namespaced('Ingress', StatusCollection<types.Ingress>),
        networkPolicies: namespaced('NetworkPolicy', StatusCollection<types.NetworkPolicy>),
      },
    },
  ),
  node: group(
    { stem: 'node' },
    {
      v1: {
        runtimeClasses: clusterScoped('RuntimeClass', Collection<types.RuntimeClass>),
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
        clusterRoleBindings: clusterScoped('ClusterRoleBinding', Collection<types.ClusterRoleBinding>),
        clusterRoles: clusterScoped('ClusterRole', Collection<types.ClusterRole>),
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
        resourceClasses: clusterScoped('ResourceClass', Collection<types.ResourceClass>),
      },
    },
  ),
  scheduling: group(
    { stem: 'scheduling' },
    {
      v1: {
        priorityClasses: clusterScoped('PriorityClass', Collection<types.PriorityClass>),
      },
    },
  ),
  storage: group(
    { stem: 'storage' },
    {
      v1: {
        csiDrivers: clusterScoped('CSIDriver', Collection<types.CSIDriver>),
        csiNodes: clusterScoped('CSINode', Collection<types.CSINode>),
        csiStorageCapacities: namespaced('CSIStorageCapacity', Collection<types.CSIStorageCapacity>),
        storageClasses: clusterScoped('StorageClass', Collection<types.StorageClass>),
        volumeAttachments: clusterScoped('VolumeAttachment', StatusCollection<types.VolumeAttachment>),
      },
      v1beta1: {
        csiStorageCapacities: namespaced('CSIStorageCapacity', Collection<types.CSIStorageCapacityV1beta1>),
      },
    },
  ),
}

export type Kinds = typeof kinds
