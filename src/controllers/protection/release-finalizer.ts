// A finalizer of the server's own on a volume or claim: it is there while the object is not deleted, and goes when nobody uses the object any more.

import { ApiError } from '../../api/api-error.js'
import type { ApiObject } from '../../api/object.js'
import type { ObjectAddress } from '../../objects/object-store.js'
import type { StoredObject } from '../../objects/stored-object.js'
import type { Engine } from '../../verbs/engine.js'
import { patch } from '../../verbs/patch.js'
import { ownCall } from '../own-call.js'

export interface Protected {
  readonly address: ObjectAddress
  readonly stored: StoredObject
  readonly finalizer: string
}

/** Whoever deletes something, or takes its finalizers away, has a moment before it is seen to: it may be the first of several steps. */
export const graceMs = 500

/** Puts the finalizer on an object that has not got it. */
export async function protect(engine: Engine, { address, stored, finalizer }: Protected): Promise<void> {
  const { finalizers = [] } = metadataOf(address, stored)
  if (!finalizers.includes(finalizer)) await write(engine, { address, stored, finalizers: [...finalizers, finalizer] })
}

/** Takes it away, whoever else holds the object. */
export async function release(engine: Engine, { address, stored, finalizer }: Protected): Promise<void> {
  const { finalizers = [] } = metadataOf(address, stored)
  if (!finalizers.includes(finalizer)) return
  await write(engine, { address, stored, finalizers: finalizers.filter((name) => name !== finalizer) })
}

const metadataOf = ({ resource }: ObjectAddress, stored: StoredObject): NonNullable<ApiObject['metadata']> =>
  stored.decode(resource).metadata ?? {}

interface Rewrite {
  readonly address: ObjectAddress
  readonly stored: StoredObject
  readonly finalizers: readonly string[]
}

async function write(engine: Engine, { address, stored, finalizers }: Rewrite): Promise<void> {
  const { uid = '' } = metadataOf(address, stored)
  try {
    await patch(engine, ownCall(engine, address), {
      type: 'merge',
      patch: { metadata: { uid, resourceVersion: stored.resourceVersion, finalizers } },
      duplicates: [],
    })
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status.code !== 404) throw thrown
  }
}
