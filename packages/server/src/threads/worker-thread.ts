// One worker thread, which runs one task at a time. Hand-written: piscina 5.3 loses a task when a thread dies before it is ready.

import { Worker } from 'node:worker_threads'
import type { Task, TaskResult, WorkerSettings } from './worker-tasks.js'

export interface WorkerThreadOptions {
  readonly settings: WorkerSettings
  readonly maxHeapMiB: number
  readonly onMismatch: (error: MismatchError) => void
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
  #endReason: Error | undefined

  constructor({ settings, maxHeapMiB, onMismatch, entry = new URL('./worker-entry.js', import.meta.url) }: WorkerThreadOptions) {
    this.#onMismatch = onMismatch
    // Worker threads get neither the flags nor the environment of this process.
    const isolated = { execArgv: [], env: {} }
    this.#worker = new Worker(entry, { ...isolated, workerData: settings, resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB } })
    this.#worker.on('message', (result: TaskResult) => this.#receive(result))
    this.#worker.on('messageerror', (error) => void this.terminate(error))
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', (code) => this.#fail(new Error(`the worker thread exited with code ${code}`)))
    this.#worker.unref()
  }

  get hasEnded(): boolean {
    return this.#endReason !== undefined
  }

  /** Rejects if the thread ends, and with a MismatchError if it mixes up tasks. */
  run(task: Task): Promise<TaskResult> {
    if (this.#endReason !== undefined) return Promise.reject(this.#endReason)
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
    this.#endReason ??= reason
    const running = this.#running
    this.#running = undefined
    running?.reject(reason)
  }
}
