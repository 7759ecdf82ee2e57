// Worst-case patches of every type, on objects of the same size.

import { invalid } from '../../packages/api/src/api/api-error.js'
import { validateLabelSelector } from '../../packages/api/src/api/validation/label-selector.js'
import { type Json, jsonPatch } from '../../packages/api/src/patch/json-patch/json-patch.js'
import type { ManagedFieldsEntry } from '../../packages/api/src/patch/managed-fields/managed-fields-entries.js'
import { trackUpdate } from '../../packages/api/src/patch/managed-fields/track-update.js'
import { mergePatch } from '../../packages/api/src/patch/merge-patch.js'
import { type ApplyInput, apply } from '../../packages/api/src/patch/server-side-apply/apply.js'
import { strategicMergePatch } from '../../packages/api/src/patch/strategic-merge-patch/strategic-merge-patch.js'
import { deploymentSchema as schema } from './body-shapes.js'
import { attempt, countFor, fill, listOf, maxBodyBytes, recordOf, type Shape } from './shape.js'

const patchShape = (subject: string, name: string, prepare: (bytes: number) => () => unknown): Shape => ({
  subject,
  name,
  maxBytes: maxBodyBytes,
  prepare: (bytes) => {
    const act = prepare(bytes)
    return () => attempt(act)
  },
})

type Make = (bytes: number) => { readonly document: Json; readonly patch: Json }

const jsonShape = (name: string, make: Make): Shape =>
  patchShape('JSON patch', name, (bytes) => {
    const { document, patch } = make(bytes)
    return () => jsonPatch(document, patch)
  })

/** Operations of about `n` bytes in total, at most 10,000, the limit of a JSON patch. */
const operations = (n: number, make: (index: number) => Json): Json => listOf(Math.min(10_000, countFor(n, 40)), make)
const numbers = (n: number): Json => ({ list: listOf(countFor(n, 2), () => 1) })
const members = (n: number): Json => ({ data: recordOf(countFor(n, 12), (i) => [`k${i}`, 'v']) })

const jsonShapes: readonly Shape[] = [
  jsonShape('inserts at the head', (n) => ({
    document: numbers(n),
    patch: operations(n, () => ({ op: 'add', path: '/list/0', value: 2 })),
  })),
  jsonShape('inserts at the end', (n) => ({
    document: numbers(n),
    patch: operations(n, () => ({ op: 'add', path: '/list/-', value: 2 })),
  })),
  jsonShape('removals at the head', (n) => ({ document: numbers(n), patch: operations(n, () => ({ op: 'remove', path: '/list/0' })) })),
  jsonShape('moves in a list', (n) => ({
    document: numbers(n),
    patch: operations(n, () => ({ op: 'move', from: '/list/0', path: '/list/1' })),
  })),
  jsonShape('members', (n) => ({
    document: members(n),
    patch: operations(n, (i) => ({ op: 'add', path: `/data/n${i}`, value: 'v' })),
  })),
  jsonShape('removals of members', (n) => ({
    document: members(n),
    patch: operations(n, (i) => ({ op: 'remove', path: `/data/k${i}` })),
  })),
  jsonShape('tests', (n) => ({ document: members(n), patch: operations(n, () => ({ op: 'test', path: '/data/k0', value: 'v' })) })),
  jsonShape('copies', (n) => ({ document: members(n), patch: operations(n, (i) => ({ op: 'copy', from: '/data', path: `/c${i}` })) })),
  jsonShape('increasing depth', (n) => ({
    document: { x0: {} },
    patch: listOf(Math.min(5000, countFor(n, 80)), (i) => [
      { op: 'add', path: `/x${i + 1}`, value: {} },
      { op: 'move', from: `/x${i}`, path: `/x${i + 1}/in` },
    ]).flat(),
  })),
  jsonShape('a long path', (n) => ({ document: {}, patch: [{ op: 'add', path: fill('/a', n), value: 1 }] })),
  jsonShape('a long name', (n) => ({ document: {}, patch: [{ op: 'remove', path: `/${fill('~1', n)}` }] })),
  jsonShape('a large value', (n) => ({ document: {}, patch: [{ op: 'add', path: '/a', value: members(n) }] })),
]

/** From this size, V8 keeps objects in dictionary mode. */
const dictionaryModeBytes = 16_384

const mergeShape = (name: string, make: Make): Shape => ({
  ...patchShape('merge patch', name, (bytes) => {
    const { document, patch } = make(bytes)
    return () => mergePatch(document, patch)
  }),
  settledBytes: dictionaryModeBytes,
})

const nested = (depth: number, value: Json): Json => (depth === 0 ? value : { a: nested(depth - 1, value) })

const mergeShapes: readonly Shape[] = [
  mergeShape('many members', (n) => ({ document: members(n), patch: { data: recordOf(countFor(n, 12), (i) => [`n${i}`, 'v']) } })),
  mergeShape('removals', (n) => ({ document: members(n), patch: { data: recordOf(countFor(n, 12), (i) => [`k${i}`, null]) } })),
  mergeShape('deep', (n) => ({ document: nested(900, members(n)), patch: nested(900, members(n)) })),
]

const strategicShape = (name: string, make: Make, settledBytes?: number): Shape => ({
  ...patchShape('strategic merge patch', name, (bytes) => {
    const { document, patch } = make(bytes)
    return () => strategicMergePatch(document as object, patch as object, schema)
  }),
  ...(settledBytes === undefined ? {} : { settledBytes }),
})

/** From this size, the limit of merges into one item is exhausted. */
const exhaustedBytes = 32_768

const finalizers = (n: number, prefix = 'e'): Json => ({ metadata: { finalizers: listOf(countFor(n, 10), (i) => `${prefix}/${i}`) } })
const inPod = (spec: Json): Json => ({ spec: { template: { spec } } })
const containers = (n: number, make: (index: number) => Json = (i) => ({ name: `c${i}`, image: 'i' })): Json =>
  inPod({ containers: listOf(countFor(n, 30), make) })

const strategicShapes: readonly Shape[] = [
  strategicShape('finalizers', (n) => ({ document: finalizers(n), patch: finalizers(n, 'f') })),
  strategicShape('finalizers deleted', (n) => ({
    document: finalizers(n),
    patch: { metadata: { '$deleteFromPrimitiveList/finalizers': listOf(countFor(n, 10), (i) => `e/${i}`) } },
  })),
  strategicShape('containers', (n) => ({ document: containers(n), patch: containers(n, (i) => ({ name: `c${i * 2}`, image: 'j' })) })),
  strategicShape('containers deleted', (n) => ({
    document: containers(n),
    patch: containers(n, (i) => ({ name: `c${i}`, $patch: 'delete' })),
  })),
  strategicShape(
    'one container many times',
    (n) => ({
      document: containers(n),
      patch: containers(n, (i) => ({ name: 'c0', [`f${i}`]: i })),
    }),
    exhaustedBytes,
  ),
  strategicShape(
    'one list many times',
    (n) => ({
      document: containers(n),
      patch: containers(n, (i) => ({ name: 'c0', env: [{ name: `e${i}` }] })),
    }),
    exhaustedBytes,
  ),
  strategicShape('$setElementOrder', (n) => ({
    document: containers(n),
    patch: inPod({ '$setElementOrder/containers': listOf(countFor(n, 30), (i) => ({ name: `c${countFor(n, 30) - i}` })), containers: [] }),
  })),
  strategicShape(
    'labels',
    (n) => ({
      document: { metadata: { labels: recordOf(countFor(n, 12), (i) => [`k${i}`, 'v']) } },
      patch: { metadata: { labels: recordOf(countFor(n, 12), (i) => [`n${i}`, 'v']) } },
    }),
    dictionaryModeBytes,
  ),
  strategicShape('$retainKeys', (n) => ({
    document: { spec: { strategy: { type: 'a' } } },
    patch: { spec: { strategy: { $retainKeys: listOf(countFor(n, 12), (i) => `k${i}`), type: 'x' } } },
  })),
]

const time = '2030-01-01T00:00:00Z'
const kind = { kind: 'Deployment', apiVersion: 'apps/v1', schema }
const named = (object: Json): Json => ({ apiVersion: 'apps/v1', kind: 'Deployment', ...(object as object) })
const entryOf = (entry: Partial<ManagedFieldsEntry>): ManagedFieldsEntry => ({
  manager: 'm',
  operation: 'Update',
  apiVersion: 'apps/v1',
  time,
  fieldsType: 'FieldsV1',
  ...entry,
})

const applyInput = (live: object | undefined, config: Json, liveManagedFields: ApplyInput['liveManagedFields']): ApplyInput => ({
  ...kind,
  ...{ manager: 'n', force: false, subresource: '', time },
  live,
  config: named(config),
  liveManagedFields,
})

interface ApplyTwice {
  readonly first: Json
  readonly second: Json
  /** Field manager of the first apply, if different. */
  readonly manager?: string
}

const applyShape = (name: string, make: (bytes: number) => ApplyTwice, settledBytes = 12_288): Shape => ({
  ...patchShape('apply', name, (bytes) => {
    const { first, second, manager = 'n' } = make(bytes)
    const applied = apply({ ...applyInput(undefined, first, undefined), manager })
    const input = applyInput(applied.object, second, applied.managedFields)
    return () => apply(input)
  }),
  settledBytes,
})

/** From this size, there are more item names than the cache keeps (1,000). */
const uncachedItemsBytes = 32_768

const labels = (n: number, value: string, prefix = 'k'): Json => ({
  metadata: { labels: recordOf(countFor(n, 12), (i) => [`${prefix}${i}`, value]) },
})

const applyShapes: readonly Shape[] = [
  applyShape('changed labels', (n) => ({ first: labels(n, 'a'), second: labels(n, 'b') })),
  applyShape('removed labels', (n) => ({ first: labels(n, 'a'), second: labels(n, 'a', 'other') })),
  applyShape('conflicts', (n) => ({ first: labels(n, 'a'), second: labels(n, 'b'), manager: 'other' })),
  applyShape('long names in conflict', (n) => ({
    first: { metadata: { labels: { [fill('x', n)]: 'a' } } },
    second: { metadata: { labels: { [fill('x', n)]: 'b' } } },
    manager: 'other',
  })),
  applyShape(
    'containers that change',
    (n) => ({ first: containers(n), second: containers(n, (i) => ({ name: `c${i}`, image: 'j' })) }),
    uncachedItemsBytes,
  ),
  applyShape(
    'containers that are replaced',
    (n) => ({
      first: containers(n),
      second: containers(n, (i) => ({ name: `d${i}`, image: 'j' })),
    }),
    uncachedItemsBytes,
  ),
  applyShape(
    'containers in another order',
    (n) => ({
      first: containers(n),
      second: containers(n, (i) => ({ name: `c${countFor(n, 30) - 1 - i}`, image: 'i' })),
    }),
    uncachedItemsBytes,
  ),
  applyShape('finalizers', (n) => ({ first: finalizers(n), second: finalizers(n, 'f') })),
  applyShape('unknown fields', (n) => ({ first: {}, second: recordOf(countFor(n, 12), (i) => [`odd${i}`, 1]) as Json })),
  applyShape('values of a wrong type', (n) => ({
    first: {},
    second: { metadata: { labels: recordOf(countFor(n, 12), (i) => [`k${i}`, []]) } },
  })),
  applyShape('the same container', (n) => ({ first: {}, second: containers(n, () => ({ name: 'c' })) })),
]

const fieldsShape = (name: string, make: (bytes: number) => readonly ManagedFieldsEntry[]): Shape =>
  patchShape('managed fields', name, (bytes) => {
    const sentManagedFields = make(bytes)
    const request = { manager: 'n', subresource: '', time, liveManagedFields: undefined }
    const live = { metadata: { labels: { a: '1' } } }
    const input = { ...kind, ...request, live, next: { metadata: { labels: { a: '2' } } }, sentManagedFields }
    return () => trackUpdate(input)
  })

const inLabels = (fields: { readonly [name: string]: unknown }): readonly ManagedFieldsEntry[] => [
  entryOf({ fieldsV1: { 'f:metadata': { 'f:labels': fields } } }),
]

/** Ten managers are kept and the oldest others are merged, so the work is constant from the eleventh on. */
const manyUpdatersBytes = 4096

const fieldsShapes: readonly Shape[] = [
  fieldsShape('fields', (n) => inLabels(recordOf(countFor(n, 16), (i) => [`f:k${i}`, {}]))),
  fieldsShape('keys', (n) => inLabels(recordOf(countFor(n, 24), (i) => [`k:{"name":"${(i * 7919) % 99_991}-${i}"}`, {}]))),
  fieldsShape('keys of many members', (n) =>
    inLabels(recordOf(countFor(n, 48), (i) => [`k:{"protocol":"TCP","port":${(i * 7919) % 99_991},"a":${i}}`, {}])),
  ),
  fieldsShape('values', (n) => inLabels(recordOf(countFor(n, 16), (i) => [`v:"${(i * 7919) % 99_991}-${i}"`, {}]))),
  fieldsShape('positions', (n) => inLabels(recordOf(countFor(n, 12), (i) => [`i:${(i * 7919) % 99_991}`, {}]))),
  fieldsShape('a long name', (n) => inLabels({ [`f:${fill('x', n)}`]: {} })),
  fieldsShape('unknown path elements', (n) => inLabels(recordOf(countFor(n, 12), (i) => [`z:${i}`, {}]))),
  {
    ...fieldsShape('updaters', (n) =>
      listOf(countFor(n, 160), (i) => entryOf({ manager: `m${i}`, fieldsV1: { 'f:metadata': { 'f:labels': { [`f:k${i}`]: {} } } } })),
    ),
    settledBytes: manyUpdatersBytes,
  },
  fieldsShape('appliers', (n) =>
    listOf(countFor(n, 160), (i) => entryOf({ manager: `m${i}`, operation: 'Apply', fieldsV1: { 'f:data': { [`f:k${i}`]: {} } } })),
  ),
  fieldsShape('one updater many times', (n) =>
    listOf(countFor(n, 160), (i) => entryOf({ fieldsV1: { 'f:metadata': { 'f:labels': { [`f:k${i}`]: {} } } } })),
  ),
  fieldsShape('deep', (n) => {
    let fields: object = {}
    for (let depth = 0; depth < 200; depth++) fields = { 'f:a': fields }
    return listOf(countFor(n, 1200), (i) => entryOf({ manager: `m${i}`, operation: 'Apply', fieldsV1: fields }))
  }),
]

const selectorShape = (name: string, make: (bytes: number) => Parameters<typeof validateLabelSelector>[0]): Shape =>
  patchShape('validation', name, (bytes) => {
    const selector = make(bytes)
    return () => invalid({ group: 'apps', kind: 'Deployment' }, 'a', validateLabelSelector(selector, 'spec.selector'))
  })

const validationShapes: readonly Shape[] = [
  selectorShape('requirements', (n) => ({
    matchExpressions: listOf(countFor(n, 50), (i) => ({ key: `k${i}`, operator: 'In', values: ['v'] })),
  })),
  selectorShape('bad requirements', (n) => ({
    matchExpressions: listOf(countFor(n, 50), (i) => ({ key: `-k${i}`, operator: 'Nope', values: ['-'] })),
  })),
  selectorShape('bad values', (n) => ({
    matchExpressions: [{ key: 'k', operator: 'In', values: listOf(countFor(n, 10), (i) => `-${i}`) }],
  })),
  selectorShape('long bad values', (n) => ({
    matchExpressions: [{ key: 'k', operator: 'In', values: listOf(countFor(n, 3000), (i) => `-${i}${'x'.repeat(3000)}`) }],
  })),
  selectorShape('bad labels', (n) => ({ matchLabels: recordOf(countFor(n, 16), (i) => [`-k${i}`, '-v']) })),
  selectorShape('a long bad label', (n) => ({ matchLabels: { [`${fill('a.', n / 2)}-`]: fill('a-', n / 2) } })),
]

export const patchShapes: readonly Shape[] = [
  ...jsonShapes,
  ...mergeShapes,
  ...strategicShapes,
  ...applyShapes,
  ...fieldsShapes,
  ...validationShapes,
]
