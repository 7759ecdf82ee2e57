// How long gets wait beside other work: see get-prober.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { RequestParts, Target } from './connection.js'

export interface Waits {
  readonly longestMs: number
  readonly p99Ms: number
  readonly count: number
}

export class Prober {
  private readonly worker: Worker

  constructor({ port, ca, token }: Target, parts: RequestParts) {
    this.worker = new Worker(new URL('./get-prober.js', import.meta.url), { workerData: { target: { port, ca, token }, parts } })
  }

  /** From the beginning of some work to its end. */
  async during(work: () => Promise<unknown>): Promise<Waits> {
    await this.report()
    await work()
    return this.report()
  }

  /** Since it was last asked. */
  report(): Promise<Waits> {
    return this.ask('report')
  }

  close(): Promise<Waits> {
    return this.ask('end')
  }

  private async ask(message: 'report' | 'end'): Promise<Waits> {
    this.worker.postMessage(message)
    const [waits] = (await once(this.worker, 'message')) as [Waits]
    return waits
  }
}
