// Tests of Events of the group `events`: conversion from core Events, strict validation.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import type { Event as CoreEvent } from '../core/v1.schema.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { event, eventFromCore, eventToCore } from './event.js'

const context = testContext()
const time = '2024-03-01T11:58:00.000000Z'
const groupEvent = frozen({
  kind: 'Event',
  apiVersion: 'events.cluster.io/v1',
  metadata: { name: 'n', namespace: 'shop' },
  eventTime: time,
  reportingController: 'x.io/c',
  reportingInstance: 'c-1',
  action: 'Act',
  reason: 'R',
  regarding: { kind: 'Pod', namespace: 'shop', name: 'p' },
  note: 'hello',
  type: 'Warning',
  deprecatedSource: { component: 'c' },
  deprecatedFirstTimestamp: '2024-03-01T11:58:00Z',
  deprecatedLastTimestamp: '2024-03-01T11:59:00Z',
  deprecatedCount: 2,
})

test('fields are converted to the names of core Events and back', () => {
  const core = eventToCore(groupEvent)
  assert.deepEqual(core, {
    kind: 'Event',
    apiVersion: groupEvent.apiVersion,
    metadata: groupEvent.metadata,
    eventTime: time,
    reportingComponent: 'x.io/c',
    reportingInstance: 'c-1',
    action: 'Act',
    reason: 'R',
    involvedObject: groupEvent.regarding,
    message: 'hello',
    type: 'Warning',
    source: { component: 'c' },
    firstTimestamp: groupEvent.deprecatedFirstTimestamp,
    lastTimestamp: groupEvent.deprecatedLastTimestamp,
    count: 2,
  })
  assert.deepEqual(eventFromCore(core), groupEvent)
})

test('field selectors use the names of this group', () => {
  const read = (path: string): string | undefined => event.selectableFields?.[path]?.(eventToCore(groupEvent))
  assert.equal(read('regarding.name'), 'p')
  assert.equal(read('reportingController'), 'x.io/c')
  assert.equal(read('type'), 'Warning')
  for (const path of ['involvedObject.name', 'reportingComponent', 'source']) assert.equal(read(path), undefined, path)
})

const valid: CoreEvent = frozen({
  metadata: { name: 'n', namespace: 'shop', resourceVersion: '1' },
  involvedObject: { kind: 'Pod', namespace: 'shop', name: 'p' },
  eventTime: time,
  reportingComponent: 'x.io/c',
  reportingInstance: 'c-1',
  action: 'Act',
  reason: 'R',
  type: 'Normal',
})

const createRows: readonly (readonly [event: CoreEvent, ...expected: readonly string[]])[] = [
  [valid],
  [
    { metadata: valid.metadata ?? {}, involvedObject: valid.involvedObject ?? {} },
    'eventTime: Required value',
    'type: Invalid value: "": has invalid value: ',
  ],
  [
    { ...valid, firstTimestamp: time, lastTimestamp: time, count: 1, source: { host: 'h' } },
    ...['firstTimestamp', 'lastTimestamp', 'count', 'source'].map((field) => `${field}: Invalid value: "": needs to be unset`),
  ],
  [{ ...valid, series: { count: 2, lastObservedTime: time } }],
  [{ ...valid, series: {} }, 'series.count: Invalid value: "": should be at least 2', 'series.lastObservedTime: Required value'],
  [
    { ...valid, metadata: { name: 'N', namespace: 'shop' }, reportingComponent: 'a/b/c' },
    'reportingController: Invalid value: "a/b/c"',
    'metadata.name: Invalid value: "N"',
  ],
]

for (const [givenEvent, ...expected] of createRows) {
  test(`create: ${rowTitle(givenEvent, expected)}`, () => {
    expectErrors(validateCreation(event, frozen(givenEvent), context), expected)
  })
}

const changes = (next: CoreEvent, old: CoreEvent) => validateChange(event, { next, old }, context)

test('only the series may change', () => {
  assert.deepEqual(changes({ ...valid, series: { count: 3, lastObservedTime: time } }, valid), [])
  assert.deepEqual(lines(changes({ ...valid, series: { count: 1, lastObservedTime: time } }, valid)), [
    'series.count: Invalid value: "": should be at least 2',
  ])
})

test('an unchanged series is not validated', () => {
  const old = { ...valid, series: { count: 1 } }
  assert.deepEqual(changes({ ...old }, old), [])
})

test('an empty source equals an absent one', () => assert.deepEqual(changes(valid, { ...valid, source: {} }), []))

test('all other fields are immutable', () => {
  const next: CoreEvent = {
    ...valid,
    involvedObject: { namespace: 'other' },
    reason: 'S',
    message: 'm',
    source: { host: 'h' },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    type: 'Warning',
    eventTime: '2024-03-01T11:58:00.000001Z',
    action: 'B',
    related: {},
    reportingComponent: 'x.io/d',
    reportingInstance: 'd',
  }
  const fields = changes(frozen(next), valid).map(({ field }) => field)
  const times = lines(
    changes(
      { ...valid, eventTime: '2024-03-01T11:58:00.120000Z', lastTimestamp: '2024-03-01T11:58:00Z' },
      { ...valid, firstTimestamp: time },
    ),
  )
  assert.deepEqual(times, [
    'firstTimestamp: Invalid value: 0001-01-01 00:00:00 +0000 UTC: field is immutable',
    'lastTimestamp: Invalid value: 2024-03-01 11:58:00 +0000 UTC: field is immutable',
    'eventTime: Invalid value: 2024-03-01 11:58:00.12 +0000 UTC: field is immutable',
  ])
  const { reportingInstance: _, ...unnamed } = valid
  assert.deepEqual(lines(changes({ ...unnamed, count: 0 }, { ...valid, count: 1 })), [
    'reportingInstance: Required value',
    'count: Invalid value: 0: field is immutable',
    'reportingInstance: Invalid value: "": field is immutable',
  ])
  const order = 'involvedObject reason message source firstTimestamp lastTimestamp count reason type eventTime action related'
  assert.equal(fields.join(' '), `${order} reportingController reportingInstance`)
})
