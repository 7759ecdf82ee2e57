// Pool of worker threads for steps on large inputs, behind a fair queue.

import { randomUUID } from 'node:crypto'
import { unavailable } from '@cluster-apiserver/api/api/api-error.js'
import type { OnAbort } from '@cluster-apiserver/api/api/call.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { OverloadedError } from '../flow-control/memory-pressure.js'
import { FairQueue, type QueuedTask } from './fair-queue.js'
import type { Step, Task, TaskResult, WorkerSettings } from './worker-tasks.js'
import { MismatchError, WorkerThread, type WorkerThreadOptions } from './worker-thread.js'

export interface WorkerPoolOptions {
  readonly threads: number
  readonly settings: WorkerSettings
  readonly logger: Logger
  /** Maximum processor time of one step. */
  readonly maxStepMs?: number
  readonly maxHeapMiB?: number
  readonly idleMs?: number
  readonly startThread?: (options: WorkerThreadOptions) => WorkerThread
}

interface StepOwner extends QueuedTask {
  readonly onAbort: OnAbort | undefined
}

interface Pending extends QueuedTask {
  readonly task: Task
  readonly resolve: (result: TaskResult) => void
  readonly reject: (reason: unknown) => void
  stopListening: () => void
}

const maxQueueBytes = { maxBytes: 96 << 20, maxUserBytes: 48 << 20 }
const defaultStepMs = 5000
const defaultHeapMiB = 512
const defaultIdleMs = 30_000
const checkMs = 500
/** Wall-clock limit of a step, as a multiple of `maxStepMs`: on a busy machine a step waits for the processor. */
const maxWallFactor = 6

export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #queue: FairQueue<Pending>
  readonly counters = { steps: 0, refused: 0, failedThreads: 0, mismatches: 0 }
  readonly #idle = new Set<WorkerThread>()
  readonly #busy = new Set<WorkerThread>()
  #running = 0
  #idleTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    // With two or more threads, one user cannot occupy all of them.
    this.#queue = new FairQueue({ ...maxQueueBytes, maxUserRunning: Math.max(1, options.threads - 1) })
  }

  get queuedBytes(): number {
    return this.#queue.bytes
  }

  get threads(): readonly WorkerThread[] {
    return [...this.#busy, ...this.#idle]
  }

  /** Rejects with 429 if the queue is full, with 503 if the step takes too much time or memory, and with the reason of an abort. */
  run(step: Step, { user, bytes, onAbort }: StepOwner): Promise<TaskResult> {
    if (this.#isClosed) return Promise.reject(shuttingDown())
    return new Promise((resolve, reject) => {
      const pending: Pending = { task: { id: randomUUID(), step }, user, bytes, resolve, reject, stopListening: () => undefined }
      if (!this.#queue.add(pending)) {
        this.counters.refused += 1
        reject(new OverloadedError())
        return
      }
      // A running step continues and its result is dropped: a new thread costs more than ending the step would save.
      const unsubscribe = onAbort?.((reason) => {
        this.#queue.remove(pending)
        reject(reason)
      })
      if (unsubscribe !== undefined) pending.stopListening = unsubscribe
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idleTimer)
    for (const { reject } of this.#queue.clear()) reject(shuttingDown())
    await Promise.all(this.threads.map((thread) => thread.terminate()))
  }

  #next(): void {
    while (this.#running < this.#options.threads) {
      const pending = this.#queue.take()
      if (pending === undefined) return
      this.#running += 1
      void this.#serve(pending)
    }
  }

  async #serve({ task, user, resolve, reject, stopListening }: Pending): Promise<void> {
    const startMs = performance.now()
    try {
      resolve(await this.#runIn(this.#takeThread(), task))
    } catch (thrown) {
      reject(this.#failure(thrown, task.step.step))
    } finally {
      stopListening()
      this.counters.steps += 1
      this.#running -= 1
      this.#queue.end(user, performance.now() - startMs)
      this.#next()
      this.#watchIdle()
    }
  }

  async #runIn(thread: WorkerThread, task: Task): Promise<TaskResult> {
    this.#busy.add(thread)
    const timer = limitStep(thread, this.#options.maxStepMs ?? defaultStepMs)
    try {
      return await thread.run(task)
    } finally {
      clearInterval(timer)
      this.#busy.delete(thread)
      if (!thread.hasEnded) this.#idle.add(thread)
    }
  }

  #takeThread(): WorkerThread {
    for (const thread of this.#idle) {
      this.#idle.delete(thread)
      if (!thread.hasEnded) return thread
    }
    const { settings, logger, maxHeapMiB = defaultHeapMiB, startThread = (options) => new WorkerThread(options) } = this.#options
    const onMismatch = (error: MismatchError): void => {
      this.counters.mismatches += 1
      logger.error({ error }, 'a worker thread mixed up two tasks and was ended; report this as a security issue')
    }
    return startThread({ settings, maxHeapMiB, onMismatch })
  }

  /** Error of a request whose thread did not start, ran out of memory or time, was killed, or mixed up tasks. */
  #failure(thrown: unknown, step: string): unknown {
    if (this.#isClosed) return shuttingDown()
    if (thrown instanceof MismatchError) return thrown
    this.counters.failedThreads += 1
    this.#options.logger.error({ error: thrown, step }, 'a worker thread ended while it ran a step; its request fails with 503')
    return unavailable('the request takes more memory or processor time than one request may')
  }

  #watchIdle(): void {
    clearTimeout(this.#idleTimer)
    if (this.#running > 0 || this.#isClosed) return
    this.#idleTimer = setTimeout(() => {
      for (const thread of this.#idle) void thread.terminate()
      this.#idle.clear()
    }, this.#options.idleMs ?? defaultIdleMs).unref()
  }
}

const shuttingDown = (): Error => unavailable('the server is shutting down')

/** Ends the thread when its step has used more than `maxMs` of processor time, or `maxWallFactor` times that of wall-clock time. */
function limitStep(thread: WorkerThread, maxMs: number): NodeJS.Timeout {
  const startMs = performance.now()
  const startCpu = process.cpuUsage()
  const check = (): void => {
    const wallMs = performance.now() - startMs
    // Node.js 20 has only the processor time of the whole process: an upper bound for the thread.
    const { user, system } = process.cpuUsage(startCpu)
    if ((wallMs > maxMs && (user + system) / 1000 > maxMs) || wallMs > maxWallFactor * maxMs) void thread.terminate()
  }
  return setInterval(check, Math.min(checkMs, maxMs)).unref()
}
