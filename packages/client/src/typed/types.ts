// Types of objects by kind, inferred from the schemas. Interfaces instead of aliases: the compiler compares them by name, which is faster.

import type * as admissionregistrationV1 from '@cluster-apiserver/api/resources/admissionregistration/v1.schema.js'
import type * as admissionregistrationV1alpha1 from '@cluster-apiserver/api/resources/admissionregistration/v1alpha1.schema.js'
import type * as apiextensionsV1 from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import type * as apiregistrationV1 from '@cluster-apiserver/api/resources/apiregistration/v1.schema.js'
import type * as appsV1 from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type * as authenticationV1 from '@cluster-apiserver/api/resources/authentication/v1.schema.js'
import type * as authenticationV1alpha1 from '@cluster-apiserver/api/resources/authentication/v1alpha1.schema.js'
import type * as authorizationV1 from '@cluster-apiserver/api/resources/authorization/v1.schema.js'
import type * as autoscalingV1 from '@cluster-apiserver/api/resources/autoscaling/v1.schema.js'
import type * as autoscalingV2 from '@cluster-apiserver/api/resources/autoscaling/v2.schema.js'
import type * as batchV1 from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import type * as certificatesV1 from '@cluster-apiserver/api/resources/certificates/v1.schema.js'
import type * as coordinationV1 from '@cluster-apiserver/api/resources/coordination/v1.schema.js'
import type * as coreV1 from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type * as discoveryV1 from '@cluster-apiserver/api/resources/discovery/v1.schema.js'
import type * as eventsV1 from '@cluster-apiserver/api/resources/events/v1.schema.js'
import type * as flowcontrolApiserverV1beta2 from '@cluster-apiserver/api/resources/flowcontrol-apiserver/v1beta2.schema.js'
import type * as flowcontrolApiserverV1beta3 from '@cluster-apiserver/api/resources/flowcontrol-apiserver/v1beta3.schema.js'
import type * as internalApiserverV1alpha1 from '@cluster-apiserver/api/resources/internal-apiserver/v1alpha1.schema.js'
import type * as networkingV1 from '@cluster-apiserver/api/resources/networking/v1.schema.js'
import type * as networkingV1alpha1 from '@cluster-apiserver/api/resources/networking/v1alpha1.schema.js'
import type * as nodeV1 from '@cluster-apiserver/api/resources/node/v1.schema.js'
import type * as policyV1 from '@cluster-apiserver/api/resources/policy/v1.schema.js'
import type * as rbacAuthorizationV1 from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import type * as resourceV1alpha1 from '@cluster-apiserver/api/resources/resource/v1alpha1.schema.js'
import type * as schedulingV1 from '@cluster-apiserver/api/resources/scheduling/v1.schema.js'
import type * as storageV1 from '@cluster-apiserver/api/resources/storage/v1.schema.js'
import type * as storageV1beta1 from '@cluster-apiserver/api/resources/storage/v1beta1.schema.js'

export interface APIService extends apiregistrationV1.APIService {}
export interface Binding extends coreV1.Binding {}
export interface CSIDriver extends storageV1.CSIDriver {}
export interface CSINode extends storageV1.CSINode {}
export interface CSIStorageCapacity extends storageV1.CSIStorageCapacity {}
export interface CSIStorageCapacityV1beta1 extends storageV1beta1.CSIStorageCapacity {}
export interface ClusterCIDR extends networkingV1alpha1.ClusterCIDR {}
export interface ClusterRole extends rbacAuthorizationV1.ClusterRole {}
export interface ClusterRoleBinding extends rbacAuthorizationV1.ClusterRoleBinding {}
export interface ComponentStatus extends coreV1.ComponentStatus {}
export interface ConfigMap extends coreV1.ConfigMap {}
export interface ControllerRevision extends appsV1.ControllerRevision {}
export interface CronJob extends batchV1.CronJob {}
export interface CustomResourceDefinition extends apiextensionsV1.CustomResourceDefinition {}
export interface DaemonSet extends appsV1.DaemonSet {}
export interface Deployment extends appsV1.Deployment {}
export interface EndpointSlice extends discoveryV1.EndpointSlice {}
export interface Endpoints extends coreV1.Endpoints {}
export interface Event extends coreV1.Event {}
/** Event of the API group `events`; `Event` is the one of the core group. */
export interface EventOfEvents extends eventsV1.Event {}
export interface FlowSchema extends flowcontrolApiserverV1beta3.FlowSchema {}
export interface FlowSchemaV1beta2 extends flowcontrolApiserverV1beta2.FlowSchema {}
export interface HorizontalPodAutoscaler extends autoscalingV2.HorizontalPodAutoscaler {}
export interface HorizontalPodAutoscalerV1 extends autoscalingV1.HorizontalPodAutoscaler {}
export interface Ingress extends networkingV1.Ingress {}
export interface IngressClass extends networkingV1.IngressClass {}
export interface Job extends batchV1.Job {}
export interface Lease extends coordinationV1.Lease {}
export interface LimitRange extends coreV1.LimitRange {}
export interface LocalSubjectAccessReview extends authorizationV1.LocalSubjectAccessReview {}
export interface MutatingWebhookConfiguration extends admissionregistrationV1.MutatingWebhookConfiguration {}
export interface NetworkPolicy extends networkingV1.NetworkPolicy {}
export interface Node extends coreV1.Node {}
export interface PersistentVolume extends coreV1.PersistentVolume {}
export interface PersistentVolumeClaim extends coreV1.PersistentVolumeClaim {}
export interface PodDisruptionBudget extends policyV1.PodDisruptionBudget {}
export interface PodScheduling extends resourceV1alpha1.PodScheduling {}
export interface PodTemplate extends coreV1.PodTemplate {}
export interface PriorityClass extends schedulingV1.PriorityClass {}
export interface PriorityLevelConfiguration extends flowcontrolApiserverV1beta3.PriorityLevelConfiguration {}
export interface PriorityLevelConfigurationV1beta2 extends flowcontrolApiserverV1beta2.PriorityLevelConfiguration {}
export interface ReplicaSet extends appsV1.ReplicaSet {}
export interface ReplicationController extends coreV1.ReplicationController {}
export interface ResourceClaim extends resourceV1alpha1.ResourceClaim {}
export interface ResourceClaimTemplate extends resourceV1alpha1.ResourceClaimTemplate {}
export interface ResourceClass extends resourceV1alpha1.ResourceClass {}
export interface ResourceQuota extends coreV1.ResourceQuota {}
export interface Role extends rbacAuthorizationV1.Role {}
export interface RoleBinding extends rbacAuthorizationV1.RoleBinding {}
export interface RuntimeClass extends nodeV1.RuntimeClass {}
export interface Secret extends coreV1.Secret {}
export interface SelfSubjectAccessReview extends authorizationV1.SelfSubjectAccessReview {}
export interface SelfSubjectReview extends authenticationV1alpha1.SelfSubjectReview {}
export interface SelfSubjectRulesReview extends authorizationV1.SelfSubjectRulesReview {}
export interface Service extends coreV1.Service {}
export interface StatefulSet extends appsV1.StatefulSet {}
export interface StorageClass extends storageV1.StorageClass {}
export interface StorageVersion extends internalApiserverV1alpha1.StorageVersion {}
export interface SubjectAccessReview extends authorizationV1.SubjectAccessReview {}
export interface TokenReview extends authenticationV1.TokenReview {}
export interface ValidatingAdmissionPolicy extends admissionregistrationV1alpha1.ValidatingAdmissionPolicy {}
export interface ValidatingAdmissionPolicyBinding extends admissionregistrationV1alpha1.ValidatingAdmissionPolicyBinding {}
export interface ValidatingWebhookConfiguration extends admissionregistrationV1.ValidatingWebhookConfiguration {}
export interface VolumeAttachment extends storageV1.VolumeAttachment {}
export interface CertificateSigningRequest extends certificatesV1.CertificateSigningRequest {}
export interface Namespace extends coreV1.Namespace {}
export interface Pod extends coreV1.Pod {}
export interface Scale extends autoscalingV1.Scale {}
export interface ServiceAccount extends coreV1.ServiceAccount {}
export interface TokenRequest extends authenticationV1.TokenRequest {}
