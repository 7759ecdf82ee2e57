// What an event must be, by the loose rules of its first API and the strict ones of its second; both write the same objects.

import type { RuleContext } from '../../api/definition.js'
import { type FieldError, immutableTime, invalid, required } from '../../api/field-error.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { checkText, checkUnchanged } from '../../api/validation/fields.js'
import { sameValue } from '../../api/validation/same-value.js'
import { dnsSubdomain, qualifiedName } from '../../api/validation/text-rules.js'
import type { Event } from './v1.schema.js'

const wordLimitBytes = 128
const messageLimitBytes = 1024

/** What holds for every event. The second API knows the reporting component under another name. */
export function validateEvent(event: Event, { identity }: RuleContext, reporter = 'reportingComponent'): readonly FieldError[] {
  const namespace = event.metadata?.namespace ?? ''
  const involved = event.involvedObject?.namespace ?? ''
  const isOld = event.eventTime === undefined
  const sharesNamespace = isOld
    ? involved === namespace || (involved === '' && namespace === 'default')
    : involved !== '' || namespace === 'default' || namespace === identity.prefixed('system')
  return [
    ...(sharesNamespace ? [] : [invalid('involvedObject.namespace', involved, 'does not match event.namespace')]),
    ...(isOld ? [] : validateReport(event, reporter)),
    ...checkText(namespace, 'namespace', dnsSubdomain),
  ]
}

/** An event that says when it happened must also say who reports it, what was done and why. */
function validateReport(event: Event, reporter: string): readonly FieldError[] {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '', message = '' } = event
  return [
    ...(reportingComponent === '' ? [required(reporter)] : []),
    ...checkText(reportingComponent, reporter, qualifiedName),
    ...validateWord(reportingInstance, 'reportingInstance'),
    ...validateWord(action, 'action'),
    ...validateWord(reason, 'reason'),
    ...checkLength(message, 'message', messageLimitBytes),
  ]
}

const validateWord = (word: string, field: string): readonly FieldError[] =>
  word === '' ? [required(field)] : checkLength(word, field, wordLimitBytes)

const checkLength = (text: string, field: string, limit: number): readonly FieldError[] =>
  byteLength(text) <= limit ? [] : [invalid(field, '', `can have at most ${limit} characters`)]

/** What the second API asks of a new event besides. */
export function validateStrictEvent(event: Event): readonly FieldError[] {
  const { type = '', count = 0, source = {} } = event
  const unset = (field: string, isUnset: boolean): readonly FieldError[] => (isUnset ? [] : [invalid(field, '', 'needs to be unset')])
  return [
    ...validateSeries(event),
    ...(event.eventTime === undefined ? [required('eventTime')] : []),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...unset('firstTimestamp', event.firstTimestamp === undefined),
    ...unset('lastTimestamp', event.lastTimestamp === undefined),
    ...unset('count', count === 0),
    ...unset('source', (source.component ?? '') === '' && (source.host ?? '') === ''),
  ]
}

function validateSeries({ series }: Event): readonly FieldError[] {
  if (series === undefined) return []
  return [
    ...((series.count ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(series.lastObservedTime === undefined ? [required('series.lastObservedTime')] : []),
  ]
}

interface FixedField {
  readonly name: keyof Event
  readonly reported?: string
  /** What absence means, where an empty value means the same. */
  readonly empty?: object
  readonly isTime?: true
}

/** Under the second API an event is history: only its series goes on. The order is that of the reports. */
const fixed: readonly FixedField[] = [
  { name: 'involvedObject', empty: {} },
  { name: 'reason' },
  { name: 'message' },
  { name: 'source', empty: {} },
  { name: 'firstTimestamp', isTime: true },
  { name: 'lastTimestamp', isTime: true },
  { name: 'count' },
  { name: 'reason' },
  { name: 'type' },
  { name: 'eventTime', isTime: true },
  { name: 'action' },
  { name: 'related' },
  { name: 'reportingComponent', reported: 'reportingController' },
  { name: 'reportingInstance' },
]

/** What a time is that was never set. */
const noTime = '0001-01-01T00:00:00Z'

export const validateStrictEventChange = (next: Event, old: Event): readonly FieldError[] => [
  ...(sameValue(next.series, old.series) ? [] : validateSeries(next)),
  ...fixed.flatMap(({ name, reported, empty, isTime }) => {
    const errors = checkUnchanged(next[name] ?? empty, old[name] ?? empty, reported ?? name)
    return isTime === true && errors.length > 0 ? [immutableTime(name, (next[name] as string | undefined) ?? noTime)] : errors
  }),
]
