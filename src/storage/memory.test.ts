// The memory engine keeps the storage contract.

import { openMemoryStorage } from './memory.js'
import { storageContract } from './storage.contract.js'

storageContract('memory', async () => {
  const storage = openMemoryStorage()
  return { storage, close: () => storage.close() }
})
