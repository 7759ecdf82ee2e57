// Drivers of storage: defaults, tokens, what stays, and what is counted as a change.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { csiDriver } from './csi-driver.js'
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

test('what a driver has when it does not say, by the features that are on', () => {
  assert.deepEqual(csiDriver.defaults?.(frozen({ metadata }), context), make())
  assert.deepEqual(csiDriver.defaults?.(frozen({ metadata }), testContext()), make({ seLinuxMount: false }))
  assert.deepEqual(csiDriver.prepareCreate?.(make({ seLinuxMount: true }), context), make())
})

const rows: readonly { readonly title: string; readonly object: CSIDriver; readonly found: readonly string[] }[] = [
  { title: 'defaults', object: make(), found: [] },
  { title: 'a long name', object: make({}, 'd'.repeat(64)), found: [] },
  {
    title: 'nothing',
    object: frozen({ metadata }),
    found: [
      'spec.attachedRequired: Required value',
      'spec.podInfoOnMount: Required value',
      'spec.storageCapacity: Required value',
      'spec.fsGroupPolicy: Required value',
    ],
  },
  {
    title: 'words that mean nothing',
    object: make({ volumeLifecycleModes: ['Forever'], fsGroupPolicy: 'Maybe' }),
    found: [
      'spec.fsGroupPolicy: Unsupported value: "Maybe": supported values: "File", "None", "ReadWriteOnceWithFSType"',
      'spec.volumeLifecycleModes: Unsupported value: "Forever": supported values: "Persistent", "Ephemeral"',
    ],
  },
  {
    title: 'tokens that are wrong',
    object: make({
      tokenRequests: [{ audience: 'a', expirationSeconds: 5 }, { audience: 'a' }, { audience: 'b', expirationSeconds: 2 ** 32 + 1 }, {}],
    }),
    found: [
      'spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
      'spec.tokenRequests[1].audience: Duplicate value: "a"',
      'spec.tokenRequests[2].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
    ],
  },
]
for (const { title, object, found } of rows)
  test(`a driver with ${title}`, () => expectErrors(validateCreation(csiDriver, object, context), found))

test('what was agreed on stays', () => {
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

test('a generation is counted from the first change that matters', () => {
  const generation = (next: CSIDriver) => csiDriver.prepareUpdate?.(next, make(), context).metadata?.generation
  assert.deepEqual(
    [generation(make({ storageCapacity: true })), generation(make({ requiresRepublish: true })), generation(make({ tokenRequests: [{}] }))],
    [undefined, 1, 1],
  )
})

test('a row of the table', () => {
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
