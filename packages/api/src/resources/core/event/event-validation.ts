// Validation of Events: lenient rules of the core group, strict rules of the group `events`.

import type { RuleContext } from '../../../api/definition/resource-definition.js'
import { type FieldError, immutableTime, invalid, required } from '../../../api/field-error.js'
import { byteLength } from '../../../api/validation/byte-length.js'
import { checkText, checkUnchanged } from '../../../api/validation/checks.js'
import { dnsSubdomain, qualifiedName } from '../../../api/validation/name-formats.js'
import { sameValue } from '../../../api/validation/same-value.js'
import type { Event } from '../v1.schema.js'

const maxShortTextBytes = 128
const maxMessageBytes = 1024

/** `reporter`: field name of the reporting component, which differs in the group `events`. */
export function validateEvent(event: Event, { identity }: RuleContext, reporter = 'reportingComponent'): readonly FieldError[] {
  const namespace = event.metadata?.namespace ?? ''
  const involved = event.involvedObject?.namespace ?? ''
  // Events without eventTime, of older recorders, must be in the namespace of their object.
  // Newer ones about cluster-scoped objects must be in `default` or the system namespace.
  const isLegacy = event.eventTime === undefined
  const isNamespaceValid = isLegacy
    ? involved === namespace || (involved === '' && namespace === 'default')
    : involved !== '' || namespace === 'default' || namespace === identity.prefixed('system')
  return [
    ...(isNamespaceValid ? [] : [invalid('involvedObject.namespace', involved, 'does not match event.namespace')]),
    ...(isLegacy ? [] : validateReport(event, reporter)),
    ...checkText(namespace, 'namespace', dnsSubdomain),
  ]
}

/** With an eventTime, reporter, action and reason are required. */
function validateReport(event: Event, reporter: string): readonly FieldError[] {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '', message = '' } = event
  return [
    ...(reportingComponent === '' ? [required(reporter)] : []),
    ...checkText(reportingComponent, reporter, qualifiedName),
    ...validateShortText(reportingInstance, 'reportingInstance'),
    ...validateShortText(action, 'action'),
    ...validateShortText(reason, 'reason'),
    ...checkLength(message, 'message', maxMessageBytes),
  ]
}

const validateShortText = (text: string, field: string): readonly FieldError[] =>
  text === '' ? [required(field)] : checkLength(text, field, maxShortTextBytes)

/** The message says characters, like that of kube-apiserver, which counts bytes. */
const checkLength = (text: string, field: string, limit: number): readonly FieldError[] =>
  byteLength(text) <= limit ? [] : [invalid(field, '', `can have at most ${limit} characters`)]

/** Rules of the group `events`. */
export function validateStrictEvent(event: Event): readonly FieldError[] {
  const { type = '', count = 0, source = {} } = event
  const checkUnset = (field: string, isUnset: boolean): readonly FieldError[] => (isUnset ? [] : [invalid(field, '', 'needs to be unset')])
  return [
    ...validateSeries(event),
    ...(event.eventTime === undefined ? [required('eventTime')] : []),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...checkUnset('firstTimestamp', event.firstTimestamp === undefined),
    ...checkUnset('lastTimestamp', event.lastTimestamp === undefined),
    ...checkUnset('count', count === 0),
    ...checkUnset('source', (source.component ?? '') === '' && (source.host ?? '') === ''),
  ]
}

function validateSeries({ series }: Event): readonly FieldError[] {
  if (series === undefined) return []
  return [
    ...((series.count ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(series.lastObservedTime === undefined ? [required('series.lastObservedTime')] : []),
  ]
}

interface ImmutableField {
  readonly name: keyof Event
  /** Field name in errors, if it differs in the group `events`. */
  readonly reportedName?: string
  /** Value equal to an absent field. */
  readonly empty: object | string | number | undefined
  readonly isTime?: true
}

/** Immutable fields in the group `events`, in the order of errors; kube-apiserver checks `reason` twice, too. */
const immutableFields: readonly ImmutableField[] = [
  { name: 'involvedObject', empty: {} },
  { name: 'reason', empty: '' },
  { name: 'message', empty: '' },
  { name: 'source', empty: {} },
  { name: 'firstTimestamp', empty: undefined, isTime: true },
  { name: 'lastTimestamp', empty: undefined, isTime: true },
  { name: 'count', empty: 0 },
  { name: 'reason', empty: '' },
  { name: 'type', empty: '' },
  { name: 'eventTime', empty: undefined, isTime: true },
  { name: 'action', empty: '' },
  { name: 'related', empty: undefined },
  { name: 'reportingComponent', empty: '', reportedName: 'reportingController' },
  { name: 'reportingInstance', empty: '' },
]

/** Go's zero time. */
const zeroTime = '0001-01-01T00:00:00Z'

export const validateStrictEventChange = (next: Event, old: Event): readonly FieldError[] => [
  ...(sameValue(next.series, old.series) ? [] : validateSeries(next)),
  ...immutableFields.flatMap(({ name, reportedName, empty, isTime }) => {
    const errors = checkUnchanged(next[name] ?? empty, old[name] ?? empty, reportedName ?? name)
    return isTime === true && errors.length > 0 ? [immutableTime(name, (next[name] as string | undefined) ?? zeroTime)] : errors
  }),
]
