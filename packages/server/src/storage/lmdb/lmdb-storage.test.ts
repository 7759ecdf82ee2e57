// The LMDB engine keeps the storage contract.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { openLmdbStorage } from './lmdb.js'
import { storageContract } from './storage.contract.js'

storageContract('lmdb', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'storage-'))
  const open = () => openLmdbStorage({ folder, mark: 'test', clock: systemClock, logger: silentLogger })
  let storage = await open()
  return {
    storage,
    async reopen() {
      await storage.close()
      storage = await open()
      return storage
    },
    async close() {
      await storage.close()
      rmSync(folder, { recursive: true })
    },
  }
})
