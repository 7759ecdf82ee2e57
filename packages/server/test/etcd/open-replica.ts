// The etcd engine as tests open it.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/clock.js'
import { type LogFields, type Logger, silentLogger } from '../../src/base/logger.js'
import { type EtcdOptions, openEtcdStorage } from '../../src/storage/etcd.js'
import type { Storage } from '../../src/storage/storage.js'

let prefixes = 0

export function newPrefix(): string {
  prefixes += 1
  return `/test/${process.pid}.${prefixes}`
}

export function openReplica(options: Pick<EtcdOptions, 'endpoints' | 'prefix'> & Partial<EtcdOptions>): Promise<Storage> {
  return openEtcdStorage({ mark: 'test', clock: systemClock, logger: silentLogger, ...options })
}

export interface RecordingLogger extends Logger {
  readonly lines: readonly string[]
}

export function recordingLogger(): RecordingLogger {
  const lines: string[] = []
  const note = (_: LogFields, message: string): void => void lines.push(message)
  return { lines, debug: note, info: note, warn: note, error: note }
}

/** Fails unless the write is stored; resolves with its revision. */
export async function put(storage: Storage, key: string, value: string): Promise<number> {
  const outcome = await storage.commit([{ key, value: Buffer.from(value), expect: undefined }])
  if (!outcome.ok) throw new Error(`${key} could not be written`)
  return outcome.revision
}

/** Reads until a read needs no question. */
export async function becomeOwner(replica: Storage): Promise<void> {
  for (let looks = 0; ; looks += 1) {
    const reading = replica.readIndex()
    if (typeof reading === 'number') return
    await reading
    assert.ok(looks < 1000, 'it becomes the owner')
    await sleep(20)
  }
}
