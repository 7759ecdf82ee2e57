// The engine that the settings name, opened.

import { join } from 'node:path'
import { steadyClock } from '../base/clock.js'
import type { Logger } from '../base/logger.js'
import type { Storage } from '../storage/storage.js'
import type { Settings } from './options/settings.js'
import { StartError } from './start-failure.js'

export async function openStorage(settings: Settings, logger: Logger): Promise<Storage> {
  if (settings.storage === 'memory') {
    const { openMemoryStorage } = await import('../storage/memory.js')
    return openMemoryStorage({ clock: steadyClock })
  }
  if (settings.dataDir === undefined) throw new StartError('--data-dir: a durable store needs a folder')
  const { openLmdbStorage } = await import('../storage/lmdb.js')
  return openLmdbStorage({ folder: join(settings.dataDir, 'store'), mark: settings.identity.name, clock: steadyClock, logger })
}
