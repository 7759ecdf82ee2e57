// Runs the storage contract (tests of every engine) with the LMDB engine.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { storageContract } from '../contract/storage.contract.js'
import { openLmdbStorage } from './lmdb-storage.js'

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
