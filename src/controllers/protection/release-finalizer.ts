// A finalizer of the server's own on a volume or claim: it is there while the object is not deleted, and goes when nobody uses the object any more.

import { ApiError } from '../../api/api-error.js'
import type { ApiObject } from '../../api/object.js'
import type { ObjectAddress } from '../../objects/object-store.js'
import type { Engine } from '../../verbs/engine.js'
import { patchOwn } from '../own-write.js'

export interface Protected {
  readonly address: ObjectAddress
  /** As it was looked at. */
  readonly metadata: ApiObject['metadata']
  readonly finalizer: string
}

/** Whoever deletes something, or takes its finalizers away, has a moment before it is seen to: it may be the first of several steps. */
export const graceMs = 500

/** Puts the finalizer on an object that has not got it. */
export async function protect(engine: Engine, { address, metadata, finalizer }: Protected): Promise<void> {
  const { finalizers = [] } = metadata ?? {}
  if (!finalizers.includes(finalizer)) await write(engine, { address, metadata, finalizers: [...finalizers, finalizer] })
}

/** Takes it away, whoever else holds the object. */
export async function release(engine: Engine, { address, metadata, finalizer }: Protected): Promise<void> {
  const { finalizers = [] } = metadata ?? {}
  if (!finalizers.includes(finalizer)) return
  await write(engine, { address, metadata, finalizers: finalizers.filter((name) => name !== finalizer) })
}

interface Rewrite extends Pick<Protected, 'address' | 'metadata'> {
  readonly finalizers: readonly string[]
}

async function write(engine: Engine, { address, metadata, finalizers }: Rewrite): Promise<void> {
  const { uid = '', resourceVersion = '' } = metadata ?? {}
  try {
    await patchOwn(engine, address, { metadata: { uid, resourceVersion, finalizers } })
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status.code !== 404) throw thrown
  }
}
