// Table rows of events: last seen, type, reason, object, message.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { ageText } from './columns.js'

export interface ClusterEvent extends DynamicObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly note?: string
  readonly count?: number
  readonly firstTimestamp?: string | null
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
  readonly source?: { readonly component?: string; readonly host?: string }
  readonly reportingComponent?: string
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string }
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly namespace?: string; readonly uid?: string }
}

/** Milliseconds since 1970. */
export const lastSeenMs = ({ series, lastTimestamp, eventTime, firstTimestamp, metadata }: ClusterEvent): number =>
  Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata?.creationTimestamp ?? '')

export function rowOfEvent(event: ClusterEvent, nowMs: number, withNamespace: boolean): readonly string[] {
  const { type = '', reason = '', message = '', involvedObject = {}, count = 0, series, firstTimestamp } = event
  const lastSeen = ageText(nowMs - lastSeenMs(event))
  const occurrences = series?.count ?? count
  const first = firstTimestamp === undefined || firstTimestamp === null ? undefined : Date.parse(firstTimestamp)
  return [
    ...(withNamespace ? [event.metadata?.namespace ?? ''] : []),
    occurrences > 1 && first !== undefined ? `${lastSeen} (x${occurrences} over ${ageText(nowMs - first)})` : lastSeen,
    type,
    reason,
    `${involvedObject.kind ?? ''}/${involvedObject.name ?? ''}`,
    message.trim(),
  ]
}
