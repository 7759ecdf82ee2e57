// Tests of StorageClasses: defaults, validation, immutable fields.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../expect-errors.fixture.js'
import { storageClass } from './storage-class.js'
import type { StorageClass } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'c', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (more: StorageClass = {}): StorageClass =>
  frozen({ metadata, provisioner: 'example.com/p', reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate', ...more })
const term = (key: string, ...values: readonly string[]) => ({ matchLabelExpressions: [{ key, values }] })

test('reclaimPolicy defaults to Delete, volumeBindingMode to Immediate', () => {
  assert.deepEqual(storageClass.defaults?.(frozen({ metadata, provisioner: 'example.com/p' }), context), make())
})

const rows: readonly (readonly [object: StorageClass, ...expected: readonly string[]])[] = [
  [{}],
  [{ provisioner: 'Example.com/P' }],
  [{ volumeBindingMode: '' }, 'volumeBindingMode: Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"'],
  [
    { provisioner: 'bad name', parameters: { '': 'x' }, reclaimPolicy: 'Keep', volumeBindingMode: 'Soon' },
    'provisioner: Invalid value: "bad name": name part must consist of',
    'parameters: Invalid value: "": field can not be empty.',
    'reclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Retain"',
    'volumeBindingMode: Unsupported value: "Soon": supported values: "Immediate", "WaitForFirstConsumer"',
  ],
  [{ provisioner: '' }, 'provisioner: Required value'],
  [
    { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`k${i}`, ''])) },
    'parameters: Too long: must have at most 512 bytes',
  ],
  [{ parameters: { k: 'x'.repeat(256 * 1024) } }, 'parameters: Too long: must have at most 262144 bytes'],
  [{ allowedTopologies: [term('zone', 'a', 'b'), term('zone', 'a')] }],
  [
    {
      allowedTopologies: [
        term('', 'a', 'a'),
        { matchLabelExpressions: [{ key: 'k' }, { key: 'k', values: ['v'] }] },
        term('zone', 'a', 'b'),
        term('zone', 'b', 'a'),
        term('zone', 'a', 'b'),
      ],
    },
    'allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"',
    'allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "": name part must be non-empty',
    'allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "": name part must consist of',
    'allowedTopologies[1].matchLabelExpressions[0].values: Required value',
    'allowedTopologies[1].matchLabelExpressions[1].key: Duplicate value: "k"',
    'allowedTopologies[3].matchLabelExpressions: Duplicate value: ""',
    'allowedTopologies[4].matchLabelExpressions: Duplicate value: ""',
    'allowedTopologies[4].matchLabelExpressions: Duplicate value: ""',
  ],
  [{ allowedTopologies: [{}, {}] }, ...[0, 0, 1, 1, 1].map((i) => `allowedTopologies[${i}].matchLabelExpressions: Duplicate value: ""`)],
]
for (const [object, ...expected] of rows)
  test(`a class: ${rowTitle(object, expected)}`, () => expectErrors(validateCreation(storageClass, make(object), context), expected))

test('fields that affect volumes are immutable', () => {
  const next = make({ parameters: { a: 'b' }, provisioner: 'other', reclaimPolicy: 'Retain', volumeBindingMode: 'WaitForFirstConsumer' })
  expectErrors(validateChange(storageClass, { next, old: make() }, context), [
    'parameters: Forbidden: updates to parameters are forbidden.',
    'provisioner: Forbidden: updates to provisioner are forbidden.',
    'reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.',
    'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
  ])
  expectErrors(validateChange(storageClass, { next: make({ allowVolumeExpansion: true, mountOptions: ['ro'] }), old: make() }, context), [])
})

test('printer columns', () => {
  assert.deepEqual(storageClass.table?.cells(make(), context), ['c', 'example.com/p', 'Delete', 'Immediate', false, '60m'])
  for (const domain of ['storageclass', 'storageclass.beta']) {
    const defaultClass = make({ metadata: { ...metadata, annotations: { [`${domain}.cluster.io/is-default-class`]: 'true' } } })
    assert.equal(storageClass.table?.cells(defaultClass, context)[0], 'c (default)')
  }
})
