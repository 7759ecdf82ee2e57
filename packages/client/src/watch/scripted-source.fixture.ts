// A source of lists and watches that does as it is told, for tests of what follows them.

import { ConnectionError, StatusError } from './errors.js'
import type { ApiObject, ObjectList, WatchEvent } from './objects.js'
import type { Watchable } from './reflect.js'
import { makeEvent } from './watch-event.js'

export interface Thing extends ApiObject {
  readonly size?: number
}

export const thing = (name: string, resourceVersion: number, more: { readonly uid?: string; readonly size?: number } = {}): Thing => ({
  metadata: { name, uid: more.uid ?? name, resourceVersion: String(resourceVersion) },
  ...(more.size === undefined ? {} : { size: more.size }),
})
export const bookmark = (version: number): WatchEvent<Thing> => makeEvent('BOOKMARK', { metadata: { resourceVersion: String(version) } })
export const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Thing): WatchEvent<Thing> => makeEvent(type, object)
export const gone = new StatusError({ code: 410, reason: 'Expired', message: 'too old' })
export const tooLarge = new StatusError({
  code: 504,
  reason: 'Timeout',
  message: 'Timeout: Too large resource version: 99, current: 5',
  details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
})
export const broken = new ConnectionError('it broke')

/** What a watch gives: events, then an error or its end. */
export interface Stretch {
  readonly events: readonly WatchEvent<Thing>[]
  readonly failure?: Error
}

/** Lists and watches in the order of a script; the last watch stays open. */
export class Script implements Watchable<Thing> {
  readonly asked: string[] = []
  private readonly lists: (ObjectList<Thing> | Error)[]
  private readonly watches: (Stretch | Error)[]

  constructor(lists: readonly (ObjectList<Thing> | Error)[], watches: readonly (Stretch | Error)[]) {
    this.lists = [...lists]
    this.watches = [...watches]
  }

  async list(options: { readonly continue?: string }): Promise<ObjectList<Thing>> {
    this.asked.push(options.continue === undefined ? 'list' : `list ${options.continue}`)
    const next = this.lists.shift()
    if (next === undefined) throw new Error('nobody expected another list')
    if (next instanceof Error) throw next
    return next
  }

  async openWatch({ resourceVersion, signal }: { readonly resourceVersion?: string; readonly signal?: AbortSignal }) {
    signal?.throwIfAborted()
    this.asked.push(`watch ${resourceVersion}`)
    const next = this.watches.shift()
    if (next instanceof Error) throw next
    return play(next, signal)
  }
}

async function* play(stretch: Stretch | undefined, signal: AbortSignal | undefined): AsyncGenerator<readonly WatchEvent<Thing>[]> {
  if (stretch === undefined) {
    signal?.throwIfAborted()
    await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))
    return
  }
  if (stretch.events.length > 0) yield stretch.events
  if (stretch.failure !== undefined) throw stretch.failure
}

export const listOf = (version: number, ...items: readonly Thing[]): ObjectList<Thing> => ({
  metadata: { resourceVersion: String(version) },
  items,
})
export const backOff = { firstMs: 1, mostMs: 5 }
