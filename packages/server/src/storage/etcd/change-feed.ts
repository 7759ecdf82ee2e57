// The etcd watch that feeds the mirror (the local copy of etcd's data). If etcd has compacted history that the mirror lacks, the mirror
// is compared with all entries.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { readDeletions } from './batch-transaction.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { decodeWatch, encodeWatch, methods, type WatchEvent, type WatchResponse } from './grpc/etcd-messages.js'
import { GrpcError, grpcCodes } from './grpc/grpc-error.js'
import { type ListedPage, listEntries } from './list-entries.js'
import type { Mirror, MirroredWrite } from './mirror/mirror.js'
import type { Numbering } from './revision-numbering.js'
import { readStoredValue } from './stored-value.js'

interface ChangeFeedOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  readonly mirror: Mirror
  readonly logger: Logger
  readonly retryTimeoutMs: number
}

const firstPauseMs = 30
const maxPauseMs = 1000

/** etcd has compacted its history up to `step`, a revision of etcd. */
class CompactedHistoryError extends Error {
  readonly step: number
  constructor(step: number) {
    super(`history up to revision ${step} of etcd is gone`)
    this.step = step
  }
}

export class ChangeFeed {
  readonly #options: ChangeFeedOptions
  readonly #running: Promise<void>
  #interrupt: ((reason: unknown) => void) | undefined
  #pauseMs = firstPauseMs
  #wake: (() => void) | undefined
  #isClosed = false

  constructor(options: ChangeFeedOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#interrupt?.(undefined)
    this.#wake?.()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#follow()
      } catch (error) {
        if (!this.#isClosed) await this.#recover(error).catch((recoveryError: unknown) => this.#pause(recoveryError))
      }
    }
  }

  async #recover(error: unknown): Promise<void> {
    if (!(error instanceof CompactedHistoryError)) return this.#pause(error)
    await bridgeGap(error.step, this.#options)
  }

  async #pause(error: unknown): Promise<void> {
    if (this.#isClosed || this.#options.client.isClosed) return
    const reason = errorMessage(error)
    this.#options.logger.info({ error: reason }, 'etcd watch interrupted; restarting')
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#pauseMs * (0.5 + Math.random() / 2))
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#pauseMs = Math.min(this.#pauseMs * 2, maxPauseMs)
  }

  #follow(): Promise<never> {
    const { client, keys, mirror } = this.#options
    return new Promise((_, reject) => {
      const collect = this.#createEventCollector()
      let close: (() => void) | undefined
      let hasEnded = false
      const end = (error: unknown): void => {
        hasEnded = true
        close?.()
        reject(error)
      }
      const message = (bytes: Buffer): void => {
        try {
          if (!hasEnded) collect(decodeWatch(bytes, mirror.position))
        } catch (error) {
          end(error)
        }
      }
      this.#interrupt = end
      client.open(methods.watch, { message, end }).then((stream) => {
        close = () => stream.close()
        if (hasEnded) {
          stream.close()
          return
        }
        // Starts at the mirror's own step: a watch may start at the compacted revision, but etcd omits its deletions (etcd issue 18089).
        stream.send(encodeWatch({ key: keys.head, end: keys.dataEnd, startRevision: Math.max(mirror.position, 1) }))
      }, end)
    })
  }

  /** Collects the events of whole steps: a fragment may end in the middle of one. */
  #createEventCollector(): (response: WatchResponse) => void {
    let incomplete: readonly WatchEvent[] = []
    return (response) => {
      if (response.isCanceled) throw cancellation(response)
      if (response.isCreated) this.#pauseMs = firstPauseMs
      const events = incomplete.length > 0 ? [...incomplete, ...response.events] : response.events
      const lastStep = events.at(-1)?.modRevision
      const completeCount = response.isFragment ? events.findIndex(({ modRevision }) => modRevision === lastStep) : events.length
      incomplete = events.slice(completeCount)
      this.#apply(completeCount < events.length ? events.slice(0, completeCount) : events)
      // A progress notification: everything up to this revision has been sent.
      const isProgress = response.events.length === 0 && !response.isCreated && !response.isFragment
      if (isProgress) this.#options.mirror.apply({ writes: [], position: response.revision })
    }
  }

  #apply(received: readonly WatchEvent[]): void {
    const { mirror, keys, numbering, logger } = this.#options
    const events = received.filter(({ modRevision }) => modRevision > mirror.position)
    const position = events.at(-1)?.modRevision
    if (position === undefined) return
    const onForeign = (key: string): void => logger.warn({ key }, 'ignoring a foreign key in etcd')
    mirror.apply({ writes: translateEvents(events, { keys, numbering, onForeign }), position })
  }
}

function cancellation({ compactRevision, cancelReason }: WatchResponse): Error {
  return compactRevision > 0
    ? new CompactedHistoryError(compactRevision)
    : new GrpcError(grpcCodes.unavailable, cancelReason || 'the watch was ended')
}

interface TranslateOptions {
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  /** Called for a key whose value was not written by this server; the key counts as absent. */
  readonly onForeign: (key: string) => void
}

export function translateEvents(events: readonly WatchEvent[], { keys, numbering, onForeign }: TranslateOptions): readonly MirroredWrite[] {
  const writes: MirroredWrite[] = []
  let step = 0
  let eventIndex = 0
  let deletions: ReadonlyMap<string, number> | undefined
  for (const { key: bytes, value, modRevision, isDelete } of events) {
    if (modRevision !== step) {
      step = modRevision
      eventIndex = 0
      deletions = undefined
    }
    const kind = keys.kindOf(bytes)
    if (kind === 'head') deletions = readDeletions(value)
    if (kind !== 'data') continue
    const key = keys.storageKeyOf(bytes)
    const stored = isDelete ? undefined : readStoredValue(value)
    if (!isDelete && !stored) onForeign(key)
    // Every transaction of a server writes the head key. A step without it is the end of a lease: its deletions are numbered in order.
    const index = stored?.index ?? deletions?.get(key) ?? eventIndex
    eventIndex += 1
    writes.push({ key, revision: numbering.revisionOf(step, index), value: stored?.value })
  }
  return writes
}

/**
 * Compares all entries with the mirror. Deletions come first, at the revision after the mirror's, because their revisions are lost:
 * a watcher that resumes on another replica may see a deletion twice and misses none.
 */
async function bridgeGap(step: number, options: ChangeFeedOptions): Promise<void> {
  const { mirror, numbering, logger } = options
  logger.warn({ mirrorRevision: mirror.position, etcdRevision: step }, 'etcd mirror fell behind compacted history; comparing with etcd')
  const deletions: MirroredWrite[] = []
  const puts: MirroredWrite[] = []
  for await (const page of listEntries({ ...options, step })) comparePage(page, { mirror, deletions, puts })
  puts.sort((a, b) => a.revision - b.revision)
  mirror.apply({ writes: [...deletions, ...puts], position: step, compacted: numbering.endOf(step) })
  logger.info({ changes: deletions.length + puts.length }, 'etcd mirror caught up')
}

interface Differences {
  readonly mirror: Mirror
  readonly deletions: MirroredWrite[]
  readonly puts: MirroredWrite[]
}

function comparePage({ entries, start, end }: ListedPage, { mirror, deletions, puts }: Differences): void {
  const mirrored = new Map<string, number>()
  for (const { key, revision } of mirror.entries({ start, end })) mirrored.set(key, revision)
  for (const { key, revision, value } of entries) {
    if (mirrored.get(key) !== revision) puts.push({ key, revision, value })
    mirrored.delete(key)
  }
  for (const key of mirrored.keys()) deletions.push({ key, revision: mirror.revision + 1, value: undefined })
}
