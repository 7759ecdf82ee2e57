// Tests of PriorityLevelConfigurations: both versions, limits, mandatory objects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateCreation } from '../../api/validation/validate-write.js'
import { rowTitle } from '../expect-errors.fixture.js'
import { mandatoryPriorityLevels } from './mandatory-flow-schemas.js'
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
const [v1beta3, v1beta2] = definition.versions

test('both versions default the same level under their own field names', () => {
  const sent = make({ type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } })
  const complete = make({ type: 'Limited', limited })
  assert.deepEqual(definition.defaults?.(sent, context), complete)
  const inV1beta3 = v1beta3?.defaults?.(sent, context) ?? {}
  assert.deepEqual((inV1beta3 as { spec: { limited: unknown } }).spec.limited, {
    nominalConcurrencyShares: 30,
    lendablePercent: 0,
    limitResponse: { type: 'Queue', queuing },
  })
  assert.deepEqual(v1beta3?.toStored?.(inV1beta3, context.identity), complete)
  assert.deepEqual(v1beta3?.fromStored?.(complete, context.identity), inV1beta3)
  const exempt = make({ type: 'Exempt' }, 'exempt')
  assert.equal(v1beta3?.toStored?.(exempt, context.identity), exempt)
  assert.equal(v1beta2?.deprecation?.removedIn, '1.29')
})

const withQueue = (more: QueuingConfiguration): Limited => ({
  ...limited,
  limitResponse: { type: 'Queue', queuing: { ...queuing, ...more } },
})
const queuingPath = 'limitResponse.queuing'
const rows: readonly (readonly [limited: Limited, ...expected: readonly string[]])[] = [
  [limited],
  [{ ...limited, limitResponse: { type: 'Reject' } }],
  [{ ...limited, assuredConcurrencyShares: 0 }, 'nominalConcurrencyShares: Invalid value: 0: must be positive'],
  [
    { ...limited, lendablePercent: 101, borrowingLimitPercent: -1 },
    'lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
    'borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer',
  ],
  [
    { ...limited, limitResponse: { type: 'Queue' } },
    'limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited',
  ],
  [
    { ...limited, limitResponse: { type: 'Reject', queuing } },
    'limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited',
  ],
  [{ ...limited, limitResponse: { type: 'Wait' } }, 'limitResponse.type: Unsupported value: "Wait": supported values: "Queue", "Reject"'],
  [withQueue({ queues: 4 }), `${queuingPath}.handSize: Invalid value: 8: should not be greater than queues (4)`],
  [
    withQueue({ queues: 256, handSize: 8 }),
    `${queuingPath}.handSize: Invalid value: 8: required entropy bits of deckSize 256 and handSize 8 should not be greater than 60`,
  ],
  [withQueue({ queues: 10_000_001, handSize: 1 }), `${queuingPath}.queues: Invalid value: 10000001: must not be greater than 10000000`],
  [
    withQueue({ queues: -1, handSize: 0, queueLengthLimit: 0 }),
    `${queuingPath}.queueLengthLimit: Invalid value: 0: must be positive`,
    `${queuingPath}.queues: Invalid value: -1: must be positive`,
    `${queuingPath}.handSize: Invalid value: 0: must be positive`,
  ],
]

for (const [limited, ...expected] of rows) {
  test(`a level: ${rowTitle(limited, expected)}`, () => {
    const errors = lines(validateCreation(definition, make({ type: 'Limited', limited }), context))
    assert.deepEqual(
      errors,
      expected.map((line) => `spec.limited.${line}`),
    )
  })
}

test('errors name the field of the requested version', () => {
  const object = make({ type: 'Limited', limited: { ...limited, assuredConcurrencyShares: -1 } })
  assert.deepEqual(lines(validateCreation(definition, object, { ...context, version: 'v1beta2' })), [
    'spec.limited.assuredConcurrencyShares: Invalid value: -1: must be positive',
  ])
})

const types: readonly (readonly [level: Level, ...expected: readonly string[]])[] = [
  [make({ type: 'Limited' }), 'spec.limited: Required value: must not be empty when type is Limited'],
  [make({}), 'spec.type: Unsupported value: "": supported values: "Exempt", "Limited"'],
  [
    make({ type: 'Exempt', limited }),
    "spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is 'exempt'",
    'spec.limited: Forbidden: must be nil if the type is not Limited',
  ],
]

for (const [level, ...expected] of types) {
  test(`a level: ${rowTitle(level, expected)}`, () => assert.deepEqual(lines(validateCreation(definition, level, context)), expected))
}

test('mandatory PriorityLevelConfigurations cannot be changed', () => {
  for (const [name, spec] of mandatoryPriorityLevels) assert.deepEqual(validateCreation(definition, make(spec, name), context), [])
  const changed = make({ type: 'Limited', limited }, 'catch-all')
  assert.equal(validateCreation(definition, changed, context).length, 1)
})

test('printer columns', () => {
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
