// Opens the storage, its history compaction and the object store with its read cache.

import { totalmem } from 'node:os'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { ObjectStore } from '../objects/object-store.js'
import type { EmbeddedStorage } from '../storage/lmdb/lmdb-storage.js'
import type { InitialRows, MemoryStorage } from '../storage/memory/memory-storage.js'
import { compactPeriodically } from '../storage/periodic-compaction.js'
import type { Storage } from '../storage/storage.js'
import { openStorage } from './open-storage.js'
import type { StartContext } from './start-context.js'

interface OpenStore {
  /** The store of worker processes; only in their primary. */
  readonly shared: EmbeddedStorage | undefined
  readonly storage: Storage
  readonly memory: MemoryStorage | undefined
  readonly store: ObjectStore
}

export async function openStore(context: StartContext, catalog: Catalog): Promise<OpenStore> {
  const { settings, logger, cleanup, signal, time, testkit, from, parent, role } = context
  const initial = from === undefined ? parent?.snapshot : await importRows(from, context, catalog)
  const { storage: opened, memory, shared } = await openStorage(settings, { logger, signal, time, initial, role })
  const storage = testkit?.wrapStorage(opened) ?? opened
  cleanup.add(() => storage.close())
  if (role?.kind !== 'worker') {
    const history = compactPeriodically({ storage, timers: time.timers, intervalMs: settings.historyMs, logger })
    cleanup.add(() => history.close())
  }
  const processes = role === undefined ? 1 : settings.workers
  const store = new ObjectStore({
    storage,
    clock: time.steady,
    // Each process has a cache of its own.
    readCacheBytes: Math.floor(limitReadCache(memoryBytes(), settings.readCacheBytes) / processes),
    eventTtlSeconds: settings.eventTtlSeconds,
    processes,
  })
  cleanup.add(() => store.close())
  return { storage, memory, shared, store }
}

const importRows = async (from: string, { settings, logger, time }: StartContext, catalog: Catalog): Promise<InitialRows> =>
  (await import('./testkit/import/import-capture.js')).importInitialRows(from, { settings, logger, catalog, time })

const shareOfMemory = 1 / 8

export const limitReadCache = (memoryBytes: number, flagBytes: number): number =>
  Math.min(flagBytes, Math.floor(memoryBytes * shareOfMemory))

export function memoryBytes(): number {
  const total = totalmem()
  const constrained = process.constrainedMemory() ?? 0
  return constrained > 0 && constrained < total ? constrained : total
}
