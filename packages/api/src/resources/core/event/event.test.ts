// Tests of core Events: validation, field selectors, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, testContext } from '../../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../../api/validation/validate-write.js'
import { expectErrors, rowTitle } from '../../expect-errors.fixture.js'
import type { Event } from '../v1.schema.js'
import { event } from './event.js'

const context = testContext()
const metadata = { name: 'e', namespace: 'shop', resourceVersion: '1' }
const involvedObject = { kind: 'Pod', namespace: 'shop', name: 'p' }
const make = (more: Event = {}): Event => frozen({ metadata, involvedObject, ...more })
const withEventTime = {
  eventTime: '2024-03-01T11:58:00.000000Z',
  reportingComponent: 'x.io/c',
  reportingInstance: 'c-1',
  action: 'Act',
  reason: 'R',
}

const mismatch = 'does not match event.namespace'
const rows: readonly (readonly [event: Event, ...expected: readonly string[]])[] = [
  [{}],
  [{ involvedObject: { namespace: 'default' } }, `involvedObject.namespace: Invalid value: "default": ${mismatch}`],
  [{ involvedObject: {} }, `involvedObject.namespace: Invalid value: "": ${mismatch}`],
  [{ metadata: { ...metadata, namespace: 'default' }, involvedObject: {} }],
  [withEventTime],
  [{ ...withEventTime, involvedObject: { namespace: 'default' } }],
  [{ ...withEventTime, involvedObject: {} }, `involvedObject.namespace: Invalid value: "": ${mismatch}`],
  [{ ...withEventTime, metadata: { ...metadata, namespace: 'cluster-system' }, involvedObject: {} }],
  [
    { eventTime: withEventTime.eventTime },
    'reportingComponent: Required value',
    'reportingComponent: Invalid value: "": name part must be non-empty',
    'reportingComponent: Invalid value: "": name part must consist of',
    'reportingInstance: Required value',
    'action: Required value',
    'reason: Required value',
  ],
  [
    { ...withEventTime, reportingInstance: 'i'.repeat(129), action: 'a'.repeat(129), reason: 'é'.repeat(65), message: 'm'.repeat(1025) },
    'reportingInstance: Invalid value: "": can have at most 128 characters',
    'action: Invalid value: "": can have at most 128 characters',
    'reason: Invalid value: "": can have at most 128 characters',
    'message: Invalid value: "": can have at most 1024 characters',
  ],
  [
    { metadata: { ...metadata, namespace: 'A' }, involvedObject: { namespace: 'A' } },
    'namespace: Invalid value: "A": a lowercase RFC 1123 subdomain',
  ],
  [{ metadata: { ...metadata, name: 'Any Name', labels: { k: '-' } } }, 'metadata.labels: Invalid value: "-": a valid label'],
  [
    { metadata: { ...metadata, labels: { k: '-' } }, involvedObject: { namespace: 'default' } },
    `involvedObject.namespace: Invalid value: "default": ${mismatch}`,
  ],
]

for (const [givenEvent, ...expected] of rows) {
  test(`create: ${rowTitle(givenEvent, expected)}`, () => {
    expectErrors(validateCreation(event, make(givenEvent), context), expected)
  })
}

test('an update may change every field', () => {
  const next = make({ reason: 'other', type: 'Anything', count: 7, firstTimestamp: '2024-03-01T11:58:00Z' })
  assert.deepEqual(validateChange(event, { next, old: make(withEventTime) }, context), [])
})

test('the TTL is --event-ttl', () => assert.equal(event.ttlSeconds?.(3600), 3600))

const selectable: readonly (readonly [field: string, value: string])[] = [
  ['involvedObject.kind', 'Pod'],
  ['involvedObject.uid', ''],
  ['reason', 'R'],
  ['reportingComponent', 'x.io/c'],
  ['source', 'x.io/c'],
  ['type', ''],
]
for (const [field, value] of selectable) {
  test(`${field} can be selected`, () => assert.equal(event.selectableFields?.[field]?.(make(withEventTime)), value))
}

test('source.component precedes reportingComponent', () => {
  assert.equal(event.selectableFields?.['source']?.(make({ ...withEventTime, source: { component: 'kubelet' } })), 'kubelet')
})

const tableRows: readonly (readonly [title: string, event: Event, cells: readonly unknown[]])[] = [
  [
    'an event with firstTimestamp and lastTimestamp',
    {
      involvedObject: { ...involvedObject, fieldPath: 'spec.containers{c1}' },
      source: { component: 'kubelet', host: 'h' },
      firstTimestamp: '2024-03-01T11:00:00Z',
      lastTimestamp: '2024-03-01T11:59:00Z',
      count: 4,
      type: 'Normal',
      reason: 'Pulled',
      message: ' done\n',
    },
    ['60s', 'Normal', 'Pulled', 'pod/p', 'spec.containers{c1}', 'kubelet, h', 'done', '60m', 4, 'e'],
  ],
  ['an event without timestamps', { involvedObject: { kind: 'Node' } }, ['<unknown>', '', '', 'node', '', '', '', '<unknown>', 1, 'e']],
  ['an event with eventTime', withEventTime, ['2m', '', 'R', 'pod/p', '', 'x.io/c, c-1', '', '2m', 1, 'e']],
  [
    'an event series',
    { ...withEventTime, series: { count: 9, lastObservedTime: '2024-03-01T11:59:30.000000Z' } },
    ['30s', '', 'R', 'pod/p', '', 'x.io/c, c-1', '', '2m', 9, 'e'],
  ],
]
for (const [title, givenEvent, cells] of tableRows) {
  test(`printer columns of ${title}`, () => assert.deepEqual(event.table?.cells(make(givenEvent), context), cells))
}
