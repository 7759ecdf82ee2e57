// Strategic merge patch on a deployment, step by step as in a recording of the reference, and each directive with its errors.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deployment } from './kinds.fixture.js'
import { PatchError, type PatchErrorKind } from './patch-error.js'
import { deepFreeze } from './stage.fixture.js'
import { strategicMergePatch } from './strategic-merge-patch.js'

type Plain = { readonly [name: string]: unknown }

const inPod = (spec: Plain): Plain => ({ spec: { template: { spec } } })
const podOf = (object: object): Plain => (object as { spec: { template: { spec: Plain } } }).spec.template.spec
const patched = (document: object, patch: object): object => strategicMergePatch(deepFreeze(document), deepFreeze(patch), deployment)

const start = {
  metadata: { finalizers: ['e/a', 'e/b'], labels: { x: '1', y: '2' } },
  ...inPod({
    containers: [
      {
        name: 'one',
        image: 'i:1',
        command: ['a', 'b'],
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
        ports: [{ containerPort: 80, name: 'http' }, { containerPort: 81 }],
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
      },
      { name: 'two', image: 'i:2' },
    ],
    volumes: [
      { name: 'v', emptyDir: {} },
      { name: 'w', emptyDir: {} },
    ],
    tolerations: [{ key: 'k' }],
    imagePullSecrets: [{ name: 'p' }],
  }),
}

test('containers merge by name, and so do their env, ports and mounts', () => {
  const first = patched(
    start,
    inPod({
      containers: [
        {
          name: 'one',
          image: 'i:9',
          command: ['c'],
          env: [
            { name: 'B', value: 'two' },
            { name: 'C', value: '3' },
          ],
          ports: [{ containerPort: 80, name: 'web' }, { containerPort: 82 }],
        },
      ],
    }),
  )
  const one = {
    name: 'one',
    image: 'i:9',
    command: ['c'],
    env: [
      { name: 'A', value: '1' },
      { name: 'B', value: 'two' },
      { name: 'C', value: '3' },
    ],
    ports: [{ containerPort: 80, name: 'web' }, { containerPort: 82 }, { containerPort: 81 }],
    volumeMounts: [{ name: 'v', mountPath: '/v' }],
  }
  assert.deepEqual(podOf(first)['containers'], [one, { name: 'two', image: 'i:2' }])

  const second = patched(
    first,
    inPod({
      containers: [
        { name: 'three', image: 'i:3' },
        { $patch: 'delete', name: 'two' },
        { name: 'one', env: [{ $patch: 'delete', name: 'A' }], volumeMounts: [{ mountPath: '/v', name: 'w' }] },
      ],
    }),
  )
  const changed = { ...one, env: one.env.slice(1), volumeMounts: [{ name: 'w', mountPath: '/v' }] }
  assert.deepEqual(podOf(second)['containers'], [{ name: 'three', image: 'i:3' }, changed])

  const third = patched(
    second,
    inPod({
      '$setElementOrder/containers': [{ name: 'three' }, { name: 'four' }, { name: 'one' }],
      containers: [{ name: 'four', image: 'i:4' }],
    }),
  )
  assert.deepEqual(podOf(third)['containers'], [{ name: 'three', image: 'i:3' }, { name: 'four', image: 'i:4' }, changed])
})

interface Row {
  readonly name: string
  readonly patch: Plain
  readonly expected: Plain
}

const rows: readonly Row[] = [
  {
    name: 'a list without a strategy is replaced',
    patch: inPod({ tolerations: [{ key: 'z' }] }),
    expected: { tolerations: [{ key: 'z' }] },
  },
  {
    name: 'a new item stands before the others',
    patch: inPod({ imagePullSecrets: [{ name: 'q' }] }),
    expected: { imagePullSecrets: [{ name: 'q' }, { name: 'p' }] },
  },
  { name: 'null removes', patch: inPod({ tolerations: null, nope: null }), expected: { tolerations: undefined } },
  {
    name: 'keys are retained',
    patch: inPod({ volumes: [{ $retainKeys: ['name', 'configMap'], name: 'v', configMap: { name: 'cm' } }] }),
    expected: {
      volumes: [
        { name: 'v', configMap: { name: 'cm' } },
        { name: 'w', emptyDir: {} },
      ],
    },
  },
  {
    name: 'a list is replaced by a directive',
    patch: inPod({ volumes: [{ $patch: 'replace' }, { name: 'w', emptyDir: { medium: 'Memory' } }] }),
    expected: { volumes: [{ name: 'w', emptyDir: { medium: 'Memory' } }] },
  },
  {
    name: 'the order alone',
    patch: inPod({ '$setElementOrder/volumes': [{ name: 'w' }, { name: 'v' }] }),
    expected: {
      volumes: [
        { name: 'w', emptyDir: {} },
        { name: 'v', emptyDir: {} },
      ],
    },
  },
  {
    name: 'nulls in something new are left out',
    patch: inPod({ nodeSelector: { a: 'b', c: null } }),
    expected: { nodeSelector: { a: 'b' } },
  },
]

for (const { name, patch, expected } of rows)
  test(name, () => {
    const pod = podOf(patched(start, patch))
    for (const [member, value] of Object.entries(expected)) assert.deepEqual(pod[member], value)
  })

const metadataRows: readonly Row[] = [
  { name: 'a map is replaced', patch: { labels: { $patch: 'replace', z: '3' } }, expected: { labels: { z: '3' } } },
  { name: 'a map is emptied', patch: { labels: { $patch: 'delete' } }, expected: { labels: {} } },
  { name: 'a set of texts is merged', patch: { finalizers: ['e/c', 'e/a'] }, expected: { finalizers: ['e/c', 'e/a', 'e/b'] } },
  { name: 'a text is deleted', patch: { '$deleteFromPrimitiveList/finalizers': ['e/b'] }, expected: { finalizers: ['e/a'] } },
  {
    name: 'deleted and put into an order',
    patch: { '$deleteFromPrimitiveList/finalizers': ['e/b'], '$setElementOrder/finalizers': ['e/c', 'e/a'], finalizers: ['e/c'] },
    expected: { finalizers: ['e/c', 'e/a'] },
  },
  {
    name: 'a directive for a map that is not there stays',
    patch: { annotations: { $patch: 'replace', a: '1' } },
    expected: { annotations: { $patch: 'replace', a: '1' } },
  },
  {
    name: 'the prototype is a name',
    patch: { labels: JSON.parse('{"__proto__":"1"}') as Plain },
    expected: { labels: JSON.parse('{"x":"1","y":"2","__proto__":"1"}') as Plain },
  },
]

for (const { name, patch, expected } of metadataRows)
  test(name, () => {
    const { metadata } = patched(start, { metadata: patch }) as { metadata: Plain }
    for (const [member, value] of Object.entries(expected)) assert.equal(JSON.stringify(metadata[member]), JSON.stringify(value))
  })

test('keys are retained in a struct', () => {
  const document = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } }
  assert.deepEqual(patched(document, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }), {
    spec: { strategy: { type: 'Recreate' } },
  })
})

const wrong: readonly { readonly name: string; readonly patch: Plain; readonly kind: PatchErrorKind }[] = [
  {
    name: 'the order lacks an item',
    patch: inPod({ '$setElementOrder/containers': [{ name: 'one' }], containers: [{ name: 'five' }] }),
    kind: 'malformed',
  },
  { name: 'the order is no list', patch: inPod({ '$setElementOrder/containers': 'one' }), kind: 'malformed' },
  { name: 'the order has no target', patch: inPod({ $setElementOrder: [] }), kind: 'malformed' },
  { name: 'retained keys lack a key', patch: { spec: { strategy: { $retainKeys: ['type'], rollingUpdate: {} } } }, kind: 'malformed' },
  { name: 'retained keys are no list', patch: { spec: { strategy: { $retainKeys: 'type' } } }, kind: 'malformed' },
  { name: 'an unknown directive', patch: { metadata: { labels: { $patch: 'explode' } } }, kind: 'malformed' },
  { name: 'merging is no directive for a map', patch: { metadata: { labels: { $patch: 'merge' } } }, kind: 'malformed' },
  { name: 'an unknown directive in a list', patch: inPod({ containers: [{ $patch: 'explode', name: 'one' }] }), kind: 'malformed' },
  { name: 'an item without its key', patch: inPod({ containers: [{ image: 'i' }] }), kind: 'unprocessable' },
  {
    name: 'an item to be deleted without its key',
    patch: inPod({ containers: [{ $patch: 'delete', image: 'i' }] }),
    kind: 'unprocessable',
  },
  { name: 'a text among objects', patch: inPod({ containers: ['one'] }), kind: 'unprocessable' },
  { name: 'a list in a list', patch: inPod({ containers: [['one']] }), kind: 'unprocessable' },
  { name: 'deletions that are no list', patch: { metadata: { '$deleteFromPrimitiveList/finalizers': 'e/b' } }, kind: 'malformed' },
]

for (const { name, patch, kind } of wrong)
  test(`wrong: ${name}`, () => {
    assert.throws(
      () => patched(strategicMergePatch(start, { spec: { strategy: { type: 'x' } } }, deployment), patch),
      (thrown) => thrown instanceof PatchError && thrown.kind === kind,
    )
  })

test('a list that is null beside its order is refused, and objects are not deleted by value', () => {
  const inSpec = { '$setElementOrder/containers': [{ name: 'one' }], containers: null }
  assert.throws(
    () => patched(start, inPod(inSpec)),
    (thrown) => thrown instanceof PatchError && thrown.kind === 'malformed',
  )
  const kept = patched(start, inPod({ '$deleteFromPrimitiveList/imagePullSecrets': [{ name: 'p' }] }))
  assert.deepEqual(podOf(kept)['imagePullSecrets'], [{ name: 'p' }])
})

test('thousands of scalars merge and are deleted by value', () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `e/${i}`)
  const merged = patched({ metadata: { finalizers: names } }, { metadata: { finalizers: [...names, 'e/new', 'e/new'] } })
  assert.equal((merged as { metadata: { finalizers: string[] } }).metadata.finalizers.length, 10_001)
  const left = patched({ metadata: { finalizers: names } }, { metadata: { '$deleteFromPrimitiveList/finalizers': names.slice(1) } })
  assert.deepEqual(left, { metadata: { finalizers: ['e/0'] } })
})

test('an item may be named again, but not again and again', () => {
  const again = (count: number): Plain => inPod({ containers: Array.from({ length: count }, (_, i) => ({ name: 'one', [`f${i}`]: i })) })
  const [first] = podOf(patched(start, again(50)))['containers'] as Plain[]
  assert.equal(first?.['f49'], 49)
  assert.throws(
    () => patched(start, again(500)),
    (thrown) => thrown instanceof PatchError && thrown.kind === 'unprocessable',
  )
  const deleted = patched(start, inPod({ containers: Array.from({ length: 5000 }, () => ({ name: 'one', $patch: 'delete' })) }))
  assert.deepEqual(
    (podOf(deleted)['containers'] as Plain[]).map(({ name }) => name),
    ['two'],
  )
})
