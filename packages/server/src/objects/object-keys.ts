// Storage keys: `<collection>/<namespace>/<name>`, or `<collection>/<name>` for cluster-scoped kinds. Also keys of values that only one
// object may have: `unique.<kind>/<value>`.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { maxKeyBytes } from '../storage/collections.js'
import type { KeyRange, Write } from '../storage/storage.js'

/** toWellFormed: JSON can contain half a surrogate pair, which UTF-8 cannot. */
export const keyOf = (resource: Resource, namespace: string, name: string): string =>
  (resource.namespaced ? `${resource.collection}/${namespace}/${name}` : `${resource.collection}/${name}`).toWellFormed()

/** Limit for names of kinds without their own limit. */
export const maxNameBytes = (resource: Resource, namespace: string): number =>
  maxKeyBytes - Buffer.byteLength(keyOf(resource, namespace, ''))

export const keyAt = ({ resource, namespace, name }: { readonly resource: Resource } & KeyParts): string => keyOf(resource, namespace, name)

/** All keys of a collection, or of one namespace in it. `0` follows `/` in byte order. */
export const rangeOf = (resource: Resource, namespace: string): KeyRange =>
  resource.namespaced && namespace !== ''
    ? { start: `${resource.collection}/${namespace}/`, end: `${resource.collection}/${namespace}0` }
    : { start: `${resource.collection}/`, end: `${resource.collection}0` }

export interface KeyParts {
  readonly namespace: string
  readonly name: string
}

export function partsOf(resource: Resource, key: string): KeyParts {
  const rest = key.slice(resource.collection.length + 1)
  if (!resource.namespaced) return { namespace: '', name: rest }
  const slash = rest.indexOf('/')
  return { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) }
}

export const keyAfter = (key: string): string => `${key}\0`

/** Remembers the last result: consecutive keys are mostly of one collection. */
export function collectionOf(key: string): string {
  if (key.charCodeAt(lastCollection.length) !== slash || !key.startsWith(lastCollection)) lastCollection = key.slice(0, key.indexOf('/'))
  return lastCollection
}

const slash = 0x2f
let lastCollection = ''

/** A value that only one object may have, such as the cluster IP of a Service; stored under its own key. */
export interface UniqueKey {
  readonly kind: string
  readonly value: string
}

export const storageKeyOf = ({ kind, value }: UniqueKey): string => `unique.${kind}/${value}`

export interface UniqueKeyChanges {
  readonly gained: readonly UniqueKey[]
  readonly released: readonly UniqueKey[]
}

export const noUniqueKeys: UniqueKeyChanges = { gained: [], released: [] }

export const isNoChange = ({ gained, released }: UniqueKeyChanges): boolean => gained.length === 0 && released.length === 0

/** Writes of unique keys, for the commit of their object. */
export const writesOf = (owner: string, { gained, released }: UniqueKeyChanges): readonly Write[] => [
  ...gained.map((uniqueKey) => ({ key: storageKeyOf(uniqueKey), value: Buffer.from(owner), expect: 0 })),
  ...released.map((uniqueKey) => ({ key: storageKeyOf(uniqueKey), value: undefined, expect: undefined })),
]
