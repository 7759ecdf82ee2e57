// Limit for the bytes of pending writes of a slow store.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { steadyClock } from '@cluster-apiserver/api/base/clock.js'
import { openMemoryStorage } from '../storage/memory/memory-storage.js'
import type { CommitOutcome, Storage } from '../storage/storage.js'
import { boxes } from './box-store.fixture.js'
import { ObjectStore } from './object-store.js'

test('writes beyond the limit of pending bytes fail with 429, and succeed later', async () => {
  const memory = await openMemoryStorage({ clock: steadyClock })
  let finish: (() => void)[] = []
  const slow: Storage = Object.create(memory, {
    revision: { get: () => memory.revision },
    commit: {
      value: () =>
        new Promise<CommitOutcome>((resolve) => {
          finish.push(() => resolve({ ok: true, revision: 1 }))
        }),
    },
    follow: { value: memory.follow.bind(memory) },
  })
  const store = new ObjectStore({ storage: slow, clock: steadyClock, readCacheBytes: 0, eventTtlSeconds: 3600 })
  const value = Buffer.alloc(1 << 20)
  const put = (name: string) => store.put({ resource: boxes, namespace: 'n', name }, value, { expect: 0 })
  const waiting = Array.from({ length: 64 }, (_, i) => put(`box-${i}`))
  await assert.rejects(put('one-more'), (error) => error instanceof ApiError && error.status.code === 429)
  const tenfold = await Promise.allSettled(Array.from({ length: 576 }, (_, i) => put(`more-${i}`)))
  assert.equal(tenfold.filter(({ status }) => status === 'rejected').length, 576, 'writes beyond the limit are rejected')
  assert.equal(finish.length, 64)
  for (const resolve of finish) resolve()
  await Promise.all(waiting)
  finish = []
  const later = put('later')
  for (const resolve of finish) resolve()
  assert.ok((await later).ok)
  await memory.close()
})
