// Events: what happened to an object, kept for a while. Clients of old send what they like, so the rules are few.

import { defineResource } from '../../api/definition.js'
import { ageOf } from '../../api/human-duration.js'
import { nameColumn, textColumn } from '../../api/table-columns.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { validateEvent } from './event-rules.js'
import { type Event, type ObjectReference, event as schema } from './v1.schema.js'

/** The first of two texts that says anything. */
const either = (first: string | undefined, second: string | undefined): string => first || second || ''

const referenceFields = ['apiVersion', 'fieldPath', 'kind', 'name', 'namespace', 'resourceVersion', 'uid'] as const

const involved = (field: keyof ObjectReference) => (event: Event) => event.involvedObject?.[field] ?? ''

export const eventFields: { readonly [path: string]: (event: Event) => string } = {
  ...Object.fromEntries(referenceFields.map((field) => [`involvedObject.${field}`, involved(field)])),
  reason: ({ reason }) => reason ?? '',
  reportingComponent: ({ reportingComponent }) => reportingComponent ?? '',
  source: ({ source, reportingComponent }) => either(source?.component, reportingComponent),
  type: ({ type }) => type ?? '',
}

function describeObject({ involvedObject: { kind = '', name = '' } = {} }: Event): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`
}

function describeSource({ source, reportingComponent, reportingInstance }: Event): string {
  const component = either(source?.component, reportingComponent)
  const instance = either(source?.host, reportingInstance)
  return instance === '' ? component : `${component}, ${instance}`
}

interface Seen {
  readonly first: string
  readonly last: string
  readonly count: number
}

/** A series counts and dates itself; an event of the second API without one happened once, when it says. */
function describeSeen(event: Event, now: number): Seen {
  const first = ageOf(event.firstTimestamp ?? event.eventTime, now)
  if (event.series !== undefined) return { first, last: ageOf(event.series.lastObservedTime, now), count: event.series.count ?? 0 }
  return { first, last: event.lastTimestamp === undefined ? first : ageOf(event.lastTimestamp, now), count: event.count || 1 }
}

export const eventTable = {
  columns: [
    textColumn('Last Seen', 'Time since it was seen last.'),
    textColumn('Type', 'Normal or Warning; more may come.'),
    textColumn('Reason', 'Why it happened, in one word.'),
    textColumn('Object', 'The object it happened to.'),
    textColumn('Subobject', 'The part of the object it happened to.', 1),
    textColumn('Source', 'Who reports it.', 1),
    textColumn('Message', 'What happened, for people.'),
    textColumn('First Seen', 'Time since it was seen first.', 1),
    textColumn('Count', 'How often it was seen.', 1),
    { ...nameColumn, priority: 1 },
  ],
  cells: (event: Event, { now }: { readonly now: number }): readonly unknown[] => {
    const { first, last, count } = describeSeen(event, now)
    const { type = '', reason = '', message = '', metadata, involvedObject } = event
    const what = [type, reason, describeObject(event), involvedObject?.fieldPath ?? '', describeSource(event), message.trim()]
    return [last, ...what, first, count, metadata?.name ?? '']
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
  checks: { create: ['own'], update: ['own'] },
  createOnUpdate: true,
  ignoresDependents: true,
  ttlSeconds: (eventTtlSeconds) => eventTtlSeconds,
  selectableFields: eventFields,
  table: eventTable,
})
