// The dictionary of kinds: every kind that the server knows by itself, one line each, in the order in which discovery names them.

import type { ResourceDefinition } from '../api/definition.js'
import { mutatingWebhookConfiguration } from './admissionregistration/mutating-webhook-configuration.js'
import { validatingAdmissionPolicy } from './admissionregistration/validating-admission-policy.js'
import { validatingAdmissionPolicyBinding } from './admissionregistration/validating-admission-policy-binding.js'
import { validatingWebhookConfiguration } from './admissionregistration/validating-webhook-configuration.js'
import { customResourceDefinition } from './apiextensions/custom-resource-definition.js'
import { apiService } from './apiregistration/api-service.js'
import { controllerRevision } from './apps/controller-revision.js'
import { daemonSet } from './apps/daemon-set.js'
import { deployment } from './apps/deployment.js'
import { replicaSet } from './apps/replica-set.js'
import { statefulSet } from './apps/stateful-set.js'
import { selfSubjectReview } from './authentication/self-subject-review.js'
import { tokenReview } from './authentication/token-review.js'
import { localSubjectAccessReview } from './authorization/local-subject-access-review.js'
import { selfSubjectAccessReview } from './authorization/self-subject-access-review.js'
import { selfSubjectRulesReview } from './authorization/self-subject-rules-review.js'
import { subjectAccessReview } from './authorization/subject-access-review.js'
import { horizontalPodAutoscaler } from './autoscaling/horizontal-pod-autoscaler.js'
import { cronJob } from './batch/cron-job.js'
import { job } from './batch/job.js'
import { certificateSigningRequest } from './certificates/certificate-signing-request.js'
import { lease } from './coordination/lease.js'
import { binding } from './core/binding.js'
import { componentStatus } from './core/component-status.js'
import { configMap } from './core/config-map.js'
import { endpoints } from './core/endpoints.js'
import { event } from './core/event.js'
import { limitRange } from './core/limit-range.js'
import { namespace } from './core/namespace.js'
import { node } from './core/node.js'
import { persistentVolume } from './core/persistent-volume.js'
import { persistentVolumeClaim } from './core/persistent-volume-claim.js'
import { pod } from './core/pod.js'
import { podTemplate } from './core/pod-template.js'
import { replicationController } from './core/replication-controller.js'
import { resourceQuota } from './core/resource-quota.js'
import { secret } from './core/secret.js'
import { service } from './core/service.js'
import { serviceAccount } from './core/service-account.js'
import { endpointSlice } from './discovery/endpoint-slice.js'
import { event as eventOfSecondApi } from './events/event.js'
import { flowSchema } from './flowcontrol-apiserver/flow-schema.js'
import { priorityLevelConfiguration } from './flowcontrol-apiserver/priority-level-configuration.js'
import { storageVersion } from './internal-apiserver/storage-version.js'
import { clusterCidr } from './networking/cluster-cidr.js'
import { ingress } from './networking/ingress.js'
import { ingressClass } from './networking/ingress-class.js'
import { networkPolicy } from './networking/network-policy.js'
import { runtimeClass } from './node/runtime-class.js'
import { podDisruptionBudget } from './policy/pod-disruption-budget.js'
import { clusterRole } from './rbac-authorization/cluster-role.js'
import { clusterRoleBinding } from './rbac-authorization/cluster-role-binding.js'
import { role } from './rbac-authorization/role.js'
import { roleBinding } from './rbac-authorization/role-binding.js'
import { podScheduling } from './resource/pod-scheduling.js'
import { resourceClaim } from './resource/resource-claim.js'
import { resourceClaimTemplate } from './resource/resource-claim-template.js'
import { resourceClass } from './resource/resource-class.js'
import { priorityClass } from './scheduling/priority-class.js'
import { csiDriver } from './storage/csi-driver.js'
import { csiNode } from './storage/csi-node.js'
import { csiStorageCapacity } from './storage/csi-storage-capacity.js'
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
  eventOfSecondApi,
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
