// Events as their second API shows them: other names for the fields of the same objects, and stricter rules.
// Objects are stored as those of the first API, and every rule here speaks of that form.

import { defineResource, type RuleContext } from '../../api/definition.js'
import type { FieldError } from '../../api/field-error.js'
import { standardFinalizers } from '../../api/validation/finalizers.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { validateObjectMeta, validateObjectMetaUpdate } from '../../api/validation/object-meta.js'
import { eventFields, eventTable } from '../core/event.js'
import { validateEvent, validateStrictEvent, validateStrictEventChange } from '../core/event-rules.js'
import { type Event as CoreEvent, event as coreSchema } from '../core/v1.schema.js'
import { type Event, event as schema } from './v1.schema.js'

/** What each field of this API is called in the first one; the rest has one name. */
const coreNames: { readonly [name: string]: string } = {
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
}
const namesHere = Object.fromEntries(Object.entries(coreNames).map(([here, core]) => [core, here]))

const renamed = (object: object, names: { readonly [name: string]: string }): object =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [Object.hasOwn(names, name) ? names[name] : name, value]))

export const eventToCore = (event: Event): CoreEvent => renamed(event, coreNames)
export const eventFromCore = (event: CoreEvent): Event => renamed(event, namesHere)

/** Fields are selected under the names of this API; the `source` of the first one is not among them. */
function fieldsHere(): { readonly [path: string]: (event: CoreEvent) => string } {
  const { source: _, ...shared } = eventFields
  const nameOf = (path: string): string => path.replace(/^(involvedObject|reportingComponent)/, (core) => namesHere[core] ?? core)
  return Object.fromEntries(Object.entries(shared).map(([path, read]) => [nameOf(path), read]))
}

function validate(event: CoreEvent, context: RuleContext): readonly FieldError[] {
  const rules = { namespaced: true, nameProblems: dnsSubdomainProblems, standardFinalizers: standardFinalizers(context.identity) }
  return [
    ...validateEvent(event, context, 'reportingController'),
    ...validateObjectMeta(event.metadata ?? {}, rules),
    ...validateStrictEvent(event),
  ]
}

function validateUpdate(next: CoreEvent, old: CoreEvent, context: RuleContext): readonly FieldError[] {
  const rules = { standardFinalizers: standardFinalizers(context.identity) }
  return [
    ...validateEvent(next, context, 'reportingController'),
    ...validateObjectMetaUpdate(next.metadata ?? {}, old.metadata ?? {}, rules),
    ...validateStrictEventChange(next, old),
  ]
}

export const event = defineResource<CoreEvent>({
  group: { stem: 'events' },
  kind: 'Event',
  errorGroup: '',
  resource: 'events',
  shortNames: ['ev'],
  namespaced: true,
  versions: [{ name: 'v1', schema, toStored: eventToCore, fromStored: eventFromCore }],
  storedAs: { group: '', version: 'v1', schema: coreSchema },
  nameProblems: dnsSubdomainProblems,
  validate,
  validateUpdate,
  checks: { create: ['own'], update: ['ownChange'] },
  createOnUpdate: true,
  ignoresDependents: true,
  ttlSeconds: (eventTtlSeconds) => eventTtlSeconds,
  selectableFields: fieldsHere(),
  table: eventTable,
})
