// Measures mirror lag: the time from the acknowledgement of a write at one replica to its arrival at another.

import { newPrefix, openReplica } from './open-replica.js'

interface MirrorLag {
  readonly medianMs: number
  readonly p99Ms: number
  readonly maxMs: number
}

interface LagOptions {
  readonly endpoints: readonly string[]
  readonly writes: number
  /** Concurrent writes. */
  readonly writers: number
}

/** A change that arrives before the acknowledgement has no lag. */
export async function measureMirrorLag({ endpoints, writes, writers }: LagOptions): Promise<MirrorLag> {
  const prefix = newPrefix()
  const [writer, reader] = await Promise.all([openReplica({ endpoints, prefix }), openReplica({ endpoints, prefix })])
  const arrivedMs = new Map<number, number>()
  const acknowledgedMs = new Map<number, number>()
  reader.follow((changes) => {
    const nowMs = performance.now()
    for (const { revision } of changes) arrivedMs.set(revision, nowMs)
  })
  const value = Buffer.alloc(1024, 'x')
  const write = async (index: number): Promise<void> => {
    for (let count = 0; count < writes / writers; count += 1) {
      const outcome = await writer.commit([{ key: `lag/${index}`, value, expect: undefined }])
      if (outcome.ok) acknowledgedMs.set(outcome.revision, performance.now())
    }
  }
  await Promise.all(Array.from({ length: writers }, (_, index) => write(index)))
  await reader.readIndex()
  await Promise.all([writer.close(), reader.close()])
  const lags = Array.from(acknowledgedMs, ([revision, ms]) => Math.max(0, (arrivedMs.get(revision) ?? ms) - ms)).sort((a, b) => a - b)
  const at = (share: number): number => lags[Math.min(lags.length - 1, Math.floor(lags.length * share))] ?? 0
  return { medianMs: at(0.5), p99Ms: at(0.99), maxMs: at(1) }
}
