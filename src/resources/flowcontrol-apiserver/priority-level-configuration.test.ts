// Priority levels in their two versions, and what limits must be.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateCreation } from '../../api/validation/validate-write.js'
import { mandatoryPriorityLevels } from './mandatory.js'
import { priorityLevelConfiguration as definition } from './priority-level-configuration.js'
import type {
  PriorityLevelConfiguration as Level,
  LimitedPriorityLevelConfiguration as Limited,
  QueuingConfiguration,
} from './v1beta2.schema.js'

const context = { ...testContext(), version: 'v1beta3' }
const metadata = { name: 'l', generation: 1, creationTimestamp: '2024-03-01T11:00:00Z' }
const queuing = { queues: 64, handSize: 8, queueLengthLimit: 50 }
const limited: Limited = { assuredConcurrencyShares: 30, lendablePercent: 0, limitResponse: { type: 'Queue', queuing } }
const make = (spec: NonNullable<Level['spec']>, name = 'l'): Level => frozen({ metadata: { ...metadata, name }, spec })
const [newer, older] = definition.versions

test('both versions complete the same level, under their own names', () => {
  const sent = make({ type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } })
  const complete = make({ type: 'Limited', limited })
  assert.deepEqual(definition.defaults?.(sent, context), complete)
  const inNewer = newer?.defaults?.(sent, context) ?? {}
  assert.deepEqual((inNewer as { spec: { limited: unknown } }).spec.limited, {
    nominalConcurrencyShares: 30,
    lendablePercent: 0,
    limitResponse: { type: 'Queue', queuing },
  })
  assert.deepEqual(newer?.toStored?.(inNewer, context.identity), complete)
  assert.deepEqual(newer?.fromStored?.(complete, context.identity), inNewer)
  const exempt = make({ type: 'Exempt' }, 'exempt')
  assert.equal(newer?.toStored?.(exempt, context.identity), exempt)
  assert.equal(older?.deprecation?.removedIn, '1.29')
})

const withQueue = (more: QueuingConfiguration): Limited => ({
  ...limited,
  limitResponse: { type: 'Queue', queuing: { ...queuing, ...more } },
})
const at = 'limitResponse.queuing'
const rows: readonly { readonly title: string; readonly limited: Limited; readonly found: readonly string[] }[] = [
  { title: 'queues', limited, found: [] },
  { title: 'rejection', limited: { ...limited, limitResponse: { type: 'Reject' } }, found: [] },
  {
    title: 'no shares',
    limited: { ...limited, assuredConcurrencyShares: 0 },
    found: ['nominalConcurrencyShares: Invalid value: 0: must be positive'],
  },
  {
    title: 'more than all lent',
    limited: { ...limited, lendablePercent: 101, borrowingLimitPercent: -1 },
    found: [
      'lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
      'borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer',
    ],
  },
  {
    title: 'no queues',
    limited: { ...limited, limitResponse: { type: 'Queue' } },
    found: ['limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited'],
  },
  {
    title: 'queues and rejection',
    limited: { ...limited, limitResponse: { type: 'Reject', queuing } },
    found: ['limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited'],
  },
  {
    title: 'another answer',
    limited: { ...limited, limitResponse: { type: 'Wait' } },
    found: ['limitResponse.type: Unsupported value: "Wait": supported values: "Queue", "Reject"'],
  },
  {
    title: 'a hand beyond the deck',
    limited: withQueue({ queues: 4 }),
    found: [`${at}.handSize: Invalid value: 8: should not be greater than queues (4)`],
  },
  {
    title: 'a hand that one hash cannot deal',
    limited: withQueue({ queues: 256, handSize: 8 }),
    found: [`${at}.handSize: Invalid value: 8: required entropy bits of deckSize 256 and handSize 8 should not be greater than 60`],
  },
  {
    title: 'too many queues',
    limited: withQueue({ queues: 10_000_001, handSize: 1 }),
    found: [`${at}.queues: Invalid value: 10000001: must not be greater than 10000000`],
  },
  {
    title: 'nothing in the queue',
    limited: withQueue({ queues: -1, handSize: 0, queueLengthLimit: 0 }),
    found: [
      `${at}.queueLengthLimit: Invalid value: 0: must be positive`,
      `${at}.queues: Invalid value: -1: must be positive`,
      `${at}.handSize: Invalid value: 0: must be positive`,
    ],
  },
]

for (const row of rows) {
  test(`a level with ${row.title}`, () => {
    const errors = lines(validateCreation(definition, make({ type: 'Limited', limited: row.limited }), context))
    assert.deepEqual(
      errors,
      row.found.map((line) => `spec.limited.${line}`),
    )
  })
}

test('errors speak the version that was sent', () => {
  const object = make({ type: 'Limited', limited: { ...limited, assuredConcurrencyShares: -1 } })
  assert.deepEqual(lines(validateCreation(definition, object, { ...context, version: 'v1beta2' })), [
    'spec.limited.assuredConcurrencyShares: Invalid value: -1: must be positive',
  ])
})

const types: readonly { readonly title: string; readonly level: Level; readonly found: readonly string[] }[] = [
  { title: 'no limits', level: make({ type: 'Limited' }), found: ['spec.limited: Required value: must not be empty when type is Limited'] },
  { title: 'no type', level: make({}), found: ['spec.type: Unsupported value: "": supported values: "Exempt", "Limited"'] },
  {
    title: 'an exemption of its own',
    level: make({ type: 'Exempt', limited }),
    found: [
      "spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is 'exempt'",
      'spec.limited: Forbidden: must be nil if the type is not Limited',
    ],
  },
]

for (const { title, level, found } of types) {
  test(`a level with ${title}`, () => assert.deepEqual(lines(validateCreation(definition, level, context)), found))
}

test('mandatory levels are what they are', () => {
  for (const [name, spec] of mandatoryPriorityLevels) assert.deepEqual(validateCreation(definition, make(spec, name), context), [])
  const changed = make({ type: 'Limited', limited }, 'catch-all')
  assert.equal(validateCreation(definition, changed, context).length, 1)
})

test('rows of the table', () => {
  assert.deepEqual(definition.table?.cells(make({ type: 'Limited', limited }), context), ['l', 'Limited', 30, 64, 8, 50, '60m'])
  assert.deepEqual(definition.table?.cells(make({ type: 'Exempt' }), context), [
    'l',
    'Exempt',
    '<none>',
    '<none>',
    '<none>',
    '<none>',
    '60m',
  ])
})
