// The second API of events: other names, stricter rules, the same objects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import type { Event as CoreEvent } from '../core/v1.schema.js'
import { event, eventFromCore, eventToCore } from './event.js'

const context = testContext()
const time = '2024-03-01T11:58:00.000000Z'
const here = frozen({
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

test('fields have their names of the first API, and get theirs back', () => {
  const core = eventToCore(here)
  assert.deepEqual(core, {
    kind: 'Event',
    apiVersion: here.apiVersion,
    metadata: here.metadata,
    eventTime: time,
    reportingComponent: 'x.io/c',
    reportingInstance: 'c-1',
    action: 'Act',
    reason: 'R',
    involvedObject: here.regarding,
    message: 'hello',
    type: 'Warning',
    source: { component: 'c' },
    firstTimestamp: here.deprecatedFirstTimestamp,
    lastTimestamp: here.deprecatedLastTimestamp,
    count: 2,
  })
  assert.deepEqual(eventFromCore(core), here)
})

test('fields are selected under the names of this API', () => {
  const read = (path: string): string | undefined => event.selectableFields?.[path]?.(eventToCore(here))
  assert.equal(read('regarding.name'), 'p')
  assert.equal(read('reportingController'), 'x.io/c')
  assert.equal(read('type'), 'Warning')
  for (const path of ['involvedObject.name', 'reportingComponent', 'source']) assert.equal(read(path), undefined, path)
})

const good: CoreEvent = frozen({
  metadata: { name: 'n', namespace: 'shop', resourceVersion: '1' },
  involvedObject: { kind: 'Pod', namespace: 'shop', name: 'p' },
  eventTime: time,
  reportingComponent: 'x.io/c',
  reportingInstance: 'c-1',
  action: 'Act',
  reason: 'R',
  type: 'Normal',
})

const created: readonly { readonly title: string; readonly event: CoreEvent; readonly found: readonly string[] }[] = [
  { title: 'a good event', event: good, found: [] },
  {
    title: 'an event that says nothing',
    event: { metadata: good.metadata ?? {}, involvedObject: good.involvedObject ?? {} },
    found: ['eventTime: Required value', 'type: Invalid value: "": has invalid value: '],
  },
  {
    title: 'an event with what belongs to the first API',
    event: { ...good, firstTimestamp: time, lastTimestamp: time, count: 1, source: { host: 'h' } },
    found: ['firstTimestamp', 'lastTimestamp', 'count', 'source'].map((field) => `${field}: Invalid value: "": needs to be unset`),
  },
  { title: 'a series', event: { ...good, series: { count: 2, lastObservedTime: time } }, found: [] },
  {
    title: 'an empty series',
    event: { ...good, series: {} },
    found: ['series.count: Invalid value: "": should be at least 2', 'series.lastObservedTime: Required value'],
  },
  {
    title: 'a reporter and a name that cannot be',
    event: { ...good, metadata: { name: 'N', namespace: 'shop' }, reportingComponent: 'a/b/c' },
    found: ['reportingController: Invalid value: "a/b/c"', 'metadata.name: Invalid value: "N"'],
  },
]

for (const row of created) {
  test(`create ${row.title}`, () => {
    const errors = lines(validateCreation(event, frozen(row.event), context))
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, row.found[i]?.length)),
      row.found,
    )
  })
}

const changes = (next: CoreEvent, old: CoreEvent) => validateChange(event, { next, old }, context)

test('only the series goes on', () => {
  assert.deepEqual(changes({ ...good, series: { count: 3, lastObservedTime: time } }, good), [])
  assert.deepEqual(lines(changes({ ...good, series: { count: 1, lastObservedTime: time } }, good)), [
    'series.count: Invalid value: "": should be at least 2',
  ])
})

test('a series that was there is not looked at again', () => {
  const old = { ...good, series: { count: 1 } }
  assert.deepEqual(changes({ ...old }, old), [])
})

test('an empty source is no change from none', () => assert.deepEqual(changes(good, { ...good, source: {} }), []))

test('all else is history', () => {
  const next: CoreEvent = {
    ...good,
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
  const fields = changes(frozen(next), good).map(({ field }) => field)
  const times = lines(
    changes(
      { ...good, eventTime: '2024-03-01T11:58:00.120000Z', lastTimestamp: '2024-03-01T11:58:00Z' },
      { ...good, firstTimestamp: time },
    ),
  )
  assert.deepEqual(times, [
    'firstTimestamp: Invalid value: 0001-01-01 00:00:00 +0000 UTC: field is immutable',
    'lastTimestamp: Invalid value: 2024-03-01 11:58:00 +0000 UTC: field is immutable',
    'eventTime: Invalid value: 2024-03-01 11:58:00.12 +0000 UTC: field is immutable',
  ])
  const order = 'involvedObject reason message source firstTimestamp lastTimestamp count reason type eventTime action related'
  assert.equal(fields.join(' '), `${order} reportingController reportingInstance`)
})
