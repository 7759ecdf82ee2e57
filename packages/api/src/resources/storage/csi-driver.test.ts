// Tests of CSIDrivers: defaults, token requests, immutable fields, generation.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../expect-errors.fixture.js'
import { csiDriver } from './csi.js'
import type { CSIDriver, CSIDriverSpec } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'd.example', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const complete: CSIDriverSpec = {
  attachRequired: true,
  podInfoOnMount: false,
  storageCapacity: false,
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
  volumeLifecycleModes: ['Persistent'],
  requiresRepublish: false,
}
const make = (spec: CSIDriverSpec = {}, name = metadata.name): CSIDriver =>
  frozen({ metadata: { ...metadata, name }, spec: { ...complete, ...spec } })

test('defaults, with and without feature gates', () => {
  assert.deepEqual(csiDriver.defaults?.(frozen({ metadata }), context), make())
  assert.deepEqual(csiDriver.defaults?.(frozen({ metadata }), testContext()), make({ seLinuxMount: false }))
  assert.deepEqual(csiDriver.prepareCreate?.(make({ seLinuxMount: true }), context), make())
})

const rows: readonly (readonly [object: CSIDriver, ...expected: readonly string[]])[] = [
  [make()],
  [make({}, 'd'.repeat(64))],
  [
    frozen({ metadata }),
    'spec.attachedRequired: Required value',
    'spec.podInfoOnMount: Required value',
    'spec.storageCapacity: Required value',
    'spec.fsGroupPolicy: Required value',
  ],
  [
    make({ volumeLifecycleModes: ['Forever'], fsGroupPolicy: 'Maybe' }),
    'spec.fsGroupPolicy: Unsupported value: "Maybe": supported values: "File", "None", "ReadWriteOnceWithFSType"',
    'spec.volumeLifecycleModes: Unsupported value: "Forever": supported values: "Persistent", "Ephemeral"',
  ],
  [
    make({
      tokenRequests: [{ audience: 'a', expirationSeconds: 5 }, { audience: 'a' }, { audience: 'b', expirationSeconds: 2 ** 32 + 1 }, {}],
    }),
    'spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
    'spec.tokenRequests[1].audience: Duplicate value: "a"',
    'spec.tokenRequests[2].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
  ],
]
for (const [object, ...expected] of rows)
  test(`a driver: ${rowTitle(object, expected)}`, () => expectErrors(validateCreation(csiDriver, object, context), expected))

test('attachRequired, fsGroupPolicy, podInfoOnMount and volumeLifecycleModes are immutable', () => {
  const next = make({
    attachRequired: false,
    fsGroupPolicy: 'None',
    podInfoOnMount: true,
    volumeLifecycleModes: ['Ephemeral'],
    storageCapacity: true,
  })
  expectErrors(validateChange(csiDriver, { next, old: make() }, context), [
    'spec.attachedRequired: Invalid value: false: field is immutable',
    'spec.fsGroupPolicy: Invalid value: "None": field is immutable',
    'spec.podInfoOnMount: Invalid value: true: field is immutable',
    'spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
  ])
})

test('changes of mutable fields increase the generation', () => {
  const generation = (next: CSIDriver) => csiDriver.prepareUpdate?.(next, make(), context).metadata?.generation
  assert.deepEqual(
    [generation(make({ storageCapacity: true })), generation(make({ requiresRepublish: true })), generation(make({ tokenRequests: [{}] }))],
    [undefined, 1, 1],
  )
})

test('printer columns', () => {
  const cells = csiDriver.table?.cells(make({ tokenRequests: [{ audience: 'a' }, { audience: 'b' }] }), context)
  assert.deepEqual(cells, ['d.example', true, false, false, 'a,b', false, 'Persistent', '60m'])
  assert.deepEqual(csiDriver.table?.cells(frozen({ metadata }), context), [
    'd.example',
    true,
    false,
    false,
    '<unset>',
    false,
    '<none>',
    '60m',
  ])
})
