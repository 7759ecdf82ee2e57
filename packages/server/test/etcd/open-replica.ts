// Functions for tests of the etcd engine: key prefixes, replicas, a recording logger, writes.

import { systemClock } from '../../../api/src/base/clock.js'
import { type LogFields, type Logger, silentLogger } from '../../../api/src/base/logger.js'
import { type EtcdOptions, openEtcdStorage } from '../../src/storage/etcd/etcd-storage.js'
import type { Storage } from '../../src/storage/storage.js'

let prefixes = 0

export function newPrefix(): string {
  prefixes += 1
  return `/test/${process.pid}.${prefixes}`
}

export function openReplica(options: Pick<EtcdOptions, 'endpoints' | 'prefix'> & Partial<EtcdOptions>): Promise<Storage> {
  return openEtcdStorage({ mark: 'test', clock: systemClock, logger: silentLogger, ...options })
}

interface RecordingLogger extends Logger {
  readonly lines: readonly string[]
}

export function recordingLogger(): RecordingLogger {
  const lines: string[] = []
  const note = ({ error }: LogFields, message: string): void =>
    void lines.push(error === undefined ? message : `${message}: ${String(error)}`)
  return { lines, debug: note, info: note, warn: note, error: note }
}

/** Fails unless the write is committed; resolves with its revision. */
export async function put(storage: Storage, key: string, value: string): Promise<number> {
  const outcome = await storage.commit([{ key, value: Buffer.from(value), expect: undefined }])
  if (!outcome.ok) throw new Error(`${key} could not be written`)
  return outcome.revision
}
