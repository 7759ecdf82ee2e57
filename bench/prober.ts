// How long gets wait beside other work: see get-prober.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { RequestParts, Target } from './connection.js'

export interface Waits {
  readonly longestMs: number
  /** The longest, less the time in which the server's event loop, or the client, had no processor; whichever stood by for longer. */
  readonly longestWithProcessorMs: number
  readonly p99Ms: number
  readonly count: number
}

export interface Probing {
  readonly target: Target
  readonly parts: RequestParts
  /** Of the server's process. */
  readonly pid?: number | undefined
  /** Between two gets. */
  readonly pauseMs: number
  /** Whether the client is run before others, as if it were on a machine of its own. */
  readonly isFirst: boolean
}

export class Prober {
  private readonly worker: Worker

  constructor({ port, ca, token }: Target, parts: RequestParts, options: Partial<Omit<Probing, 'target' | 'parts'>> = {}) {
    const probing: Probing = { target: { port, ca, token }, parts, pauseMs: 1, isFirst: false, ...options }
    this.worker = new Worker(new URL('./get-prober.js', import.meta.url), { workerData: probing })
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
