// Values of which only one object may have each: an address, a port. A unique key is a key of its own in the store, written together with the object
// that holds it, so that no value is ever held twice, by whichever server and across any crash.

import type { Write } from '../storage/storage.js'

export interface UniqueKey {
  /** Such as `service-addresses`. */
  readonly kind: string
  readonly value: string
}

export const storageKeyOf = ({ kind, value }: UniqueKey): string => `unique.${kind}/${value}`

/** What a write takes and gives back. */
export interface UniqueKeyChanges {
  readonly gained: readonly UniqueKey[]
  readonly released: readonly UniqueKey[]
}

export const noUniqueKeys: UniqueKeyChanges = { gained: [], released: [] }

export const isNothing = ({ gained, released }: UniqueKeyChanges): boolean => gained.length === 0 && released.length === 0

/** For one object, which is written in the same commit. */
export const writesOf = (owner: string, { gained, released }: UniqueKeyChanges): readonly Write[] => [
  ...gained.map((uniqueKey) => ({ key: storageKeyOf(uniqueKey), value: Buffer.from(owner), expect: 0 })),
  ...released.map((uniqueKey) => ({ key: storageKeyOf(uniqueKey), value: undefined, expect: undefined })),
]
