// The primary's end of the channel to one worker: sends it every change of the store, and carries out its commits and read indexes.
// A worker that does not read its changes is ended, never waited for.

import { timingSafeEqual } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { type Change, type CommitOutcome, CompactedError, type Storage, StorageUnavailableError, type Unfollow } from '../storage.js'
import { FrameChannel } from './frame-channel.js'
import {
  decodeCommit,
  decodeHello,
  decodeId,
  decodeLines,
  encodeChanges,
  encodeLinesOutcome,
  encodeOutcome,
  encodeState,
  type SentOutcome,
  toPrimary,
  toWorker,
} from './messages.js'

export interface ServedWorkerOptions {
  readonly storage: Storage
  /** Random text that the worker got from this process when it was started. */
  readonly nonce: string
  /** Writes lines of the worker to the audit log; undefined without an audit log. */
  readonly appendLines: ((lines: Buffer) => Promise<void>) | undefined
  /** The worker must be replaced. `reason` is undefined after `close`. */
  readonly onEnd: (reason: string | undefined) => void
  readonly limits?: Partial<WorkerLimits>
}

interface WorkerLimits {
  /** Changes that the worker has not read yet. */
  readonly maxQueuedBytes: number
  /** Commits and lines without an outcome; the channel is not read meanwhile. */
  readonly maxPendingBytes: number
}

const defaultLimits: WorkerLimits = { maxQueuedBytes: 64 << 20, maxPendingBytes: 32 << 20 }
/** Size of a commit in the limit, next to its bytes. */
const pendingOverhead = 1024

export interface ServedWorker {
  /** Time of the last frame, by `performance.now()`. */
  readonly lastFrameMs: number
  close(): void
}

const everything = { start: '', end: '\u{10ffff}' }

export function serveWorkerStorage(stream: Duplex, options: ServedWorkerOptions): ServedWorker {
  return new WorkerStorageServer(stream, options)
}

/** Changes of one commit batch are encoded once for all workers. */
const encodedChanges = new WeakMap<readonly Change[], Buffer>()

class WorkerStorageServer implements ServedWorker {
  readonly #options: ServedWorkerOptions
  readonly #limits: WorkerLimits
  readonly #channel: FrameChannel
  #unfollow: Unfollow | undefined
  #pendingBytes = 0
  #isPaused = false
  #lastFrameMs = performance.now()

  constructor(stream: Duplex, options: ServedWorkerOptions) {
    this.#options = options
    this.#limits = { ...defaultLimits, ...options.limits }
    this.#channel = new FrameChannel(stream, {
      onFrame: (type, payload) => this.#receive(type, payload),
      onEnd: (reason) => {
        this.#unfollow?.()
        options.onEnd(reason)
      },
    })
  }

  /** While the channel is not read, the worker counts as alive. */
  get lastFrameMs(): number {
    return this.#isPaused ? performance.now() : this.#lastFrameMs
  }

  close(): void {
    this.#channel.close()
  }

  #receive(type: number, payload: Buffer): void {
    this.#lastFrameMs = performance.now()
    if (this.#unfollow === undefined) {
      if (type !== toPrimary.hello) throw new Error('the first frame of a worker must be its nonce')
      this.#greet(payload)
      return
    }
    const { storage } = this.#options
    if (type === toPrimary.commit) this.#commit(payload)
    else if (type === toPrimary.index) void this.#sendIndex(decodeId(payload), storage)
    else if (type === toPrimary.lines) this.#append(payload)
    else if (type === toPrimary.alive) this.#send(toWorker.alive, encodeState(0, storage))
    else throw new Error(`a worker sent a frame of the unknown type ${type}`)
  }

  /** Sends the changes that the worker's data file lacks, and follows, in one event-loop iteration: no change is lost or sent twice. */
  #greet(payload: Buffer): void {
    const { nonce, after } = decodeHello(payload)
    const { storage } = this.#options
    if (!isEqual(nonce, this.#options.nonce)) throw new Error('the worker does not have the nonce of this start')
    if (after > storage.revision) throw new Error(`the worker reads revision ${after}, the store is at ${storage.revision}`)
    try {
      for (let from = after; from < storage.revision; ) {
        const { changes, upTo } = storage.changes({ ...everything, after: from, limit: Number.POSITIVE_INFINITY })
        this.#channel.send(toWorker.changes, encodeChanges({ revision: upTo, changes }))
        from = upTo
      }
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error
      this.#channel.send(toWorker.tooOld, Buffer.alloc(0))
      return
    }
    // An embedded store has no gaps.
    this.#unfollow = storage.follow((changes) => this.#sendChanges(changes))
    this.#channel.send(toWorker.welcome, encodeState(0, storage))
  }

  #sendChanges(changes: readonly Change[]): void {
    let payload = encodedChanges.get(changes)
    if (payload === undefined) {
      payload = encodeChanges({ revision: this.#options.storage.revision, changes })
      encodedChanges.set(changes, payload)
    }
    this.#send(toWorker.changes, payload)
  }

  #commit(payload: Buffer): void {
    const { id, writes } = decodeCommit(payload)
    const size = this.#addPending(payload.length)
    const finish = (outcome: SentOutcome): void => {
      this.#send(toWorker.outcome, encodeOutcome(id, outcome))
      this.#removePending(size)
    }
    let committed: ReturnType<Storage['commit']>
    try {
      committed = this.#options.storage.commit(writes)
    } catch (error) {
      committed = Promise.reject(error)
    }
    committed.then(
      (outcome) => finish(this.#withoutKnown(outcome)),
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        finish({ failure: error instanceof StorageUnavailableError ? 'unavailable' : 'invalid', message })
      },
    )
  }

  /** The worker has the entry already: many conflicts with a large one would fill the channel with its copies. */
  #withoutKnown(outcome: CommitOutcome): SentOutcome {
    if (outcome.ok || outcome.current === undefined) return outcome
    const { key, current } = outcome
    // An entry that the same batch has replaced is sent.
    return this.#options.storage.read(key)?.revision === current.revision ? { ok: false, key, currentRevision: current.revision } : outcome
  }

  async #sendIndex(id: number, storage: Storage): Promise<void> {
    try {
      // Changes up to this revision were sent before.
      await storage.readIndex()
      this.#send(toWorker.index, encodeState(id, storage))
    } catch {
      // The worker's read times out, or the channel ends.
    }
  }

  #append(payload: Buffer): void {
    const { id, lines } = decodeLines(payload)
    const size = this.#addPending(payload.length)
    const finish = (problem: string | undefined): void => {
      this.#send(toWorker.lines, encodeLinesOutcome(id, problem))
      this.#removePending(size)
    }
    const { appendLines } = this.#options
    const appended = appendLines?.(lines) ?? Promise.reject(new Error('the primary has no audit log'))
    appended.then(
      () => finish(undefined),
      (error: unknown) => finish(error instanceof Error ? error.message : String(error)),
    )
  }

  #send(type: number, payload: Buffer): void {
    this.#channel.send(type, payload)
    if (this.#channel.queuedBytes <= this.#limits.maxQueuedBytes || this.#channel.hasEnded) return
    this.#channel.fail(`it has not read ${this.#channel.queuedBytes} bytes of changes`)
  }

  #addPending(bytes: number): number {
    const size = bytes + pendingOverhead
    this.#pendingBytes += size
    if (this.#pendingBytes > this.#limits.maxPendingBytes && !this.#isPaused) {
      this.#isPaused = true
      this.#channel.pause()
    }
    return size
  }

  #removePending(size: number): void {
    this.#pendingBytes -= size
    if (!this.#isPaused || this.#pendingBytes > this.#limits.maxPendingBytes / 2) return
    this.#isPaused = false
    this.#channel.resume()
  }
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
