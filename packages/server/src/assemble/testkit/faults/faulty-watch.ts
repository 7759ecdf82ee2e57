// A watch with a fault: its events are delayed or repeated, and its stream ends early. Events keep their order, and none is left out.

import { expired } from '@cluster-apiserver/api/api/api-error.js'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import type { WatchSource } from '../../../http/watch/watch-stream.js'
import { EventBatch } from '../../../objects/watch/watch-events.js'
import type { WatchSink } from '../../../verbs/watch.js'
import type { WatchAction } from './fault-rule.js'
import type { Firing } from './match-counter.js'

/** Maximum number of delayed events; the watch then waits, as for a slow client. */
const maxDelayed = 1_000

interface Delayed {
  readonly dueMs: number
  /** Writes to the sink; returns false if the connection is blocked. */
  readonly write: (sink: WatchSink) => boolean
  /** False for bookmarks and for the first of two equal events. */
  readonly isCounted: boolean
}

interface FaultyWatchParts {
  readonly watch: WatchSource
  readonly action: WatchAction
  readonly firing: Firing
  /** Closes the connection after all written bytes, without the end of the response. */
  readonly cut: () => void
}

export class FaultyWatch implements WatchSource {
  readonly #parts: FaultyWatchParts
  #sink: WatchSink | undefined
  readonly #delayed: Delayed[] = []
  #timer: NodeJS.Timeout | undefined
  #sent = 0
  #isConnectionBlocked = false
  #isWatchBlocked = false
  #isEnded = false

  constructor(parts: FaultyWatchParts) {
    this.#parts = parts
  }

  start(sink: WatchSink, timeoutMs: number): void {
    this.#sink = sink
    if (this.#endIfDue()) return
    const stopAnd = (pass: () => void): void => {
      if (!this.#isEnded) pass()
      this.close()
    }
    const faulty: WatchSink = {
      events: ({ events }) => {
        for (const event of events) {
          const batch = new EventBatch([event])
          const write = (to: WatchSink): boolean => to.events(batch)
          if (this.#parts.action.repeats) this.#add(write, false)
          this.#add(write, true)
        }
        return this.#isAccepting()
      },
      bookmark: (revision) => {
        this.#add((to) => to.bookmark(revision), false)
        return this.#isAccepting()
      },
      // Delayed events are not sent: the client resumes after the last one that it has.
      end: (reason) => stopAnd(() => sink.end(reason)),
      fail: (thrown) => stopAnd(() => sink.fail(thrown)),
      unsent: () => sink.unsent?.() ?? [],
    }
    this.#parts.watch.start(faulty, timeoutMs)
  }

  resume(): void {
    this.#isConnectionBlocked = false
    this.#send()
  }

  onProgress(): void {
    this.#parts.watch.onProgress()
  }

  close(): void {
    this.#isEnded = true
    clearTimeout(this.#timer)
    this.#delayed.length = 0
    this.#parts.watch.close()
  }

  #add(write: Delayed['write'], isCounted: boolean): void {
    if (this.#isEnded) return
    this.#delayed.push({ dueMs: performance.now() + this.#parts.action.delayMs, write, isCounted })
  }

  /** Sends due events. Returns false if the watch must wait for `resume`. */
  #isAccepting(): boolean {
    this.#sendDue()
    this.#isWatchBlocked = !this.#isEnded && (this.#isConnectionBlocked || this.#delayed.length >= maxDelayed)
    return !this.#isWatchBlocked
  }

  #send(): void {
    this.#sendDue()
    if (!this.#isWatchBlocked || this.#isEnded || this.#isConnectionBlocked || this.#delayed.length >= maxDelayed) return
    this.#isWatchBlocked = false
    this.#parts.watch.resume()
  }

  #sendDue(): void {
    const { action, firing } = this.#parts
    while (this.#sink !== undefined && !this.#isEnded && !this.#isConnectionBlocked && !this.#endIfDue()) {
      const [next] = this.#delayed
      if (next === undefined) return
      const waitMs = next.dueMs - performance.now()
      if (waitMs > 0) {
        this.#wakeAfter(waitMs)
        return
      }
      this.#delayed.shift()
      if (action.end === undefined && next.isCounted) firing.fire()
      this.#isConnectionBlocked = !next.write(this.#sink)
      if (next.isCounted) this.#sent++
    }
  }

  #wakeAfter(waitMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#send()
    }, timerMs(waitMs)).unref()
  }

  #endIfDue(): boolean {
    const { action, firing, cut } = this.#parts
    if (action.end === undefined || this.#sent < action.afterEvents) return false
    firing.fire()
    this.close()
    if (action.end === 'cut') cut()
    else if (action.end === 'close') this.#sink?.end('done')
    else this.#sink?.fail(expired('The resourceVersion for the provided watch is too old.'))
    return true
  }
}
