// An object whose encoding is being committed: watchers of the commit and its writer read it back and do not parse the bytes.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { type ApiObject, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { readValue } from '@cluster-apiserver/api/schema/json/read.js'
import { readBackFields } from '@cluster-apiserver/api/schema/json/read-back.js'

type EncodedKind = Pick<Resource, 'storedSchema' | 'storedApiVersion' | 'conversion'>

/** True if both decode entries to the same objects. */
export const isDecodedAlike = (a: EncodedKind, b: EncodedKind): boolean =>
  a.storedSchema === b.storedSchema && a.storedApiVersion === b.storedApiVersion && a.conversion?.convert === b.conversion?.convert

export class EncodedObject {
  readonly #kind: EncodedKind
  #object: ApiObject | undefined
  #decoded: ApiObject | undefined

  constructor(kind: EncodedKind, object: ApiObject) {
    this.#kind = kind
    this.#object = object
  }

  /** Returns what parsing the bytes would give; undefined if they must be parsed. `hasNulls`: the bytes may have null fields. */
  decode(kind: EncodedKind, { resourceVersion, hasNulls }: { resourceVersion: string; hasNulls: boolean }): ApiObject | undefined {
    if (!isDecodedAlike(kind, this.#kind)) return undefined
    if (this.#object !== undefined) {
      this.#decoded = withMetadata(readBack(kind, this.#object, hasNulls), { resourceVersion })
      this.#object = undefined
    }
    return this.#decoded
  }
}

/** Objects by the bytes of their commits, as long as these run: later the bytes may live much longer than the objects. */
export const committing = new WeakMap<Buffer, EncodedObject>()

function readBack({ storedSchema }: EncodedKind, object: ApiObject, hasNulls: boolean): ApiObject {
  const parsed = readBackFields(storedSchema, object)
  return (hasNulls ? readValue(storedSchema, parsed).value : parsed) as ApiObject
}
