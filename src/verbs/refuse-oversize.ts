// The bound on what is stored of one object: without it the owners of its fields make it longer with every manager that applies the same again.

import { requestEntityTooLarge } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { ApiObject } from '../api/object.js'
import { maxObjectBytes, objectHeadroomBytes } from '../base/most-body-bytes.js'
import type { StoredObject } from '../objects/stored-object.js'
import type { Engine } from './engine.js'

export interface Oversize {
  readonly next: ApiObject
  /** What it is encoded as. */
  readonly value: Buffer
  /** What is there now. */
  readonly old?: { readonly stored: StoredObject; readonly live: ApiObject }
}

/** What is too large already may become smaller, or stay as large as it is. A deletion does not ask. */
export function refuseOversize(engine: Engine, call: Call, { next, value, old }: Oversize): void {
  const bytes = value.length
  if (bytes <= maxObjectBytes) return
  const mostBytes = maxObjectBytes + (hasHeadroom(call, old?.live) ? objectHeadroomBytes : 0)
  if (bytes <= mostBytes) return
  // It may have been written in another form or version, which would take more or less today.
  if (old !== undefined && bytes <= Math.max(old.stored.entry.value.length, engine.store.encode(call.resource, old.live).length)) return
  const owners = Buffer.byteLength(JSON.stringify(next.metadata?.managedFields ?? []))
  throw requestEntityTooLarge(
    `the object with its metadata.managedFields would have ${bytes} bytes, ${owners} of them managedFields; limit is ${mostBytes}. ` +
      'Keep less in it, or have fewer field managers: an update with managedFields: [{}] removes all of them',
  )
}

const hasHeadroom = ({ subresource }: Call, live: ApiObject | undefined): boolean =>
  live !== undefined && (subresource !== undefined || live.metadata?.deletionTimestamp !== undefined)
