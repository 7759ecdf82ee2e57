// The graph of owners is small: at most 200 bytes for each dependent, however they are spread over owners.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ApiObject } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { silentLogger } from '../base/logger.js'
import { openLmdbStorage } from '../storage/lmdb.js'
import { boxes } from './fixture.js'
import { rangeOf } from './keys.js'
import { ObjectStore } from './object-store.js'
import { encodeStored } from './stored-object.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function heapBytes(): number {
  for (let i = 0; i < 3; i++) collectGarbage()
  return process.memoryUsage().heapUsed
}

const count = 20_000
const most = 200
const ignore = (): void => undefined

for (const perOwner of [1, 2, count]) {
  test(`${perOwner} dependents for each owner`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'owners-'))
    const storage = await openLmdbStorage({ folder, mark: 'test', clock: systemClock, logger: silentLogger })
    const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 1 << 20, eventTtlSeconds: 3600 })
    const writes = Array.from({ length: count }, (_, i) => {
      const name = `dependent-${String(i).padStart(6, '0')}`
      const owner = String(Math.floor(i / perOwner)).padStart(12, '0')
      const ownerReferences = [{ apiVersion: 'v1', kind: 'Box', name: 'owner', uid: `0f0e0d0c-0000-4000-8000-${owner}` }]
      const metadata = { name, namespace: 'namespace', uid: `uid-${i}`, creationTimestamp: '2020-01-01T00:00:00Z', ownerReferences }
      return storage.commit([{ key: `boxes/namespace/${name}`, value: encodeStored(boxes, { metadata } as ApiObject), expect: 0 }])
    })
    await Promise.all(writes.splice(0))
    const before = heapBytes()
    const index = store.followOwners({
      isFollowed: () => true,
      onOwners: ignore,
      onGone: ignore,
      onGoing: ignore,
      onDependent: ignore,
      onFault: ignore,
    })
    for (const _ of index.scan(rangeOf(boxes, '')));
    const each = (heapBytes() - before) / count
    assert.equal(index.size, count)
    assert.ok(each <= most, `${Math.round(each)} bytes for each dependent`)
    store.close()
    await storage.close()
    rmSync(folder, { recursive: true })
  })
}
