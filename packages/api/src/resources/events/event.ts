// Event of the group `events`: stored as a core Event, with other field names and stricter validation.

import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import type { FieldError } from '../../api/field-error.js'
import { dnsSubdomainProblems } from '../../api/validation/checks.js'
import { standardFinalizers } from '../../api/validation/metadata/finalizers.js'
import { validateObjectMeta, validateObjectMetaUpdate } from '../../api/validation/metadata/object-meta.js'
import { eventFields, eventTable } from '../core/event/event.js'
import { validateEvent, validateStrictEvent, validateStrictEventChange } from '../core/event/event-validation.js'
import { type Event as CoreEvent, event as coreSchema } from '../core/v1.schema.js'
import { type Event, event as schema } from './v1.schema.js'

const coreNames: { readonly [name: string]: string } = {
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
}
const eventsGroupNames = Object.fromEntries(Object.entries(coreNames).map(([groupName, coreName]) => [coreName, groupName]))

const withRenamedFields = (object: object, names: { readonly [name: string]: string }): object =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [Object.hasOwn(names, name) ? names[name] : name, value]))

export const eventToCore = (event: Event): CoreEvent => withRenamedFields(event, coreNames)
export const eventFromCore = (event: CoreEvent): Event => withRenamedFields(event, eventsGroupNames)

/** Field selectors with the names of this group; without `source`. */
function selectableFieldsOfGroup(): { readonly [path: string]: (event: CoreEvent) => string } {
  const { source: _, ...shared } = eventFields
  const nameOf = (path: string): string =>
    path.replace(/^(involvedObject|reportingComponent)/, (coreName) => eventsGroupNames[coreName] ?? coreName)
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
  checks: { create: ['validate'], update: ['validateUpdate'] },
  createOnUpdate: true,
  ignoresDependents: true,
  ttlSeconds: (eventTtlSeconds) => eventTtlSeconds,
  selectableFields: selectableFieldsOfGroup(),
  table: eventTable,
})
