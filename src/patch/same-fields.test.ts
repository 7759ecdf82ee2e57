// That a configuration is recognised that sets what it set the last time, and no other.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { structTopology } from '../schema/topology.js'
import { configProblems } from './check-config.js'
import { type FieldSet, isSameSet } from './field-set.js'
import { configMap, deployment, pod, service } from './kinds.fixture.js'
import { UnkeyedListError } from './list-items.js'
import { ownable } from './ownable.js'
import { isRecord } from './plain.js'
import { type Plain, pick, randomOf, randomSchema, randomValue, withOtherTexts } from './random.fixture.js'
import { setsJust } from './same-fields.js'
import { setOf } from './set-of.js'

const typed = (config: Plain): Plain => ({
  ...config,
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', ...(config['metadata'] ?? {}) },
})

/** What a configuration owns, found at length; undefined where it cannot be applied. */
function ownedBy(topology: ReturnType<typeof structTopology>, config: Plain): { readonly set: FieldSet | undefined } | undefined {
  try {
    return configProblems(topology, config).length > 0 ? undefined : { set: ownable(setOf(topology, config)) }
  } catch (thrown) {
    if (thrown instanceof UnkeyedListError) return undefined
    throw thrown
  }
}

test('random configurations: whoever is recognised sets just that, and whoever says the same with other values is recognised', () => {
  const seed = Number(process.env['SEED'] ?? 11)
  for (let i = 0; i < 1500; i++) {
    const random = randomOf(seed + i)
    const schema = randomSchema(random)
    const topology = structTopology(schema)
    const first = typed(randomValue(random, schema) as Plain)
    const set = ownedBy(topology, first)?.set
    if (set === undefined) continue
    assert.ok(setsJust(topology, typed(withOtherTexts(random, first) as Plain), set), `seed ${seed + i}`)
    for (const other of [randomValue(random, schema), spoiled(random, first), spoiled(random, first)]) {
      if (!isRecord(other)) continue
      const config = typed(other)
      const owned = ownedBy(topology, config)
      if (setsJust(topology, config, set)) assert.ok(owned !== undefined && isSameSet(owned.set, set), `seed ${seed + i}`)
    }
  }
})

/** The value with something in it that it should not have, or without something. */
function spoiled(random: () => number, value: unknown): unknown {
  const replacement = (): unknown =>
    pick<unknown>(random, [null, '', [], {}, 5, true, 'other', ['a', 'a'], [null], { x: 'x' }, { '.': {} }])
  if (random() < 0.1) return replacement()
  if (Array.isArray(value)) {
    if (random() < 0.2) return [...value, value[0]]
    return value.map((item) => (random() < 0.5 ? spoiled(random, item) : item))
  }
  if (typeof value !== 'object' || value === null) return random() < 0.3 ? replacement() : value
  const members = Object.entries(value).filter(() => random() < 0.95)
  return Object.fromEntries(members.map(([name, member]) => [name, random() < 0.5 ? spoiled(random, member) : member]))
}

const named = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1' }

const cases = [
  ['metadata without an owner', configMap, { metadata: named, data: { a: '1' } }, { metadata: { name: 'a' }, data: { a: '2' } }],
  ['labels', configMap, { metadata: { ...named, labels: { l: '1' } } }, { metadata: { ...named, labels: { l: '2' } } }],
  ['a value that is one', service, { spec: { selector: { a: '1' } } }, { spec: { selector: { b: '2', c: '3' } } }],
  [
    'items by their keys, in another order',
    pod,
    { spec: { containers: [{ name: 'a', image: 'i' }, { name: 'b' }] } },
    { spec: { containers: [{ name: 'b' }, { name: 'a', image: 'j' }] } },
  ],
  ['a key that is left out', service, { spec: { ports: [{ port: 80 }] } }, { spec: { ports: [{ port: 80 }] } }],
  [
    'a template',
    deployment,
    { spec: { replicas: 1, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', command: ['x'] }] } } } },
    { spec: { replicas: 2, template: { metadata: { labels: { a: 'c' } }, spec: { containers: [{ name: 'a', command: ['y', 'z'] }] } } } },
  ],
  ['a struct that is spelled out empty', pod, { spec: { securityContext: {} } }, { spec: { securityContext: {} } }],
] as const

for (const [name, schema, first, second] of cases)
  test(`recognised: ${name}`, () => {
    const topology = structTopology(schema)
    const set = ownable(setOf(topology, typed(first as Plain))) as FieldSet
    assert.ok(setsJust(topology, typed(second as Plain), set))
  })

const others = [
  ['one field less', configMap, { data: { a: '1', b: '1' } }, { data: { a: '1' } }],
  ['one field more', configMap, { data: { a: '1' } }, { data: { a: '1', b: '1' } }],
  ['another name', configMap, { data: { a: '1' } }, { data: { b: '1' } }],
  ['a value of another type', configMap, { data: { a: '1' } }, { data: { a: 1 } }],
  ['a name that is no text', configMap, { data: { a: '1' } }, { metadata: { name: 5 }, data: { a: '1' } }],
  ['nothing', configMap, { data: { a: '1' } }, { data: { a: null } }],
  ['labels that are gone', configMap, { metadata: { labels: { l: '1' } }, data: { a: '1' } }, { data: { a: '1' } }],
  ['a field that does not exist', configMap, { data: { a: '1' } }, { data: { a: '1' }, more: 1 }],
  ['another item', pod, { spec: { containers: [{ name: 'a' }] } }, { spec: { containers: [{ name: 'b' }] } }],
  [
    'an item twice',
    pod,
    { spec: { containers: [{ name: 'a' }, { name: 'b' }] } },
    { spec: { containers: [{ name: 'a' }, { name: 'a' }] } },
  ],
  ['an item without its key', pod, { spec: { containers: [{ name: 'a' }] } }, { spec: { containers: [{ image: 'a' }] } }],
  ['a wrong type in a value that is one', service, { spec: { selector: { a: '1' } } }, { spec: { selector: { a: 1 } } }],
] as const

for (const [name, schema, first, second] of others)
  test(`not recognised: ${name}`, () => {
    const topology = structTopology(schema)
    const set = ownable(setOf(topology, typed(first as Plain))) as FieldSet
    assert.ok(setsJust(topology, typed(first as Plain), set))
    assert.ok(!setsJust(topology, typed(second as Plain), set))
  })
