// Detection of a repeated apply: setsSameFields compares a configuration with the recorded field set without building a set.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { structTopology } from '../../schema/topology.js'
import { type FieldSet, isSameSet } from '../field-set/field-set.js'
import { UnkeyedListError } from '../field-set/list-item-keys.js'
import { toFieldSet } from '../field-set/to-field-set.js'
import { isRecord } from '../json-value.js'
import { ownable } from '../managed-fields/ownable-fields.js'
import { configMap, deployment, pod, service } from '../testing/kinds.fixture.js'
import { type Plain, pick, randomOf, randomSchema, randomValue, withOtherValues } from '../testing/random.fixture.js'
import { setsSameFields } from './repeated-apply.js'
import { configProblems } from './validate-config.js'

const withTypeAndName = (config: Plain): Plain => ({
  ...config,
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', ...(config['metadata'] ?? {}) },
})

/** Field set as an apply without this detection computes it; undefined if the configuration is invalid. */
function ownedFields(topology: ReturnType<typeof structTopology>, config: Plain): { readonly set: FieldSet | undefined } | undefined {
  try {
    return configProblems(topology, config).length > 0 ? undefined : { set: ownable(toFieldSet(topology, config)) }
  } catch (thrown) {
    if (thrown instanceof UnkeyedListError) return undefined
    throw thrown
  }
}

test('random configurations: detected with other values, and only with the same fields', () => {
  const seed = Number(process.env['SEED'] ?? 11)
  for (let i = 0; i < 1500; i++) {
    const random = randomOf(seed + i)
    const schema = randomSchema(random)
    const topology = structTopology(schema)
    const first = withTypeAndName(randomValue(random, schema) as Plain)
    const set = ownedFields(topology, first)?.set
    if (set === undefined) continue
    assert.ok(setsSameFields(topology, withTypeAndName(withOtherValues(random, first) as Plain), set), `seed ${seed + i}`)
    for (const other of [randomValue(random, schema), mutated(random, first), mutated(random, first)]) {
      if (!isRecord(other)) continue
      const config = withTypeAndName(other)
      const owned = ownedFields(topology, config)
      if (setsSameFields(topology, config, set)) assert.ok(owned !== undefined && isSameSet(owned.set, set), `seed ${seed + i}`)
    }
  }
})

/** The value with random invalid, missing or duplicate members. */
function mutated(random: () => number, value: unknown): unknown {
  const replacement = (): unknown =>
    pick<unknown>(random, [null, '', [], {}, 5, true, 'other', ['a', 'a'], [null], { x: 'x' }, { '.': {} }])
  if (random() < 0.1) return replacement()
  if (Array.isArray(value)) {
    if (random() < 0.2) return [...value, value[0]]
    return value.map((item) => (random() < 0.5 ? mutated(random, item) : item))
  }
  if (typeof value !== 'object' || value === null) return random() < 0.3 ? replacement() : value
  const members = Object.entries(value).filter(() => random() < 0.95)
  return Object.fromEntries(members.map(([name, member]) => [name, random() < 0.5 ? mutated(random, member) : member]))
}

const serverMetadata = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1' }

const repeated = [
  ['unowned metadata differs', configMap, { metadata: serverMetadata, data: { a: '1' } }, { metadata: { name: 'a' }, data: { a: '2' } }],
  [
    'label values differ',
    configMap,
    { metadata: { ...serverMetadata, labels: { l: '1' } } },
    { metadata: { ...serverMetadata, labels: { l: '2' } } },
  ],
  ['an atomic value differs', service, { spec: { selector: { a: '1' } } }, { spec: { selector: { b: '2', c: '3' } } }],
  [
    'keyed items in another order',
    pod,
    { spec: { containers: [{ name: 'a', image: 'i' }, { name: 'b' }] } },
    { spec: { containers: [{ name: 'b' }, { name: 'a', image: 'j' }] } },
  ],
  ['a key with a default', service, { spec: { ports: [{ port: 80 }] } }, { spec: { ports: [{ port: 80 }] } }],
  [
    'a pod template',
    deployment,
    { spec: { replicas: 1, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', command: ['x'] }] } } } },
    { spec: { replicas: 2, template: { metadata: { labels: { a: 'c' } }, spec: { containers: [{ name: 'a', command: ['y', 'z'] }] } } } },
  ],
  ['an empty struct', pod, { spec: { securityContext: {} } }, { spec: { securityContext: {} } }],
] as const

for (const [name, schema, first, second] of repeated)
  test(`repeated apply: ${name}`, () => {
    const topology = structTopology(schema)
    const set = ownable(toFieldSet(topology, withTypeAndName(first as Plain))) as FieldSet
    assert.ok(setsSameFields(topology, withTypeAndName(second as Plain), set))
  })

const notRepeated = [
  ['one field less', configMap, { data: { a: '1', b: '1' } }, { data: { a: '1' } }],
  ['one field more', configMap, { data: { a: '1' } }, { data: { a: '1', b: '1' } }],
  ['another map key', configMap, { data: { a: '1' } }, { data: { b: '1' } }],
  ['a value of the wrong type', configMap, { data: { a: '1' } }, { data: { a: 1 } }],
  ['a number as metadata.name', configMap, { data: { a: '1' } }, { metadata: { name: 5 }, data: { a: '1' } }],
  ['a null value', configMap, { data: { a: '1' } }, { data: { a: null } }],
  ['removed labels', configMap, { metadata: { labels: { l: '1' } }, data: { a: '1' } }, { data: { a: '1' } }],
  ['an unknown field', configMap, { data: { a: '1' } }, { data: { a: '1' }, more: 1 }],
  ['another list item', pod, { spec: { containers: [{ name: 'a' }] } }, { spec: { containers: [{ name: 'b' }] } }],
  [
    'a duplicate list item',
    pod,
    { spec: { containers: [{ name: 'a' }, { name: 'b' }] } },
    { spec: { containers: [{ name: 'a' }, { name: 'a' }] } },
  ],
  ['a list item without its key', pod, { spec: { containers: [{ name: 'a' }] } }, { spec: { containers: [{ image: 'a' }] } }],
  ['a wrong type in an atomic value', service, { spec: { selector: { a: '1' } } }, { spec: { selector: { a: 1 } } }],
] as const

for (const [name, schema, first, second] of notRepeated)
  test(`not a repeated apply: ${name}`, () => {
    const topology = structTopology(schema)
    const set = ownable(toFieldSet(topology, withTypeAndName(first as Plain))) as FieldSet
    assert.ok(setsSameFields(topology, withTypeAndName(first as Plain), set))
    assert.ok(!setsSameFields(topology, withTypeAndName(second as Plain), set))
  })
