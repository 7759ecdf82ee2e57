// All built-in kinds, in discovery order.

import type { ResourceDefinition } from '../api/definition/resource-definition.js'
import { validatingAdmissionPolicy, validatingAdmissionPolicyBinding } from './admissionregistration/validating-admission-policies.js'
import { mutatingWebhookConfiguration, validatingWebhookConfiguration } from './admissionregistration/webhook-configurations.js'
import { customResourceDefinition } from './apiextensions/custom-resource-definition.js'
import { apiService } from './apiregistration/api-service.js'
import { controllerRevision } from './apps/controller-revision.js'
import { daemonSet } from './apps/daemon-set.js'
import { deployment } from './apps/deployment.js'
import { replicaSet } from './apps/replica-set.js'
import { statefulSet } from './apps/stateful-set.js'
import { selfSubjectReview, tokenReview } from './authentication/token-review.js'
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from './authorization/subject-access-review.js'
import { horizontalPodAutoscaler } from './autoscaling/horizontal-pod-autoscaler.js'
import { cronJob } from './batch/cron-job.js'
import { job } from './batch/job.js'
import { certificateSigningRequest } from './certificates/certificate-signing-request.js'
import { lease } from './coordination/lease.js'
import { componentStatus } from './core/component-status.js'
import { configMap } from './core/config-map.js'
import { event } from './core/event/event.js'
import { limitRange } from './core/limit-range.js'
import { namespace } from './core/namespace.js'
import { node } from './core/node/node.js'
import { persistentVolume } from './core/persistent-volume/persistent-volume.js'
import { persistentVolumeClaim } from './core/persistent-volume/persistent-volume-claim.js'
import { binding } from './core/pod/binding.js'
import { pod } from './core/pod/pod.js'
import { resourceQuota } from './core/resource-quota.js'
import { secret } from './core/secret.js'
import { endpoints } from './core/service/endpoints.js'
import { service } from './core/service/service.js'
import { serviceAccount } from './core/service-account.js'
import { podTemplate } from './core/workload/pod-template.js'
import { replicationController } from './core/workload/replication-controller.js'
import { endpointSlice } from './discovery/endpoint-slice.js'
import { event as eventsEvent } from './events/event.js'
import { flowSchema } from './flowcontrol-apiserver/flow-schema.js'
import { priorityLevelConfiguration } from './flowcontrol-apiserver/priority-level-configuration.js'
import { storageVersion } from './internal-apiserver/storage-version.js'
import { clusterCidr } from './networking/cluster-cidr.js'
import { ingress, ingressClass } from './networking/ingress.js'
import { networkPolicy } from './networking/network-policy.js'
import { runtimeClass } from './node/runtime-class.js'
import { podDisruptionBudget } from './policy/pod-disruption-budget.js'
import { clusterRoleBinding, roleBinding } from './rbac-authorization/role-bindings.js'
import { clusterRole, role } from './rbac-authorization/roles.js'
import { podScheduling, resourceClaim, resourceClaimTemplate, resourceClass } from './resource/resource-claims.js'
import { priorityClass } from './scheduling/priority-class.js'
import { csiDriver, csiNode, csiStorageCapacity } from './storage/csi.js'
import { storageClass } from './storage/storage-class.js'
import { volumeAttachment } from './storage/volume-attachment.js'

export const definitions = [
  binding,
  componentStatus,
  configMap,
  endpoints,
  event,
  limitRange,
  namespace,
  node,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  podTemplate,
  replicationController,
  resourceQuota,
  secret,
  service,
  serviceAccount,
  apiService,
  controllerRevision,
  daemonSet,
  deployment,
  replicaSet,
  statefulSet,
  eventsEvent,
  selfSubjectReview,
  tokenReview,
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
  horizontalPodAutoscaler,
  cronJob,
  job,
  certificateSigningRequest,
  clusterCidr,
  ingress,
  ingressClass,
  networkPolicy,
  podDisruptionBudget,
  clusterRole,
  clusterRoleBinding,
  role,
  roleBinding,
  csiDriver,
  csiNode,
  csiStorageCapacity,
  storageClass,
  volumeAttachment,
  mutatingWebhookConfiguration,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  validatingWebhookConfiguration,
  customResourceDefinition,
  priorityClass,
  lease,
  runtimeClass,
  endpointSlice,
  flowSchema,
  priorityLevelConfiguration,
  storageVersion,
  podScheduling,
  resourceClaim,
  resourceClaimTemplate,
  resourceClass,
] as const satisfies readonly ResourceDefinition[]
