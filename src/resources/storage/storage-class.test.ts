// Storage classes: what they default to, and that what volumes were made by stays.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { storageClass } from './storage-class.js'
import type { StorageClass } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'c', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (more: StorageClass = {}): StorageClass =>
  frozen({ metadata, provisioner: 'example.com/p', reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate', ...more })
const term = (key: string, ...values: readonly string[]) => ({ matchLabelExpressions: [{ key, values }] })

test('volumes are deleted with their claims and bound at once unless the class says otherwise', () => {
  assert.deepEqual(storageClass.defaults?.(frozen({ metadata, provisioner: 'example.com/p' }), context), make())
})

const rows: readonly { readonly title: string; readonly object: StorageClass; readonly found: readonly string[] }[] = [
  { title: 'little', object: {}, found: [] },
  { title: 'a provisioner in capitals', object: { provisioner: 'Example.com/P' }, found: [] },
  {
    title: 'a binding mode without a word',
    object: { volumeBindingMode: '' },
    found: ['volumeBindingMode: Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"'],
  },
  {
    title: 'words that mean nothing',
    object: { provisioner: 'bad name', parameters: { '': 'x' }, reclaimPolicy: 'Keep', volumeBindingMode: 'Soon' },
    found: [
      'provisioner: Invalid value: "bad name": name part must consist of',
      'parameters: Invalid value: "": field can not be empty.',
      'reclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Retain"',
      'volumeBindingMode: Unsupported value: "Soon": supported values: "Immediate", "WaitForFirstConsumer"',
    ],
  },
  { title: 'no provisioner', object: { provisioner: '' }, found: ['provisioner: Required value'] },
  {
    title: 'too many parameters',
    object: { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`k${i}`, ''])) },
    found: ['parameters: Too long: must have at most 512 bytes'],
  },
  {
    title: 'too large parameters',
    object: { parameters: { k: 'x'.repeat(256 * 1024) } },
    found: ['parameters: Too long: must have at most 262144 bytes'],
  },
  { title: 'topologies', object: { allowedTopologies: [term('zone', 'a', 'b'), term('zone', 'a')] }, found: [] },
  {
    title: 'topologies that are wrong',
    object: {
      allowedTopologies: [
        term('', 'a', 'a'),
        { matchLabelExpressions: [{ key: 'k' }, { key: 'k', values: ['v'] }] },
        term('zone', 'a', 'b'),
        term('zone', 'b', 'a'),
        term('zone', 'a', 'b'),
      ],
    },
    found: [
      'allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"',
      'allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "": name part must be non-empty',
      'allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "": name part must consist of',
      'allowedTopologies[1].matchLabelExpressions[0].values: Required value',
      'allowedTopologies[1].matchLabelExpressions[1].key: Duplicate value: "k"',
      'allowedTopologies[3].matchLabelExpressions: Duplicate value: ""',
      'allowedTopologies[4].matchLabelExpressions: Duplicate value: ""',
      'allowedTopologies[4].matchLabelExpressions: Duplicate value: ""',
    ],
  },
  {
    title: 'topologies without requirements, which repeat every empty place and one another',
    object: { allowedTopologies: [{}, {}] },
    found: [0, 0, 1, 1, 1].map((i) => `allowedTopologies[${i}].matchLabelExpressions: Duplicate value: ""`),
  },
]
for (const { title, object, found } of rows)
  test(`a class with ${title}`, () => expectErrors(validateCreation(storageClass, make(object), context), found))

test('what volumes were made by stays, the rest may change', () => {
  const next = make({ parameters: { a: 'b' }, provisioner: 'other', reclaimPolicy: 'Retain', volumeBindingMode: 'WaitForFirstConsumer' })
  expectErrors(validateChange(storageClass, { next, old: make() }, context), [
    'parameters: Forbidden: updates to parameters are forbidden.',
    'provisioner: Forbidden: updates to provisioner are forbidden.',
    'reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.',
    'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
  ])
  expectErrors(validateChange(storageClass, { next: make({ allowVolumeExpansion: true, mountOptions: ['ro'] }), old: make() }, context), [])
})

test('rows of the table', () => {
  assert.deepEqual(storageClass.table?.cells(make(), context), ['c', 'example.com/p', 'Delete', 'Immediate', false, '60m'])
  for (const domain of ['storageclass', 'storageclass.beta']) {
    const chosen = make({ metadata: { ...metadata, annotations: { [`${domain}.cluster.io/is-default-class`]: 'true' } } })
    assert.equal(storageClass.table?.cells(chosen, context)[0], 'c (default)')
  }
})
