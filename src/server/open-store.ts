// The storage that was chosen, with the history that is kept of it, and the objects in it.

import { steadyClock } from '../base/clock.js'
import { ObjectStore } from '../objects/object-store.js'
import { keepHistory } from '../storage/history-window.js'
import type { Storage } from '../storage/storage.js'
import { openStorage } from './open-storage.js'
import type { Opening } from './opening.js'
import { machineBytes, readCacheBytesOn } from './read-cache.js'

export interface OpenStore {
  readonly storage: Storage
  readonly store: ObjectStore
}

export async function openStore({ settings, logger, closing, signal }: Opening): Promise<OpenStore> {
  const storage = await openStorage(settings, logger, signal)
  closing.add(() => storage.close())
  const history = keepHistory({ storage, clock: steadyClock, intervalMs: settings.historyMs, logger })
  closing.add(() => history.close())
  const store = new ObjectStore({
    storage,
    clock: steadyClock,
    readCacheBytes: readCacheBytesOn(machineBytes(), settings.readCacheBytes),
    eventTtlSeconds: settings.eventTtlSeconds,
  })
  closing.add(() => store.close())
  return { storage, store }
}
