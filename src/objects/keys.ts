// Where objects lie in the store: `<collection>/<namespace>/<name>`, or `<collection>/<name>` without a namespace.
// The order of keys is the order of lists.

import type { Resource } from '../api/catalog.js'
import { longestKeyBytes } from '../storage/key-order.js'
import type { KeyRange } from '../storage/storage.js'

/** Half of a surrogate pair, which JSON can spell, becomes what it is in the bytes of the object. */
export const keyOf = (resource: Resource, namespace: string, name: string): string =>
  (resource.namespaced ? `${resource.collection}/${namespace}/${name}` : `${resource.collection}/${name}`).toWellFormed()

/** How many bytes the name of an object may have where its kind sets no bound. */
export const mostNameBytes = (resource: Resource, namespace: string): number =>
  longestKeyBytes - Buffer.byteLength(keyOf(resource, namespace, ''))

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

/** Namespace and name of a key of this collection. */
export function partsOf(resource: Resource, key: string): KeyParts {
  const rest = key.slice(resource.collection.length + 1)
  if (!resource.namespaced) return { namespace: '', name: rest }
  const slash = rest.indexOf('/')
  return { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) }
}

/** The least key after this one. */
export const keyAfter = (key: string): string => `${key}\0`

/** Everybody who hears of a change asks, and the next change is mostly one of the same collection: whose text has its hash already. */
export function collectionOf(key: string): string {
  if (key.charCodeAt(latest.length) !== slash || !key.startsWith(latest)) latest = key.slice(0, key.indexOf('/'))
  return latest
}

const slash = 0x2f
let latest = ''
