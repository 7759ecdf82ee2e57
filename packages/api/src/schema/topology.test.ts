// Merge topologies of lists, structs and recursive schemas.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from './node.js'
import { emptyStruct, type FieldTopology, type ListTopology, structTopology, topologyOf } from './topology.js'

const listOf = (options: Parameters<typeof s.list>[1]): ListTopology =>
  topologyOf(s.list(s.struct('Item', { id: s.jsonField(s.string) }), options)) as ListTopology

const lists: readonly (readonly [name: string, options: Parameters<typeof s.list>[1], isAtomic: boolean, keys: readonly string[]])[] = [
  ['a list is atomic by default', {}, true, []],
  ['patchStrategy merge: keyed by patchMergeKey', { patchStrategy: 'merge', patchMergeKey: 'id' }, false, ['id']],
  ['patchStrategy merge without a key: set', { patchStrategy: 'merge' }, false, []],
  ['patchStrategy merge,retainKeys: keyed', { patchStrategy: 'merge,retainKeys', patchMergeKey: 'id' }, false, ['id']],
  ['listType overrides patchStrategy', { listType: 'atomic', patchStrategy: 'merge', patchMergeKey: 'id' }, true, []],
  ['keys are in name order', { listType: 'map', keys: ['id', 'a'] }, false, ['a', 'id']],
  ['listType set', { listType: 'set' }, false, []],
]

for (const [name, options, isAtomic, keys] of lists)
  test(name, () => {
    const topology = listOf(options)
    assert.deepEqual({ isAtomic: topology.isAtomic, keys: topology.keys.map((key) => key.name) }, { isAtomic, keys })
  })

test('implied values of absent fields, and fields that omit zero', () => {
  const inner = s.struct('Inner', {})
  const { fields, implied } = structTopology(
    s.struct('Outer', {
      plain: s.jsonField(s.string),
      always: s.jsonField(s.string, { always: true }),
      pointer: s.jsonField(s.string, { pointer: true }),
      struct: s.jsonField(inner),
      optionalStruct: s.jsonField(inner, { pointer: true }),
      requiredPointer: s.jsonField(inner, { pointer: true, always: true }),
      time: s.jsonField(s.time),
      quantity: s.jsonField(s.quantity),
      items: s.jsonField(s.list(s.string), { always: true }),
    }),
  )
  const impliedOf = (name: string): unknown => (fields.get(name) as FieldTopology).implied
  assert.deepEqual(Object.fromEntries([...fields.keys()].map((name) => [name, impliedOf(name)])), {
    plain: undefined,
    always: '',
    pointer: undefined,
    struct: emptyStruct,
    optionalStruct: undefined,
    requiredPointer: null,
    time: null,
    quantity: '0',
    items: null,
  })
  assert.equal(implied.length, 6)
  assert.deepEqual(
    [...fields.values()].filter((field) => field.omitsZero).map((field) => field.name),
    ['plain'],
  )
})

test('the topology of a recursive schema contains itself', () => {
  const tree: s.StructNode = s.struct('Tree', { children: s.jsonField(s.map(s.lazy(() => tree))) })
  const topology = structTopology(tree)
  const children = topology.fields.get('children')?.node
  assert.equal(children?.kind === 'map' ? children.value : undefined, topology)
})

test('mapType of a field overrides that of its struct', () => {
  const one = s.struct('One', { a: s.jsonField(s.string) }, { mapType: 'atomic' })
  const { fields } = structTopology(s.struct('Outer', { whole: s.jsonField(one), parts: s.jsonField(one, { mapType: 'granular' }) }))
  assert.deepEqual([fields.get('whole')?.node.isAtomic, fields.get('parts')?.node.isAtomic], [true, false])
})

test('absent keys fall back to the default of their field', () => {
  const port = s.struct('Port', {
    port: s.jsonField(s.int32, { always: true }),
    protocol: s.jsonField(s.string, { default: 'TCP' }),
    name: s.jsonField(s.string),
  })
  const { keys } = topologyOf(s.list(port, { listType: 'map', keys: ['port', 'protocol', 'name'] })) as ListTopology
  assert.deepEqual(keys, [
    { name: 'name', fallback: undefined },
    { name: 'port', fallback: 0 },
    { name: 'protocol', fallback: 'TCP' },
  ])
})
