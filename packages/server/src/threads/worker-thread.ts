// One worker thread, which runs one task at a time.
//
// Hand-written because a pool library was tried: piscina 5.3 loses a task for good when a thread dies before it is ready (worker-pool.test.ts kills
// threads at random times; its tasks never ended). This is all of it that the server needs.

import { Worker } from 'node:worker_threads'
import type { Task, TaskResult, WorkerSettings } from './tasks.js'

export interface WorkerThreadOptions {
  readonly settings: WorkerSettings
  readonly maxHeapMiB: number
  readonly onMismatch: (error: MismatchError) => void
  /** The script that the thread runs, if it is not the usual one. */
  readonly entry?: URL
}

/** The thread returned the result of another task: nothing that it returns can be trusted. */
export class MismatchError extends Error {
  override readonly name = 'MismatchError'
}

export class WorkerThread {
  readonly #worker: Worker
  readonly #onMismatch: WorkerThreadOptions['onMismatch']
  #running: { readonly id: string; readonly resolve: (result: TaskResult) => void; readonly reject: (reason: Error) => void } | undefined
  /** Why it has ended. */
  #end: Error | undefined

  constructor({ settings, maxHeapMiB, onMismatch, entry = new URL('./worker-entry.js', import.meta.url) }: WorkerThreadOptions) {
    this.#onMismatch = onMismatch
    // Neither the flags nor the environment of this process are for its threads.
    const isolated = { execArgv: [], env: {} }
    this.#worker = new Worker(entry, { ...isolated, workerData: settings, resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB } })
    this.#worker.on('message', (result: TaskResult) => this.#receive(result))
    this.#worker.on('messageerror', (error) => void this.terminate(error))
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', (code) => this.#fail(new Error(`the worker thread exited with code ${code}`)))
    this.#worker.unref()
  }

  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  /** Rejects if the thread ends, for whatever reason, and with a MismatchError if it mixes up tasks. */
  run(task: Task): Promise<TaskResult> {
    if (this.#end !== undefined) return Promise.reject(this.#end)
    return new Promise((resolve, reject) => {
      this.#running = { id: task.id, resolve, reject }
      this.#worker.ref()
      this.#worker.postMessage(task)
    })
  }

  async terminate(reason = new Error('the worker thread was ended')): Promise<void> {
    this.#fail(reason)
    await this.#worker.terminate()
  }

  #receive(result: TaskResult): void {
    const running = this.#running
    if (running?.id === result.id) {
      this.#running = undefined
      this.#worker.unref()
      running.resolve(result)
      return
    }
    const error = new MismatchError(`a worker thread returned the result of task ${result.id} for task ${running?.id ?? 'none'}`)
    this.#onMismatch(error)
    void this.terminate(error)
  }

  #fail(reason: Error): void {
    this.#end ??= reason
    const running = this.#running
    this.#running = undefined
    running?.reject(reason)
  }
}
