// Descriptions by kind; kinds without their own function get an outline of their fields.

import { identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import { escapeTerminalLine } from '@cluster-apiserver/api/base/text/escape-terminal-controls.js'
import { compareText, sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { splitApiVersion } from '@cluster-apiserver/client/requests/resource-ref.js'
import type {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  LimitRange,
  Namespace,
  Node,
  Pod,
  ResourceQuota,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
} from '@cluster-apiserver/client/typed/types.js'
import { ageText } from '../output/columns.js'
import { formatQuantity, parseQuantity } from '../output/quantities.js'
import { type AccessRule, ruleHeaders, ruleRows } from '../output/rbac-rules.js'
import { describeCertificateRequest } from './certificate-signing-request.js'
import { conditionsEntry, createdEntry, labelEntries, nameEntries, quantities, textOr, timeText, yesNo } from './common-fields.js'
import { bare, below, block, type Entry, grid, heading, listOrNone, none } from './description.js'
import { describeAutoscaler } from './horizontal-pod-autoscaler.js'
import { describeEndpointSlice, describeEndpoints, describeIngress, describeIngressClass, describeNetworkPolicy } from './networking.js'
import { describeClaim, describeStorageClass, describeVolume } from './persistent-volumes.js'
import { describePod } from './pod.js'
import {
  describeBudget,
  describeLimitRange,
  describePriorityClass,
  describeQuota,
  limitHeaders,
  limitRows,
  quotaRows,
} from './quotas-and-limits.js'
import type { DescribeContext } from './related-objects.js'
import { describeService } from './service.js'
import {
  describeCronJob,
  describeDaemonSet,
  describeDeployment,
  describeJob,
  describeReplicaSet,
  describeReplicationController,
  describeStatefulSet,
} from './workloads.js'

const describeRole = (object: Role): readonly Entry[] => [...labelEntries(object), rulesEntry(object.rules)]

const describeClusterRole = (object: ClusterRole): readonly Entry[] => [...labelEntries(object), rulesEntry(object.rules)]

const rulesEntry = (rules: readonly AccessRule[] = []): Entry => ['PolicyRule', grid(ruleHeaders, ruleRows(rules))]

const describeBinding = (object: RoleBinding | ClusterRoleBinding): readonly Entry[] => [
  ...labelEntries(object),
  [
    'Role',
    block([
      ['Kind', object.roleRef?.kind ?? ''],
      ['Name', object.roleRef?.name ?? ''],
    ]),
  ],
  [
    'Subjects',
    grid(
      ['Kind', 'Name', 'Namespace'],
      (object.subjects ?? []).map(({ kind = '', name = '', namespace = '' }) => [kind, name, namespace]),
    ),
  ],
]

async function describeServiceAccount(object: ServiceAccount, context: DescribeContext): Promise<readonly Entry[]> {
  const { metadata, secrets = [], imagePullSecrets = [] } = object
  const namespaceSecrets = await context.list<Secret>('secrets', metadata?.namespace)
  const type = await context.label('service-account-token')
  const secretNames = new Set(namespaceSecrets?.map((secret) => secret.metadata?.name))
  const secretText = (name: string): string => (namespaceSecrets === undefined || secretNames.has(name) ? name : `${name} (not found)`)
  const tokens = namespaceSecrets?.filter(
    (secret) => secret.type === type && Object.values(secret.metadata?.annotations ?? {}).includes(metadata?.uid ?? ''),
  )
  return [
    ...labelEntries(object),
    ['Image pull secrets', listOrNone(imagePullSecrets.map(({ name = '' }) => secretText(name)))],
    ['Mountable secrets', listOrNone(secrets.map(({ name = '' }) => secretText(name)))],
    ['Tokens', tokens === undefined ? undefined : listOrNone(tokens.map((secret) => secret.metadata?.name ?? ''))],
  ]
}

export function outlineEntries(object: DynamicObject): readonly Entry[] {
  const { apiVersion, kind, metadata = {}, ...rest } = object
  const { name, namespace, labels: _labels, annotations: _annotations, managedFields: _owners, ...others } = metadata
  return [
    ['Name', name ?? ''],
    ['Namespace', namespace ?? ''],
    ...labelEntries(object),
    ...fieldEntries({ apiVersion, kind, metadata: others, ...rest }),
  ]
}

function fieldEntries(value: object): readonly Entry[] {
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, member]): Entry => {
      const title = titleOf(name)
      if (typeof member !== 'object' || member === null) return [title, member === null ? '<nil>' : String(member)]
      return [title, heading(Array.isArray(member) ? member.flatMap(itemEntries) : fieldEntries(member as object))]
    })
}

function itemEntries(item: unknown): readonly Entry[] {
  if (typeof item === 'object' && item !== null) return Array.isArray(item) ? item.flatMap(itemEntries) : fieldEntries(item)
  return [['', below([String(item)])]]
}

const acronyms = ['API', 'URL', 'UID', 'OSB', 'GUID']

function titleOf(name: string): string {
  if (!/^[A-Za-z-]+$/.test(name)) return escapeTerminalLine(name)
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(' ')
    .map((word) => (acronyms.includes(word.toUpperCase()) ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1)))
    .join(' ')
}

type Describe<T> = (object: T, context: DescribeContext) => readonly Entry[] | Promise<readonly Entry[]>

const describersByKind: ReadonlyMap<string, Describe<never>> = new Map<string, Describe<never>>([
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
  const suffix = suffixes.find((candidate) => group.endsWith(candidate)) ?? ''
  const stem = suffix === '' ? group : group.slice(0, -suffix.length)
  return [...(stem === '' ? [] : [stem]), version, kind].join('/')
}

const withoutNamespace = ['apps/v1/DaemonSet', 'networking/v1/Ingress', 'rbac.authorization/v1/Role', 'rbac.authorization/v1/RoleBinding']

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

export const hasEvents = (object: DynamicObject): boolean => !withoutEvents.includes(keyOf(object))

export async function describeObject(object: DynamicObject, context: DescribeContext): Promise<readonly Entry[]> {
  const key = keyOf(object)
  const describe = describersByKind.get(key)
  if (describe === undefined) return outlineEntries(object)
  const names = nameEntries(object)
  return [...(withoutNamespace.includes(key) ? names.slice(0, 1) : names), ...(await describe(object as never, context))]
}

function describeConfigMap(object: ConfigMap): readonly Entry[] {
  const { data = {}, binaryData = {} } = object
  return [
    ...labelEntries(object),
    ...sectionOf(
      'Data',
      sorted(data).flatMap(([key, value]) => [`${key}:`, '----', ...value.split('\n')]),
    ),
    ...sectionOf(
      'BinaryData',
      sorted(binaryData).map(([key, value]) => `${key}: ${sizeOf(value)} bytes`),
    ),
    bare(''),
  ]
}

/** Shows sizes, never values. */
function describeSecret(object: Secret): readonly Entry[] {
  return [
    ...labelEntries(object),
    bare(''),
    ['Type', textOr(object.type, '')],
    ...sectionOf('Data', []),
    ...sorted(object.data ?? {}).map(([key, value]): Entry => [key, `${sizeOf(value)} bytes`]),
  ]
}

const sectionOf = (title: string, lines: readonly string[]): readonly Entry[] => ['', title, '====', ...lines].map(bare)

const sorted = <T>(values: { readonly [key: string]: T }): readonly (readonly [string, T])[] =>
  Object.entries(values).sort(([a], [b]) => compareText(a, b))

const sizeOf = (text: unknown): number => Buffer.byteLength(String(text), 'base64')

async function describeNamespace(object: Namespace, context: DescribeContext): Promise<readonly Entry[]> {
  const name = object.metadata?.name
  const quotas = await context.list<ResourceQuota>('resourcequotas', name)
  const limits = await context.list<LimitRange>('limitranges', name)
  return [
    ...labelEntries(object),
    ['Status', textOr(object.status?.phase)],
    conditionsEntry(object.status?.conditions, ['Type', 'LastTransitionTime', 'Reason', 'Message']),
    bare(''),
    ...(quotas === undefined || quotas.length === 0 ? [bare('No resource quota.')] : quotasOf(quotas)),
    bare(''),
    ...(limits === undefined || limits.length === 0 ? [bare('No LimitRange resource.')] : limitsOf(limits)),
  ]
}

const quotasOf = (quotas: readonly ResourceQuota[]): readonly Entry[] => [
  bare('Resource Quotas'),
  ...quotas.flatMap((quota): readonly Entry[] => [
    [
      '',
      {
        lines: [
          ['  Name:', quota.metadata?.name ?? ''],
          ['  Resource', 'Used', 'Hard'],
          ['  --------', '---', '---'],
          ...quotaRows(quota).map(([, name = '', ...cells]) => [`  ${name}`, ...cells]),
        ],
      },
    ],
  ]),
]

const limitsOf = (limits: readonly LimitRange[]): readonly Entry[] => [
  bare('Resource Limits'),
  ['', { headers: limitHeaders, rows: limits.flatMap(limitRows), indent: 1 }],
]

async function describeNode(object: Node, context: DescribeContext): Promise<readonly Entry[]> {
  const { metadata, spec = {}, status = {} } = object
  const pods = await context.list<Pod>('pods', undefined, {
    fieldSelector: `spec.nodeName=${metadata?.name ?? ''},status.phase!=Succeeded,status.phase!=Failed`,
  })
  const [lease] =
    (await context.list<Lease>('leases', await context.prefixed('node-lease'), {
      fieldSelector: `metadata.name=${metadata?.name ?? ''}`,
    })) ?? []
  return [
    ['Roles', rolesOf(metadata?.labels)],
    ...labelEntries(object),
    createdEntry(object),
    ['Taints', listOrNone((spec.taints ?? []).map(({ key, value = '', effect }) => `${key}${value === '' ? '' : `=${value}`}:${effect}`))],
    ['Unschedulable', yesNo(spec.unschedulable)],
    ['Lease', lease === undefined ? undefined : heading(leaseEntries(lease))],
    conditionsEntry(status.conditions, ['Type', 'Status', 'LastHeartbeatTime', 'LastTransitionTime', 'Reason', 'Message']),
    ['Addresses', block((status.addresses ?? []).map(({ type, address }) => [type ?? '', address ?? '']))],
    ['Capacity', quantities(status.capacity)],
    ['Allocatable', quantities(status.allocatable)],
    [
      'System Info',
      status.nodeInfo === undefined
        ? undefined
        : heading(infoTitles.map(([field, title]): Entry => [title, status.nodeInfo?.[field] ?? ''])),
    ],
    ['PodCIDR', spec.podCIDR || undefined],
    ['PodCIDRs', spec.podCIDRs === undefined || spec.podCIDRs.length === 0 ? undefined : spec.podCIDRs.join(',')],
    ['ProviderID', spec.providerID || undefined],
    ...(pods === undefined ? [] : podEntries(pods, object)),
  ]
}

interface Lease {
  readonly metadata?: { readonly name?: string }
  readonly spec?: { readonly holderIdentity?: string; readonly acquireTime?: unknown; readonly renewTime?: unknown }
}

const leaseEntries = ({ spec }: Lease): readonly Entry[] => [
  ['HolderIdentity', spec?.holderIdentity ?? '<unset>'],
  ['AcquireTime', timeText(spec?.acquireTime)],
  ['RenewTime', timeText(spec?.renewTime)],
]

function rolesOf(labels: { readonly [name: string]: string } = {}): string {
  const roles = Object.entries(labels).flatMap(([name, value]) => {
    const role = /^node-role\.[^/]+\/(.+)$/.exec(name)?.[1]
    return role !== undefined ? [role] : name.endsWith('/role') && value !== '' ? [value] : []
  })
  return roles.length === 0 ? none : sortTexts(roles).join(',')
}

const infoTitles = [
  ['machineID', 'Machine ID'],
  ['systemUUID', 'System UUID'],
  ['bootID', 'Boot ID'],
  ['kernelVersion', 'Kernel Version'],
  ['osImage', 'OS Image'],
  ['operatingSystem', 'Operating System'],
  ['architecture', 'Architecture'],
  ['containerRuntimeVersion', 'Container Runtime Version'],
  ['kubeletVersion', 'Kubelet Version'],
  ['kubeProxyVersion', 'Kube-Proxy Version'],
] as const

const shownResources = ['cpu', 'memory', 'ephemeral-storage'] as const

function podEntries(pods: readonly Pod[], { status = {} }: Node): readonly Entry[] {
  const allocatable = (name: string): number => parseQuantity(status.allocatable?.[name] ?? status.capacity?.[name])
  const share = (name: string, amount: number): string =>
    `${formatQuantity(name, amount)} (${allocatable(name) === 0 ? 0 : Math.trunc((amount / allocatable(name)) * 100)}%)`
  const sums = pods.map((pod) => ({ pod, requests: sumOf(pod, 'requests'), limits: sumOf(pod, 'limits') }))
  const rows = sums.map(({ pod: { metadata }, requests, limits }) => [
    metadata?.namespace ?? '',
    metadata?.name ?? '',
    '',
    ...(['cpu', 'memory'] as const).flatMap((name) => [share(name, requests(name)), share(name, limits(name))]),
    ageText(Date.now() - Date.parse(String(metadata?.creationTimestamp))),
  ])
  const total = (name: string, amountKind: 'requests' | 'limits'): number =>
    sums.reduce((sum, amounts) => sum + amounts[amountKind](name), 0)
  const headers = ['Namespace', 'Name', '', 'CPU Requests', 'CPU Limits', 'Memory Requests', 'Memory Limits', 'Age']
  return [
    ['Non-terminated Pods', `(${pods.length} in total)`],
    ['', { headers, rows }],
    [
      'Allocated resources',
      {
        lines: [
          ['(Total limits may be over 100 percent, i.e., overcommitted.)'],
          ['Resource', 'Requests', 'Limits'],
          ['--------', '--------', '------'],
          ...shownResources.map((name) => [name, share(name, total(name, 'requests')), share(name, total(name, 'limits'))]),
        ],
      },
    ],
  ]
}

/** Larger of the sum of containers and the largest init container, plus the overhead of the pod. */
function sumOf({ spec = {} }: Pod, amountKind: 'requests' | 'limits'): (name: string) => number {
  return (name) => {
    const amounts = (containers: typeof spec.containers): readonly number[] =>
      (containers ?? []).map(({ resources }) => parseQuantity(resources?.[amountKind]?.[name]))
    const containerSum = amounts(spec.containers).reduce((sum, amount) => sum + amount, 0)
    return Math.max(containerSum, ...amounts(spec.initContainers)) + parseQuantity(spec.overhead?.[name])
  }
}
