// What is only kept: config maps, secrets, claims of volumes, namespaces with their limits, events.

import type {
  ConfigMap,
  Event,
  LimitRange,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  Secret,
} from '../../client/typed/types.js'
import { conditionsEntry, deletionEntries, labelEntries, quantities, textOr, timeText } from './common.js'
import type { DescribeContext } from './context.js'
import { block, type Entry, grid, listOrNone, none } from './entry.js'

export function describeConfigMap(object: ConfigMap): readonly Entry[] {
  const { data = {}, binaryData = {} } = object
  return [
    ...labelEntries(object),
    ['Immutable', object.immutable === true ? 'true' : undefined],
    ['Data', block(Object.entries(data).map(([key, value]): Entry => [key, value === '' ? ' ' : value]))],
    ['BinaryData', block(Object.entries(binaryData).map(([key, value]): Entry => [key, `${sizeOf(value)} bytes`]))],
  ]
}

/** Never what is in it. */
export function describeSecret(object: Secret): readonly Entry[] {
  return [
    ...labelEntries(object),
    ['Type', textOr(object.type)],
    ['Data', block(Object.entries(object.data ?? {}).map(([key, value]): Entry => [key, `${sizeOf(value)} bytes`]))],
  ]
}

/** Of what is written in base64. */
const sizeOf = (text: unknown): number => Buffer.byteLength(String(text), 'base64')

export async function describeClaim(object: PersistentVolumeClaim, context: DescribeContext): Promise<readonly Entry[]> {
  const { metadata, spec = {}, status = {} } = object
  const pods = await context.list<Pod>('pods', metadata?.namespace)
  const users = pods?.filter((pod) => pod.spec?.volumes?.some(({ persistentVolumeClaim: claim }) => claim?.claimName === metadata?.name))
  const going = deletionEntries(object)
  return [
    ['StorageClass', textOr(spec.storageClassName)],
    ...(going.length > 0 ? going : ([['Status', textOr(status.phase)]] as const)),
    ['Volume', textOr(spec.volumeName)],
    ...labelEntries(object),
    ['Finalizers', listOrNone(metadata?.finalizers ?? [])],
    ['Requested', quantities(spec.resources?.requests)],
    ['Capacity', quantities(status.capacity) ?? none],
    ['Access Modes', textOr((status.accessModes ?? spec.accessModes ?? []).join(','))],
    ['VolumeMode', textOr(spec.volumeMode)],
    ['Used By', users === undefined ? undefined : listOrNone(users.map((pod) => pod.metadata?.name ?? ''))],
    conditionsEntry(status.conditions),
  ]
}

export async function describeNamespace(object: Namespace, context: DescribeContext): Promise<readonly Entry[]> {
  const name = object.metadata?.name
  const quotas = await context.list<ResourceQuota>('resourcequotas', name)
  const limits = await context.list<LimitRange>('limitranges', name)
  return [
    ...labelEntries(object),
    ['Status', textOr(object.status?.phase)],
    conditionsEntry(object.status?.conditions),
    ['Resource Quotas', grid(['Name', 'Resource', 'Used', 'Hard'], (quotas ?? []).flatMap(quotaRows))],
    ['Resource Limits', grid(['Type', 'Resource', 'Min', 'Max', 'Default Request', 'Default Limit'], (limits ?? []).flatMap(limitRows))],
  ]
}

const quotaRows = ({ metadata, status, spec }: ResourceQuota): readonly (readonly string[])[] =>
  Object.entries(status?.hard ?? spec?.hard ?? {}).map(([name, hard]) => [
    metadata?.name ?? '',
    name,
    textOr(status?.used?.[name], '0'),
    String(hard),
  ])

const limitRows = ({ spec }: LimitRange): readonly (readonly string[])[] =>
  (spec?.limits ?? []).flatMap(({ type = '', min = {}, max = {}, default: limit = {}, defaultRequest = {} }) =>
    [...new Set([min, max, limit, defaultRequest].flatMap(Object.keys))].map((name) => [
      type,
      name,
      ...[min, max, defaultRequest, limit].map((values) => textOr(values[name], '-')),
    ]),
  )

export function describeEvent(object: Event): readonly Entry[] {
  const { involvedObject = {}, source } = object
  return [
    ...labelEntries(object),
    ['Type', textOr(object.type)],
    ['Reason', textOr(object.reason)],
    ['Message', textOr(object.message)],
    ['Involved Object', `${involvedObject.kind ?? ''}/${involvedObject.name ?? ''}`],
    ['Field Path', involvedObject.fieldPath],
    [
      'Source',
      textOr([source?.component, source?.host].filter((part) => part !== undefined && part !== '').join(', ') || object.reportingComponent),
    ],
    ['Count', String(object.series?.count ?? object.count ?? 1)],
    ['First Seen', timeText(object.firstTimestamp ?? object.eventTime)],
    ['Last Seen', timeText(object.series?.lastObservedTime ?? object.lastTimestamp ?? object.eventTime)],
  ]
}
