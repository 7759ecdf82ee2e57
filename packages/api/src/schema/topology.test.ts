// The merge reading of a schema.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from './node.js'
import { emptyStruct, type FieldTopology, type ListTopology, structTopology, topologyOf } from './topology.js'

const listOf = (options: Parameters<typeof s.list>[1]): ListTopology =>
  topologyOf(s.list(s.struct('Item', { id: s.jsonField(s.string) }), options)) as ListTopology

const lists: readonly {
  readonly name: string
  readonly options: Parameters<typeof s.list>[1]
  readonly isOne: boolean
  readonly keys: readonly string[]
}[] = [
  { name: 'a list is atomic', options: {}, isOne: true, keys: [] },
  {
    name: 'a list that merges in patches merges by its key',
    options: { patchStrategy: 'merge', patchMergeKey: 'id' },
    isOne: false,
    keys: ['id'],
  },
  { name: 'without a key it is a set', options: { patchStrategy: 'merge' }, isOne: false, keys: [] },
  { name: 'retained keys do not matter', options: { patchStrategy: 'merge,retainKeys', patchMergeKey: 'id' }, isOne: false, keys: ['id'] },
  { name: 'a list type wins', options: { listType: 'atomic', patchStrategy: 'merge', patchMergeKey: 'id' }, isOne: true, keys: [] },
  { name: 'keys stand in the order of their names', options: { listType: 'map', keys: ['id', 'a'] }, isOne: false, keys: ['a', 'id'] },
  { name: 'a set', options: { listType: 'set' }, isOne: false, keys: [] },
]

for (const { name, options, isOne, keys } of lists)
  test(name, () => {
    const topology = listOf(options)
    assert.deepEqual({ isOne: topology.isOne, keys: topology.keys.map((key) => key.name) }, { isOne, keys })
  })

test('what is there though nobody wrote it, and what is not there though somebody did', () => {
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

test('a schema may contain itself', () => {
  const tree: s.StructNode = s.struct('Tree', { children: s.jsonField(s.map(s.lazy(() => tree))) })
  const topology = structTopology(tree)
  const children = topology.fields.get('children')?.node
  assert.equal(children?.kind === 'map' ? children.value : undefined, topology)
})

test('a field may merge unlike its struct', () => {
  const one = s.struct('One', { a: s.jsonField(s.string) }, { mapType: 'atomic' })
  const { fields } = structTopology(s.struct('Outer', { whole: s.jsonField(one), parts: s.jsonField(one, { mapType: 'granular' }) }))
  assert.deepEqual([fields.get('whole')?.node.isOne, fields.get('parts')?.node.isOne], [true, false])
})

test('keys have the defaults of their fields', () => {
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
