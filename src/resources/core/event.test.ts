// The loose rules of events, what can be selected, and the row of the table.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { event } from './event.js'
import type { Event } from './v1.schema.js'

const context = testContext()
const metadata = { name: 'e', namespace: 'shop', resourceVersion: '1' }
const involvedObject = { kind: 'Pod', namespace: 'shop', name: 'p' }
const make = (more: Event = {}): Event => frozen({ metadata, involvedObject, ...more })
const dated = {
  eventTime: '2024-03-01T11:58:00.000000Z',
  reportingComponent: 'x.io/c',
  reportingInstance: 'c-1',
  action: 'Act',
  reason: 'R',
}

const elsewhere = 'does not match event.namespace'
const rows: readonly { readonly title: string; readonly event: Event; readonly found: readonly string[] }[] = [
  { title: 'an old event', event: {}, found: [] },
  {
    title: 'an old event of another namespace',
    event: { involvedObject: { namespace: 'default' } },
    found: [`involvedObject.namespace: Invalid value: "default": ${elsewhere}`],
  },
  {
    title: 'an old event of a cluster-scoped object',
    event: { involvedObject: {} },
    found: [`involvedObject.namespace: Invalid value: "": ${elsewhere}`],
  },
  {
    title: 'an old event of a cluster-scoped object in the default namespace',
    event: { metadata: { ...metadata, namespace: 'default' }, involvedObject: {} },
    found: [],
  },
  { title: 'a dated event', event: dated, found: [] },
  { title: 'a dated event of another namespace', event: { ...dated, involvedObject: { namespace: 'default' } }, found: [] },
  {
    title: 'a dated event of a cluster-scoped object',
    event: { ...dated, involvedObject: {} },
    found: [`involvedObject.namespace: Invalid value: "": ${elsewhere}`],
  },
  {
    title: 'a dated event of a cluster-scoped object in the namespace of the system',
    event: { ...dated, metadata: { ...metadata, namespace: 'cluster-system' }, involvedObject: {} },
    found: [],
  },
  {
    title: 'a dated event that says nothing',
    event: { eventTime: dated.eventTime },
    found: [
      'reportingComponent: Required value',
      'reportingComponent: Invalid value: "": name part must be non-empty',
      'reportingComponent: Invalid value: "": name part must consist of',
      'reportingInstance: Required value',
      'action: Required value',
      'reason: Required value',
    ],
  },
  {
    title: 'a dated event that says too much',
    event: { ...dated, reportingInstance: 'i'.repeat(129), action: 'a'.repeat(129), reason: 'é'.repeat(65), message: 'm'.repeat(1025) },
    found: [
      'reportingInstance: Invalid value: "": can have at most 128 characters',
      'action: Invalid value: "": can have at most 128 characters',
      'reason: Invalid value: "": can have at most 128 characters',
      'message: Invalid value: "": can have at most 1024 characters',
    ],
  },
  {
    title: 'an event in a namespace that cannot be one',
    event: { metadata: { ...metadata, namespace: 'A' }, involvedObject: { namespace: 'A' } },
    found: ['namespace: Invalid value: "A": a lowercase RFC 1123 subdomain'],
  },
  {
    title: 'an event with a bad label',
    event: { metadata: { ...metadata, name: 'Any Name', labels: { k: '-' } } },
    found: ['metadata.labels: Invalid value: "-": a valid label'],
  },
  {
    title: 'an event of another namespace with a bad label',
    event: { metadata: { ...metadata, labels: { k: '-' } }, involvedObject: { namespace: 'default' } },
    found: [`involvedObject.namespace: Invalid value: "default": ${elsewhere}`],
  },
]

for (const row of rows) {
  test(`create ${row.title}`, () => {
    const errors = lines(validateCreation(event, make(row.event), context))
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, row.found[i]?.length)),
      row.found,
    )
  })
}

test('a change may change everything', () => {
  const next = make({ reason: 'other', type: 'Anything', count: 7, firstTimestamp: '2024-03-01T11:58:00Z' })
  assert.deepEqual(validateChange(event, { next, old: make(dated) }, context), [])
})

test('an event lives as long as the setting says', () => assert.equal(event.ttlSeconds?.(3600), 3600))

const selectable: readonly { readonly field: string; readonly value: string }[] = [
  { field: 'involvedObject.kind', value: 'Pod' },
  { field: 'involvedObject.uid', value: '' },
  { field: 'reason', value: 'R' },
  { field: 'reportingComponent', value: 'x.io/c' },
  { field: 'source', value: 'x.io/c' },
  { field: 'type', value: '' },
]
for (const { field, value } of selectable) {
  test(`${field} can be selected`, () => assert.equal(event.selectableFields?.[field]?.(make(dated)), value))
}

test('the component of the source comes before the reporting one', () => {
  assert.equal(event.selectableFields?.['source']?.(make({ ...dated, source: { component: 'kubelet' } })), 'kubelet')
})

const tableRows: readonly { readonly title: string; readonly event: Event; readonly cells: readonly unknown[] }[] = [
  {
    title: 'an old event',
    event: {
      involvedObject: { ...involvedObject, fieldPath: 'spec.containers{c1}' },
      source: { component: 'kubelet', host: 'h' },
      firstTimestamp: '2024-03-01T11:00:00Z',
      lastTimestamp: '2024-03-01T11:59:00Z',
      count: 4,
      type: 'Normal',
      reason: 'Pulled',
      message: ' done\n',
    },
    cells: ['60s', 'Normal', 'Pulled', 'pod/p', 'spec.containers{c1}', 'kubelet, h', 'done', '60m', 4, 'e'],
  },
  {
    title: 'an event without times',
    event: { involvedObject: { kind: 'Node' } },
    cells: ['<unknown>', '', '', 'node', '', '', '', '<unknown>', 1, 'e'],
  },
  { title: 'a dated event', event: dated, cells: ['2m', '', 'R', 'pod/p', '', 'x.io/c, c-1', '', '2m', 1, 'e'] },
  {
    title: 'a series',
    event: { ...dated, series: { count: 9, lastObservedTime: '2024-03-01T11:59:30.000000Z' } },
    cells: ['30s', '', 'R', 'pod/p', '', 'x.io/c, c-1', '', '2m', 9, 'e'],
  },
]
for (const row of tableRows) {
  test(`the row of ${row.title}`, () => assert.deepEqual(event.table?.cells(make(row.event), context), row.cells))
}
