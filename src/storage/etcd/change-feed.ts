// The stream of etcd's changes into the mirror: begun where the mirror is, begun again after every interruption, and where history is gone that
// the mirror has not seen, bridged by a comparison of everything.
//
// While this replica is the owner of the right to write, and nobody else uses this etcd, only deletions and the owner's key are watched (see
// own-steps.ts). Whatever is not explained by what this replica has written lets the whole stream begin again, where the mirror is.

import type { Logger } from '../../base/logger.js'
import type { Mirror } from '../mirror.js'
import { bridgeGap } from './bridge-gap.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { GrpcError, grpcCodes } from './grpc-error.js'
import { decodeWatch, encodeWatch, methods, type WatchAnswer, type WatchEvent } from './messages.js'
import type { Numbering } from './numbering.js'
import { OwnSteps, type Step } from './own-steps.js'
import type { Ownership } from './ownership.js'
import type { OwnWrites } from './read-index.js'
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
  readonly ownWrites: () => OwnWrites
  readonly logger: Logger
  readonly patienceMs: number
  /** How long nobody else may have used this etcd before only deletions are watched. */
  readonly quietMs: number
}

const firstPauseMs = 30
const longestPauseMs = 1000
/** Where others use this etcd now and then, it is not tried more often than this. To begin the whole stream again may take etcd 100 ms. */
const longestQuietMs = 60_000

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
  readonly #ownSteps: OwnSteps
  readonly #running: Promise<void>
  /** Only deletions and the owner's key are watched. */
  #isStandingBy = false
  #sinceMs = performance.now()
  #quietMs: number
  /** Ends the stream that is open now. */
  #interrupt: ((reason: unknown) => void) | undefined
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
    this.#quietMs = options.quietMs
    const isWriting = (): boolean => options.ownWrites().isWriting
    this.#ownSteps = new OwnSteps({ mirror: options.mirror, isWriting, onMissing: () => this.#giveWay() })
    options.mirror.whenWaitedFor((position) => this.#bring(position))
    this.#running = this.#run()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#ownSteps.clear()
    this.#interrupt?.(closing)
    this.#wake?.()
    await this.#running
  }

  /** What this replica has written: the mirror need not wait to be told of it where it has everything up to the step before. */
  takeOwn(step: Step): void {
    const { mirror, ownership } = this.#options
    if (this.#isStandingBy) {
      this.#ownSteps.takeOwn(step)
      return
    }
    const nowMs = performance.now()
    if (step.step === mirror.position + 1) mirror.apply({ writes: step.writes, position: step.step })
    // Others use this etcd.
    else if (step.step > mirror.position) this.#sinceMs = nowMs
    if (nowMs - this.#sinceMs > this.#quietMs && ownership.isOurs && mirror.position >= ownership.step) this.#change(true)
  }

  /** Somebody else may have written, or it is unknown what this replica has written. */
  followAll(): void {
    if (this.#isStandingBy) this.#change(false)
  }

  /** Somebody else uses this etcd. */
  #giveWay(): void {
    const wasLong = performance.now() - this.#sinceMs > longestQuietMs
    this.#quietMs = wasLong ? this.#options.quietMs : Math.min(2 * this.#quietMs, longestQuietMs)
    this.followAll()
  }

  #change(isStandingBy: boolean): void {
    this.#ownSteps.clear()
    this.#isStandingBy = isStandingBy
    this.#sinceMs = performance.now()
    this.#interrupt?.(changing)
  }

  /** Somebody waits for a position that may not come by itself. */
  #bring(position: number): void {
    if (!this.#isStandingBy) return
    const { mirror, ownWrites } = this.#options
    void ownWrites()
      .arrive()
      .then(() => mirror.position < position && this.followAll())
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#follow()
      } catch (error) {
        if (error === changing || error === closing) continue
        this.followAll()
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
      const isStandingBy = this.#isStandingBy
      const take = isStandingBy ? (answer: WatchAnswer) => this.#notice(answer) : this.#createTaker()
      let close: (() => void) | undefined
      let isOver = false
      const end = (error: unknown): void => {
        isOver = true
        close?.()
        reject(error)
      }
      this.#interrupt = end
      client
        .open(methods.watch, { message: (bytes) => attempt(() => isOver || take(decodeWatch(bytes, mirror.position)), end), end })
        .then((stream) => {
          close = () => stream.close()
          if (isOver) {
            stream.close()
            return
          }
          // The step that the mirror has already is asked for again, and left out when it comes. To begin after it would be to begin at the very
          // step up to which etcd may have given up history: etcd allows that, but its deletions are gone (its issue 18089).
          const startRevision = Math.max(mirror.position, 1)
          if (!isStandingBy) {
            stream.send(encodeWatch({ key: keys.head, end: keys.dataEnd, startRevision }))
            return
          }
          stream.send(encodeWatch({ key: keys.owner, end: keys.headEnd, startRevision }))
          stream.send(encodeWatch({ key: keys.dataStart, end: keys.dataEnd, startRevision, deletionsOnly: true }))
        }, end)
    })
  }

  /** Standing by: what was not written by this replica. */
  #notice(answer: WatchAnswer): void {
    const { mirror, keys, ownership, ownWrites } = this.#options
    if (answer.isCanceled) throw cancellation(answer)
    if (answer.isCreated) this.#pauseMs = firstPauseMs
    // A sign of life that tells of steps of others.
    const isProgress = answer.events.length === 0 && !answer.isCreated && answer.revision > mirror.position
    if (isProgress && !ownWrites().isWriting) this.#giveWay()
    const events = answer.events.filter(({ modRevision }) => modRevision > mirror.position)
    const owner = events.findLast(({ key }) => keys.kindOf(key) === 'owner')
    if (owner) {
      ownership.note(owner)
      this.followAll()
    } else if (answer.isFragment) this.followAll()
    else {
      for (let from = 0; from < events.length && this.#isStandingBy; ) {
        const step = events[from]?.modRevision ?? 0
        const next = events.findIndex(({ modRevision }, index) => index > from && modRevision !== step)
        const until = next < 0 ? events.length : next
        this.#ownSteps.takeDeletions({ step, writes: translateEvents(events.slice(from, until), this.#translating) })
        from = until
      }
    }
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

/** Not errors, but reasons to end a stream. */
const changing = Symbol('another stream is needed')
const closing = Symbol('closing')

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
