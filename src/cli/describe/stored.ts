// What is only kept: config maps, secrets, namespaces with their limits, events.

import type { ConfigMap, Event, LimitRange, Namespace, ResourceQuota, Secret } from '../../client/typed/types.js'
import { conditionsEntry, labelEntries, textOr, timeText } from './common.js'
import type { DescribeContext } from './context.js'
import { block, type Entry, grid } from './entry.js'
import { limitHeaders, limitRows, quotaRows } from './limits.js'

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

export async function describeNamespace(object: Namespace, context: DescribeContext): Promise<readonly Entry[]> {
  const name = object.metadata?.name
  const quotas = await context.list<ResourceQuota>('resourcequotas', name)
  const limits = await context.list<LimitRange>('limitranges', name)
  return [
    ...labelEntries(object),
    ['Status', textOr(object.status?.phase)],
    conditionsEntry(object.status?.conditions),
    ['Resource Quotas', grid(['Name', 'Resource', 'Used', 'Hard'], (quotas ?? []).flatMap(quotaRows))],
    ['Resource Limits', grid([...limitHeaders], (limits ?? []).flatMap(limitRows))],
  ]
}

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
