// Scripted source of lists and watches for tests of reflector, watch and informer.

import { ConnectionError, StatusError } from '../errors.js'
import type { ApiObject, ObjectList, WatchEvent } from '../objects/objects.js'
import type { Watchable } from './reflector.js'
import { makeEvent } from './watch-event.js'

export interface Thing extends ApiObject {
  readonly size?: number
}

export const thing = (name: string, resourceVersion: number, fields: { readonly uid?: string; readonly size?: number } = {}): Thing => ({
  metadata: { name, uid: fields.uid ?? name, resourceVersion: String(resourceVersion) },
  ...(fields.size === undefined ? {} : { size: fields.size }),
})
export const bookmark = (version: number): WatchEvent<Thing> => makeEvent('BOOKMARK', { metadata: { resourceVersion: String(version) } })
export const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Thing): WatchEvent<Thing> => makeEvent(type, object)
export const expired = new StatusError({ code: 410, reason: 'Expired', message: 'too old' })
export const tooLarge = new StatusError({
  code: 504,
  reason: 'Timeout',
  message: 'Timeout: Too large resource version: 99, current: 5',
  details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
})
export const broken = new ConnectionError('it broke')

interface ScriptedWatch {
  readonly events: readonly WatchEvent<Thing>[]
  readonly failure?: Error
}

export class ScriptedSource implements Watchable<Thing> {
  readonly requests: string[] = []
  private readonly lists: (ObjectList<Thing> | Error)[]
  private readonly watches: (ScriptedWatch | Error)[]

  constructor(lists: readonly (ObjectList<Thing> | Error)[], watches: readonly (ScriptedWatch | Error)[]) {
    this.lists = [...lists]
    this.watches = [...watches]
  }

  async list(options: { readonly continue?: string }): Promise<ObjectList<Thing>> {
    this.requests.push(options.continue === undefined ? 'list' : `list ${options.continue}`)
    const next = this.lists.shift()
    if (next === undefined) throw new Error('unexpected list')
    if (next instanceof Error) throw next
    return next
  }

  async openWatch({ resourceVersion, signal }: { readonly resourceVersion?: string; readonly signal?: AbortSignal }) {
    signal?.throwIfAborted()
    this.requests.push(`watch ${resourceVersion}`)
    const next = this.watches.shift()
    if (next instanceof Error) throw next
    return replay(next, signal)
  }
}

async function* replay(script: ScriptedWatch | undefined, signal: AbortSignal | undefined): AsyncGenerator<readonly WatchEvent<Thing>[]> {
  if (script === undefined) {
    signal?.throwIfAborted()
    await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))
    return
  }
  if (script.events.length > 0) yield script.events
  if (script.failure !== undefined) throw script.failure
}

export const listOf = (version: number, ...items: readonly Thing[]): ObjectList<Thing> => ({
  metadata: { resourceVersion: String(version) },
  items,
})
export const backOff = { firstMs: 1, maxMs: 5 }
