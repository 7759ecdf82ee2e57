// A watch whose client is slower than history is kept: it is let go in good order, and nothing else suffers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WatchOptions } from '../api/options/list-options.js'
import { systemClock } from '../base/clock.js'
import { box, boxes, put } from '../objects/fixture.js'
import { ObjectStore } from '../objects/object-store.js'
import { everything } from '../objects/selection.js'
import { openMemoryStorage } from '../storage/memory.js'
import type { Call, Engine } from './engine.js'
import { Watch } from './watch.js'

const count = 1200

test('history that is forgotten before a slow client has read it ends the watch', async () => {
  const storage = await openMemoryStorage({ clock: systemClock })
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 1 << 20, eventTtlSeconds: 3600 })
  const after = await put(store, box('first'))
  for (let i = 0; i < count; i += 1) await put(store, box(`b${i}`))
  const options: WatchOptions = {
    selection: everything,
    start: { mode: 'exact', resourceVersion: after },
    allowBookmarks: false,
  } as WatchOptions
  const watch = new Watch({ store } as Engine, { resource: boxes, namespace: 'n' } as Call, options)
  let taken = 0
  let mayTake = 10
  const endings: string[] = []
  await watch.prepare()
  watch.start(
    {
      event: () => ++taken < mayTake,
      bookmark: () => true,
      end: (reason) => endings.push(reason),
    },
    60_000,
  )
  assert.equal(taken, mayTake)
  await storage.compact(storage.revision)
  mayTake = Number.POSITIVE_INFINITY
  watch.resume()
  assert.deepEqual(endings, ['too-slow'])
  assert.ok(taken < count, 'it had not been read ahead')
  assert.equal(store.watchers, 0)
})
