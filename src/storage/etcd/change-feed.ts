// The stream of etcd's changes into the mirror: begun where the mirror is, begun again after every interruption, and where history is gone that
// the mirror has not seen, bridged by a comparison of everything.

import type { Logger } from '../../base/logger.js'
import type { Mirror } from '../mirror.js'
import { bridgeGap } from './bridge-gap.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import type { GrpcStream } from './grpc-channel.js'
import { GrpcError, grpcCodes } from './grpc-error.js'
import { decodeWatch, encodeWatch, methods, type WatchAnswer, type WatchEvent } from './messages.js'
import type { Numbering } from './numbering.js'
import type { Ownership } from './ownership.js'
import type { SeenBatch } from './seen-batch.js'
import { type TranslateOptions, translateEvents } from './translate-events.js'

export interface ChangeFeedOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  readonly mirror: Mirror
  readonly ownership: Ownership
  readonly replicaId: string
  readonly seenBatch: SeenBatch
  readonly logger: Logger
  readonly patienceMs: number
}

const firstPauseMs = 30
const longestPauseMs = 1000

/** History up to this step of etcd is gone. */
class HistoryGone extends Error {
  readonly step: number
  constructor(step: number) {
    super(`history up to revision ${step} of etcd is gone`)
    this.step = step
  }
}

export class ChangeFeed {
  readonly #options: ChangeFeedOptions
  readonly #translating: TranslateOptions
  readonly #running: Promise<void>
  #stream: GrpcStream | undefined
  #pauseMs = firstPauseMs
  #wake: (() => void) | undefined
  #isClosed = false

  constructor(options: ChangeFeedOptions) {
    const { ownership, replicaId, seenBatch, logger } = options
    this.#options = options
    this.#translating = {
      ...options,
      onWrite: (head, step) => (head.replicaId === replicaId ? seenBatch.note(head.batchNumber, step) : ownership.noteOthers()),
      onOwner: (event) => ownership.note(event),
      onForeign: (key) => logger.warn({ key }, 'ignoring a foreign key in etcd'),
    }
    this.#running = this.#run()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stream?.close()
    this.#wake?.()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#follow()
      } catch (error) {
        await this.#recover(error).catch((again: unknown) => this.#pause(again))
      }
    }
  }

  async #recover(error: unknown): Promise<void> {
    if (!(error instanceof HistoryGone)) return this.#pause(error)
    // What this replica wrote itself may be in the mirror before the stream has shown it: then the stream just begins where the mirror is now.
    if (this.#isClosed || error.step <= this.#options.mirror.position) return
    await bridgeGap(error.step, this.#options)
  }

  async #pause(error: unknown): Promise<void> {
    if (this.#isClosed || this.#options.client.isClosed) return
    const reason = error instanceof Error ? error.message : String(error)
    this.#options.logger.info({ reason }, 'etcd watch interrupted; restarting')
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#pauseMs * (0.5 + Math.random() / 2))
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs)
  }

  /** Rejects when the stream ends, which it does only for a reason. */
  #follow(): Promise<never> {
    const { client, keys, mirror } = this.#options
    return new Promise((_, reject) => {
      const take = this.#createTaker()
      const end = (error: unknown): void => {
        this.#stream?.close()
        this.#stream = undefined
        reject(error)
      }
      client
        .open(methods.watch, { message: (bytes) => attempt(() => take(decodeWatch(bytes, mirror.position)), end), end })
        .then((stream) => {
          this.#stream = stream
          if (this.#isClosed) stream.close()
          // The step that the mirror has already is asked for again, and left out when it comes. To begin after it would be to begin at the very
          // step up to which etcd may have given up history: etcd allows that, but its deletions are gone (its issue 18089).
          stream.send(encodeWatch({ key: keys.head, end: keys.dataEnd, startRevision: Math.max(mirror.position, 1) }))
        }, reject)
    })
  }

  /** Gathers the events of whole steps: a fragment may end in the middle of one. */
  #createTaker(): (answer: WatchAnswer) => void {
    let held: readonly WatchEvent[] = []
    return (answer) => {
      if (answer.isCanceled) throw cancellation(answer)
      if (answer.isCreated) this.#pauseMs = firstPauseMs
      const events = held.length > 0 ? [...held, ...answer.events] : answer.events
      const lastStep = events.at(-1)?.modRevision
      const cut = answer.isFragment ? events.findIndex(({ modRevision }) => modRevision === lastStep) : events.length
      held = events.slice(cut)
      this.#apply(cut < events.length ? events.slice(0, cut) : events)
      // A sign of life: everything up to this revision has been sent.
      const isProgress = answer.events.length === 0 && !answer.isCreated && !answer.isFragment
      if (isProgress) this.#options.mirror.apply({ writes: [], position: answer.revision })
    }
  }

  #apply(received: readonly WatchEvent[]): void {
    const { mirror } = this.#options
    // Members that lag behind have been known to begin before the revision they were asked to begin at.
    const isOld = (received[0]?.modRevision ?? Number.POSITIVE_INFINITY) <= mirror.position
    const events = isOld ? received.filter(({ modRevision }) => modRevision > mirror.position) : received
    const position = events.at(-1)?.modRevision
    if (position === undefined) return
    mirror.apply({ writes: translateEvents(events, this.#translating), position })
  }
}

function attempt(work: () => void, fail: (error: unknown) => void): void {
  try {
    work()
  } catch (error) {
    fail(error)
  }
}

function cancellation({ compactRevision, cancelReason }: WatchAnswer): Error {
  return compactRevision > 0
    ? new HistoryGone(compactRevision)
    : new GrpcError(grpcCodes.unavailable, cancelReason || 'the watch was ended')
}
