// The pool of worker threads: results belong to their tasks even if threads stall, die or run out of time.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { until } from '@cluster-apiserver/api/base/testing/until.fixture.js'
import { WorkerPool, type WorkerPoolOptions } from './worker-pool.js'
import type { Step, TaskResult, WorkerSettings } from './worker-tasks.js'
import { MismatchError, WorkerThread, type WorkerThreadOptions } from './worker-thread.js'

const settings: WorkerSettings = {
  identity: 'cluster',
  featureGates: [],
  runtimeConfig: [],
  forbidsPrivileged: false,
  allowsPlainWebhooks: false,
}
const pools: WorkerPool[] = []
after(() => Promise.all(pools.map((pool) => pool.close())))

function poolOf(options: Partial<WorkerPoolOptions> = {}): WorkerPool {
  const pool = new WorkerPool({ threads: 2, settings, logger: silentLogger, ...options })
  pools.push(pool)
  return pool
}

/** Shared by tests that do not damage its thread, because starting one is slow. */
const shared = poolOf({ threads: 1 })

/** A step whose result contains its input. */
const stepOf = (key: string, length = 1): Step => ({
  step: 'text',
  text: { format: 'yaml', json: JSON.stringify({ [key]: 'x'.repeat(length) }), areItems: false },
})
const ownerOf = (user: string) => ({ user, bytes: 1, onAbort: undefined })
const textOf = ({ output, failure }: TaskResult): string => failure?.message ?? Buffer.from(output?.bytes ?? []).toString()
const isUnavailable = (thrown: unknown): boolean => thrown instanceof ApiError && thrown.status.code === 503

/** A pseudo-random sequence of a and b. */
function randomText(length: number): string {
  let state = 7
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return 'ab'[(state >> 16) & 1]
  }).join('')
}

/** Takes seconds of processor time: a regular expression with many states on a long text. */
function longStep(): Step {
  const openAPIV3Schema = { type: 'object', properties: { s: { type: 'string', pattern: '[ab]*a[ab]{200}[c-e]' } } }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
  const names = { plural: 'longs', singular: 'long', kind: 'Long', listKind: 'LongList' }
  const json = JSON.stringify({ spec: { group: 'example.com', scope: 'Cluster', names, versions }, status: { acceptedNames: names } })
  const call = {
    ...{ group: 'example.com', version: 'v1', resource: 'longs', subresource: undefined, namespace: '', name: 'x', options: {} },
    ...{ now: 0, userAgent: '', custom: { id: 1, source: json }, conversions: [] },
  }
  const object = { apiVersion: 'example.com/v1', kind: 'Long', metadata: { name: 'x', uid: 'u' }, s: randomText(1_000_000) }
  return { step: 'check', call, object: JSON.stringify(object), live: undefined }
}

test('results belong to their tasks while threads are killed', async () => {
  const pool = poolOf()
  let hasSentAll = false
  const killing = (async () => {
    for (let kills = 0; kills < 2 && !hasSentAll; ) {
      const [thread] = pool.threads
      if (thread !== undefined) {
        await sleep(20)
        await thread.terminate()
        kills += 1
      }
      await sleep(5)
    }
  })()
  let failed = 0
  const sending = Array.from({ length: 4 }, async (_, user) => {
    for (let i = 0; i < 25; i++) {
      const key = `key-${user}-${i}`
      try {
        assert.ok(textOf(await pool.run(stepOf(key, 20_000), ownerOf(`${user}`))).startsWith(`${key}: `), key)
      } catch (thrown) {
        assert.ok(isUnavailable(thrown), String(thrown))
        failed += 1
      }
    }
  })
  await Promise.all(sending)
  hasSentAll = true
  await killing
  assert.ok(failed < 50, `${failed} of 100 failed`)
  assert.ok(textOf(await pool.run(stepOf('afterwards'), ownerOf('a'))).startsWith('afterwards: '))
  assert.equal(pool.counters.mismatches, 0)
})

test('a step beyond its processor time fails with 503, and its thread is replaced', async () => {
  const pool = poolOf({ threads: 1, maxStepMs: 1500 })
  // The thread exists before time counts.
  await pool.run(stepOf('first'), ownerOf('a'))
  await assert.rejects(pool.run(longStep(), ownerOf('a')), isUnavailable)
  assert.ok(textOf(await pool.run(stepOf('next'), ownerOf('b'))).startsWith('next: '))
  assert.equal(pool.counters.failedThreads, 1)
})

test('a step beyond its memory limit fails with 503, and its thread is replaced', async () => {
  const pool = poolOf({ threads: 1, maxHeapMiB: 40 })
  const items = JSON.stringify(Array.from({ length: 500_000 }, () => ({})))
  await assert.rejects(pool.run({ step: 'text', text: { format: 'yaml', json: items, areItems: false } }, ownerOf('a')), isUnavailable)
  assert.ok(textOf(await pool.run(stepOf('next'), ownerOf('b'))).startsWith('next: '))
})

test('a client that disconnects does not wait, its queued step is dropped, and others are served', async () => {
  const pool = shared
  const { steps } = pool.counters
  const abortListeners: ((reason: unknown) => void)[] = []
  const abortable = {
    ...ownerOf('a'),
    onAbort: (listener: (reason: unknown) => void) => {
      abortListeners.push(listener)
      return () => undefined
    },
  }
  const running = pool.run(stepOf('running', 50_000), abortable)
  const queued = pool.run(stepOf('queued'), abortable)
  const other = pool.run(stepOf('other'), ownerOf('b'))
  for (const abort of abortListeners) abort(new Error('disconnected'))
  await assert.rejects(running, /disconnected/)
  await assert.rejects(queued, /disconnected/)
  assert.ok(textOf(await other).startsWith('other: '))
  await until(() => pool.counters.steps === steps + 2)
  assert.equal(pool.queuedBytes, 0)
})

for (const fault of ['swapped', 'doubled', 'late'] as const)
  test(`no task gets the result of another one from a thread whose results are ${fault}`, async () => {
    const entry = new URL('./worker-thread.fixture.js', import.meta.url)
    const startThread = (options: WorkerThreadOptions): WorkerThread =>
      new WorkerThread({ ...options, settings: { ...settings, runtimeConfig: [fault] }, entry })
    const pool = poolOf({ startThread })
    let mismatches = 0
    const sending = Array.from({ length: 4 }, async (_, user) => {
      for (let i = 0; i < 5; i++) {
        const key = `key-${user}-${i}`
        try {
          assert.ok(textOf(await pool.run(stepOf(key), ownerOf(`${user}`))).includes(key), key)
        } catch (thrown) {
          if (!(thrown instanceof MismatchError)) throw thrown
          mismatches += 1
        }
      }
    })
    await Promise.all(sending)
    // A doubled result may also arrive while its thread is idle.
    assert.ok(pool.counters.mismatches >= mismatches)
    mismatches = pool.counters.mismatches
    assert.equal(mismatches > 0, fault !== 'late', `${mismatches} mismatches`)
  })

test('errors of a step are distinguished from failures of its thread', async () => {
  const pool = shared
  const result = await pool.run({ step: 'text', text: { format: 'yaml', json: '{', areItems: false } }, ownerOf('a'))
  assert.ok(result.failure)
  assert.equal(pool.counters.failedThreads, 0)
})

test('a thread that cannot start fails its step with 503, and not the next one', async () => {
  let starts = 0
  const startThread = (options: WorkerThreadOptions): WorkerThread => {
    if (++starts === 1) throw new Error('no more threads')
    return new WorkerThread(options)
  }
  const pool = poolOf({ threads: 1, startThread })
  await assert.rejects(pool.run(stepOf('first'), ownerOf('a')), isUnavailable)
  assert.ok(textOf(await pool.run(stepOf('next'), ownerOf('a'))).startsWith('next: '))
})

test('a full queue rejects with 429, a closed pool with 503', async () => {
  const pool = shared
  const large = { user: 'a', bytes: 40 << 20, onAbort: undefined }
  const first = pool.run(stepOf('first', 100_000), large)
  const second = pool.run(stepOf('second'), large)
  await assert.rejects(pool.run(stepOf('third'), large), (thrown) => thrown instanceof ApiError && thrown.status.code === 429)
  const other = pool.run(stepOf('other'), { ...large, user: 'b' })
  await Promise.all([first, second, other])
  assert.equal(pool.counters.refused, 1)
  await pool.close()
  await assert.rejects(pool.run(stepOf('late'), ownerOf('a')), isUnavailable)
})
