// An object as people read it: the kinds that are looked at most have sections of their own, all others an outline of their fields.

import { identityNames, identityOf } from '../../api/identity.js'
import type { DynamicObject } from '../../client/objects.js'
import { splitApiVersion } from '../../client/resource-ref.js'
import { describeBinding, describeClusterRole, describeRole, describeServiceAccount } from './access.js'
import { describeCertificateRequest } from './certificate-request.js'
import { nameEntries } from './common.js'
import type { DescribeContext } from './context.js'
import type { Entry } from './entry.js'
import { describeBudget, describeLimitRange, describePriorityClass, describeQuota } from './limits.js'
import { describeEndpointSlice, describeEndpoints, describeIngress, describeIngressClass, describeNetworkPolicy } from './networking.js'
import { describeNode } from './node.js'
import { outlineEntries } from './outline.js'
import { describePod } from './pod.js'
import { describeAutoscaler } from './scaling.js'
import { describeService } from './service.js'
import { describeConfigMap, describeNamespace, describeSecret } from './stored.js'
import { describeClaim, describeStorageClass, describeVolume } from './volumes.js'
import {
  describeCronJob,
  describeDaemonSet,
  describeDeployment,
  describeJob,
  describeReplicaSet,
  describeReplicationController,
  describeStatefulSet,
} from './workloads.js'

type Describe<T> = (object: T, context: DescribeContext) => readonly Entry[] | Promise<readonly Entry[]>

/** By group, version and kind; groups without what is the identity's. */
const kinds: ReadonlyMap<string, Describe<never>> = new Map<string, Describe<never>>([
  ['v1/Pod', describePod],
  ['v1/Service', describeService],
  ['v1/Node', describeNode],
  ['v1/ConfigMap', describeConfigMap],
  ['v1/Secret', describeSecret],
  ['v1/Namespace', describeNamespace],
  ['v1/PersistentVolumeClaim', describeClaim],
  ['v1/PersistentVolume', describeVolume],
  ['v1/ServiceAccount', describeServiceAccount],
  ['v1/ResourceQuota', describeQuota],
  ['v1/LimitRange', describeLimitRange],
  ['v1/Endpoints', describeEndpoints],
  ['v1/ReplicationController', describeReplicationController],
  ['apps/v1/Deployment', describeDeployment],
  ['apps/v1/ReplicaSet', describeReplicaSet],
  ['apps/v1/StatefulSet', describeStatefulSet],
  ['apps/v1/DaemonSet', describeDaemonSet],
  ['batch/v1/Job', describeJob],
  ['batch/v1/CronJob', describeCronJob],
  ['autoscaling/v2/HorizontalPodAutoscaler', describeAutoscaler],
  ['policy/v1/PodDisruptionBudget', describeBudget],
  ['rbac.authorization/v1/Role', describeRole],
  ['rbac.authorization/v1/ClusterRole', describeClusterRole],
  ['rbac.authorization/v1/RoleBinding', describeBinding],
  ['rbac.authorization/v1/ClusterRoleBinding', describeBinding],
  ['networking/v1/Ingress', describeIngress],
  ['networking/v1/IngressClass', describeIngressClass],
  ['networking/v1/NetworkPolicy', describeNetworkPolicy],
  ['discovery/v1/EndpointSlice', describeEndpointSlice],
  ['storage/v1/StorageClass', describeStorageClass],
  ['scheduling/v1/PriorityClass', describePriorityClass],
  ['certificates/v1/CertificateSigningRequest', describeCertificateRequest],
])

const suffixes = identityNames.map((name) => `.${identityOf(name).groupSuffix}`)

function keyOf({ apiVersion = '', kind = '' }: DynamicObject): string {
  const { group, version } = splitApiVersion(apiVersion)
  const suffix = suffixes.find((one) => group.endsWith(one)) ?? ''
  const stem = suffix === '' ? group : group.slice(0, -suffix.length)
  return [...(stem === '' ? [] : [stem]), version, kind].join('/')
}

/** These say themselves where their namespace stands, if at all. */
const withoutNamespace = ['apps/v1/DaemonSet', 'networking/v1/Ingress', 'rbac.authorization/v1/Role', 'rbac.authorization/v1/RoleBinding']

/** Nobody tells anything about them. */
const withoutEvents = [
  'v1/Secret',
  'v1/ResourceQuota',
  'v1/LimitRange',
  'v1/Namespace',
  'networking/v1/NetworkPolicy',
  'rbac.authorization/v1/Role',
  'rbac.authorization/v1/ClusterRole',
  'rbac.authorization/v1/RoleBinding',
  'rbac.authorization/v1/ClusterRoleBinding',
]

/** Whether what was told about an object is shown with it. */
export const hasEvents = (object: DynamicObject): boolean => !withoutEvents.includes(keyOf(object))

export async function describeObject(object: DynamicObject, context: DescribeContext): Promise<readonly Entry[]> {
  const key = keyOf(object)
  const describe = kinds.get(key)
  if (describe === undefined) return outlineEntries(object)
  const names = nameEntries(object)
  return [...(withoutNamespace.includes(key) ? names.slice(0, 1) : names), ...(await describe(object as never, context))]
}
