// Event of the core group: lenient validation, field selectors, printer columns, expiry after --event-ttl.

import { nameColumn, textColumn } from '../../../api/definition/printer-columns.js'
import { defineResource } from '../../../api/definition/resource-definition.js'
import { ageOf } from '../../../api/human-duration.js'
import { pathSegmentProblems } from '../../../api/validation/checks.js'
import { type Event, type ObjectReference, event as schema } from '../v1.schema.js'
import { validateEvent } from './event-validation.js'

const firstNonEmpty = (first: string | undefined, second: string | undefined): string => first || second || ''

const referenceFields = ['apiVersion', 'fieldPath', 'kind', 'name', 'namespace', 'resourceVersion', 'uid'] as const

const involved = (field: keyof ObjectReference) => (event: Event) => event.involvedObject?.[field] ?? ''

export const eventFields: { readonly [path: string]: (event: Event) => string } = {
  ...Object.fromEntries(referenceFields.map((field) => [`involvedObject.${field}`, involved(field)])),
  reason: ({ reason }) => reason ?? '',
  reportingComponent: ({ reportingComponent }) => reportingComponent ?? '',
  source: ({ source, reportingComponent }) => firstNonEmpty(source?.component, reportingComponent),
  type: ({ type }) => type ?? '',
}

function describeObject({ involvedObject: { kind = '', name = '' } = {} }: Event): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`
}

function describeSource({ source, reportingComponent, reportingInstance }: Event): string {
  const component = firstNonEmpty(source?.component, reportingComponent)
  const instance = firstNonEmpty(source?.host, reportingInstance)
  return instance === '' ? component : `${component}, ${instance}`
}

interface Occurrences {
  readonly first: string
  readonly last: string
  readonly count: number
}

/** A series has its own count and time; an event without a count counts once. */
function describeOccurrences(event: Event, now: number): Occurrences {
  const first = ageOf(event.firstTimestamp ?? event.eventTime, now)
  if (event.series !== undefined) return { first, last: ageOf(event.series.lastObservedTime, now), count: event.series.count ?? 0 }
  return { first, last: event.lastTimestamp === undefined ? first : ageOf(event.lastTimestamp, now), count: event.count || 1 }
}

export const eventTable = {
  columns: [
    textColumn('Last Seen', 'Time since the last occurrence.'),
    textColumn('Type', 'Type of the event, such as Normal or Warning.'),
    textColumn('Reason', 'Reason of the event.'),
    textColumn('Object', 'Object of the event.'),
    textColumn('Subobject', 'Field path in the object of the event.', 1),
    textColumn('Source', 'Reporting component.', 1),
    textColumn('Message', 'Human-readable message.'),
    textColumn('First Seen', 'Time since the first occurrence.', 1),
    textColumn('Count', 'Number of occurrences.', 1),
    { ...nameColumn, priority: 1 },
  ],
  cells: (event: Event, { now }: { readonly now: number }): readonly unknown[] => {
    const { first, last, count } = describeOccurrences(event, now)
    const { type = '', reason = '', message = '', metadata, involvedObject } = event
    const details = [type, reason, describeObject(event), involvedObject?.fieldPath ?? '', describeSource(event), message.trim()]
    return [last, ...details, first, count, metadata?.name ?? '']
  },
}

export const event = defineResource<Event>({
  group: '',
  kind: 'Event',
  resource: 'events',
  shortNames: ['ev'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  validate: (object, context) => validateEvent(object, context),
  checks: { create: ['validate'], update: ['validate'] },
  createOnUpdate: true,
  ignoresDependents: true,
  ttlSeconds: (eventTtlSeconds) => eventTtlSeconds,
  selectableFields: eventFields,
  table: eventTable,
})
