// The engine that the settings name, opened.

import { join } from 'node:path'
import { steadyClock } from '../base/clock.js'
import type { Logger } from '../base/logger.js'
import type { Storage } from '../storage/storage.js'
import type { EtcdSettings, Settings } from './options/settings.js'
import { StartError } from './start-failure.js'

/** `signal` ends the wait for an etcd that cannot be reached. */
export async function openStorage(settings: Settings, logger: Logger, signal: AbortSignal | undefined): Promise<Storage> {
  if (settings.etcd !== undefined) return openEtcd(settings, settings.etcd, { logger, ...(signal === undefined ? {} : { signal }) })
  if (settings.storage === 'memory') {
    const { openMemoryStorage } = await import('../storage/memory.js')
    return openMemoryStorage({ clock: steadyClock })
  }
  if (settings.dataDir === undefined) throw new StartError('--data-dir: a durable store needs a folder')
  const { openLmdbStorage } = await import('../storage/lmdb.js')
  return openLmdbStorage({ folder: join(settings.dataDir, 'store'), mark: settings.identity.name, clock: steadyClock, logger })
}

async function openEtcd(
  { dataDir, identity }: Settings,
  { servers, prefix, tls, leaseReuseMs }: EtcdSettings,
  options: { readonly logger: Logger; readonly signal?: AbortSignal },
): Promise<Storage> {
  const { openEtcdStorage } = await import('../storage/etcd.js')
  return openEtcdStorage({
    endpoints: servers,
    prefix,
    mark: identity.name,
    tls,
    leaseReuseMs,
    ...(dataDir === undefined ? {} : { mirrorFolder: join(dataDir, 'mirror') }),
    clock: steadyClock,
    ...options,
  })
}
