// Strategic merge patch of a Deployment, as in a recording of kube-apiserver, and all directives with their errors.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PatchError, type PatchErrorKind } from '../patch-error.js'
import { deployment } from '../testing/kinds.fixture.js'
import { deepFreeze } from '../testing/object-harness.fixture.js'
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

test('containers, env, ports and volumeMounts merge by their keys', () => {
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
  const containerOne = {
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
  assert.deepEqual(podOf(first)['containers'], [containerOne, { name: 'two', image: 'i:2' }])

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
  const changedContainerOne = { ...containerOne, env: containerOne.env.slice(1), volumeMounts: [{ name: 'w', mountPath: '/v' }] }
  assert.deepEqual(podOf(second)['containers'], [{ name: 'three', image: 'i:3' }, changedContainerOne])

  const third = patched(
    second,
    inPod({
      '$setElementOrder/containers': [{ name: 'three' }, { name: 'four' }, { name: 'one' }],
      containers: [{ name: 'four', image: 'i:4' }],
    }),
  )
  assert.deepEqual(podOf(third)['containers'], [{ name: 'three', image: 'i:3' }, { name: 'four', image: 'i:4' }, changedContainerOne])
})

type Row = readonly [name: string, patch: Plain, expected: Plain]

const rows: readonly Row[] = [
  ['a list without patchStrategy is replaced', inPod({ tolerations: [{ key: 'z' }] }), { tolerations: [{ key: 'z' }] }],
  [
    'a new item comes before the others',
    inPod({ imagePullSecrets: [{ name: 'q' }] }),
    { imagePullSecrets: [{ name: 'q' }, { name: 'p' }] },
  ],
  ['null removes a member', inPod({ tolerations: null, nope: null }), { tolerations: undefined }],
  [
    '$retainKeys in a list item',
    inPod({ volumes: [{ $retainKeys: ['name', 'configMap'], name: 'v', configMap: { name: 'cm' } }] }),
    {
      volumes: [
        { name: 'v', configMap: { name: 'cm' } },
        { name: 'w', emptyDir: {} },
      ],
    },
  ],
  [
    '$patch: replace in a list',
    inPod({ volumes: [{ $patch: 'replace' }, { name: 'w', emptyDir: { medium: 'Memory' } }] }),
    { volumes: [{ name: 'w', emptyDir: { medium: 'Memory' } }] },
  ],
  [
    '$setElementOrder without items',
    inPod({ '$setElementOrder/volumes': [{ name: 'w' }, { name: 'v' }] }),
    {
      volumes: [
        { name: 'w', emptyDir: {} },
        { name: 'v', emptyDir: {} },
      ],
    },
  ],
  ['nulls in a new object are dropped', inPod({ nodeSelector: { a: 'b', c: null } }), { nodeSelector: { a: 'b' } }],
  [
    'nulls in objects of a new list are dropped',
    inPod({ hostAliases: [{ ip: '::1', hostnames: null }, null] }),
    { hostAliases: [{ ip: '::1' }, null] },
  ],
  [
    '$deleteFromPrimitiveList replaces a list without patchStrategy',
    inPod({ '$deleteFromPrimitiveList/tolerations': [{ key: 'z' }] }),
    { tolerations: [{ key: 'z' }] },
  ],
  ['$deleteFromPrimitiveList of a missing list', inPod({ '$deleteFromPrimitiveList/hostAliases': ['a'] }), { hostAliases: undefined }],
]

for (const [name, patch, expected] of rows)
  test(name, () => {
    const pod = podOf(patched(start, patch))
    for (const [member, value] of Object.entries(expected)) assert.deepEqual(pod[member], value)
  })

const metadataRows: readonly Row[] = [
  ['$patch: replace in a map', { labels: { $patch: 'replace', z: '3' } }, { labels: { z: '3' } }],
  ['$patch: delete in a map', { labels: { $patch: 'delete' } }, { labels: {} }],
  ['a list of scalars is merged', { finalizers: ['e/c', 'e/a'] }, { finalizers: ['e/c', 'e/a', 'e/b'] }],
  ['$deleteFromPrimitiveList', { '$deleteFromPrimitiveList/finalizers': ['e/b'] }, { finalizers: ['e/a'] }],
  [
    '$deleteFromPrimitiveList with $setElementOrder',
    { '$deleteFromPrimitiveList/finalizers': ['e/b'], '$setElementOrder/finalizers': ['e/c', 'e/a'], finalizers: ['e/c'] },
    { finalizers: ['e/c', 'e/a'] },
  ],
  [
    'a directive for a missing map is stored',
    { annotations: { $patch: 'replace', a: '1' } },
    { annotations: { $patch: 'replace', a: '1' } },
  ],
  [
    '__proto__ is an ordinary name',
    { labels: JSON.parse('{"__proto__":"1"}') as Plain },
    { labels: JSON.parse('{"x":"1","y":"2","__proto__":"1"}') as Plain },
  ],
]

for (const [name, patch, expected] of metadataRows)
  test(name, () => {
    const { metadata } = patched(start, { metadata: patch }) as { metadata: Plain }
    for (const [member, value] of Object.entries(expected)) assert.equal(JSON.stringify(metadata[member]), JSON.stringify(value))
  })

test('$retainKeys in a struct', () => {
  const document = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } }
  assert.deepEqual(patched(document, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }), {
    spec: { strategy: { type: 'Recreate' } },
  })
})

const invalid: readonly (readonly [name: string, patch: Plain, kind: PatchErrorKind])[] = [
  [
    '$setElementOrder without a patched item',
    inPod({ '$setElementOrder/containers': [{ name: 'one' }], containers: [{ name: 'five' }] }),
    'malformed',
  ],
  ['$setElementOrder that is not a list', inPod({ '$setElementOrder/containers': 'one' }), 'malformed'],
  ['$setElementOrder without a target', inPod({ $setElementOrder: [] }), 'malformed'],
  ['$retainKeys without a patched member', { spec: { strategy: { $retainKeys: ['type'], rollingUpdate: {} } } }, 'malformed'],
  ['$retainKeys that is not a list', { spec: { strategy: { $retainKeys: 'type' } } }, 'malformed'],
  ['unknown $patch directive in a map', { metadata: { labels: { $patch: 'explode' } } }, 'malformed'],
  ['$patch: merge in a map', { metadata: { labels: { $patch: 'merge' } } }, 'malformed'],
  ['unknown $patch directive in a list', inPod({ containers: [{ $patch: 'explode', name: 'one' }] }), 'malformed'],
  ['item without its merge key', inPod({ containers: [{ image: 'i' }] }), 'unprocessable'],
  ['$patch: delete without the merge key', inPod({ containers: [{ $patch: 'delete', image: 'i' }] }), 'unprocessable'],
  ['a scalar among objects', inPod({ containers: ['one'] }), 'unprocessable'],
  ['a list in a list', inPod({ containers: [['one']] }), 'unprocessable'],
  ['$setElementOrder item without its merge key', inPod({ '$setElementOrder/containers': [{ image: 'i' }] }), 'unprocessable'],
  ['$setElementOrder scalar among objects', inPod({ '$setElementOrder/containers': ['one'] }), 'unprocessable'],
  ['$setElementOrder of objects without a merge key', inPod({ '$setElementOrder/tolerations': [{ key: 'x' }] }), 'unprocessable'],
  ['$deleteFromPrimitiveList of a scalar among objects', inPod({ '$deleteFromPrimitiveList/containers': ['one'] }), 'unprocessable'],
  ['$deleteFromPrimitiveList that is not a list', { metadata: { '$deleteFromPrimitiveList/finalizers': 'e/b' } }, 'malformed'],
]

for (const [name, patch, kind] of invalid)
  test(`invalid patch: ${name}`, () => {
    assert.throws(
      () => patched(strategicMergePatch(start, { spec: { strategy: { type: 'x' } } }, deployment), patch),
      (thrown) => thrown instanceof PatchError && thrown.kind === kind,
    )
  })

test('$setElementOrder with a null list is rejected, and $deleteFromPrimitiveList ignores objects', () => {
  const inSpec = { '$setElementOrder/containers': [{ name: 'one' }], containers: null }
  assert.throws(
    () => patched(start, inPod(inSpec)),
    (thrown) => thrown instanceof PatchError && thrown.kind === 'malformed',
  )
  const kept = patched(start, inPod({ '$deleteFromPrimitiveList/imagePullSecrets': [{ name: 'p' }] }))
  assert.deepEqual(podOf(kept)['imagePullSecrets'], [{ name: 'p' }])
})

test('a patch may merge into the same item repeatedly, up to a limit', () => {
  const repeats = (count: number): Plain => inPod({ containers: Array.from({ length: count }, (_, i) => ({ name: 'one', [`f${i}`]: i })) })
  const [first] = podOf(patched(start, repeats(50)))['containers'] as Plain[]
  assert.equal(first?.['f49'], 49)
  assert.throws(
    () => patched(start, repeats(500)),
    (thrown) => thrown instanceof PatchError && thrown.kind === 'unprocessable',
  )
  const deleted = patched(start, inPod({ containers: Array.from({ length: 5000 }, () => ({ name: 'one', $patch: 'delete' })) }))
  assert.deepEqual(
    (podOf(deleted)['containers'] as Plain[]).map(({ name }) => name),
    ['two'],
  )
})
