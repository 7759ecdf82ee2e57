// Prober: measures latencies of GETs during other work. A worker thread (get-prober.ts) sends the GETs.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { RequestParts, Target } from './connection.js'

export interface Latencies {
  readonly longestMs: number
  /** Longest latency without the time in which the event loop of the server, or the client, waited for a CPU. */
  readonly longestWithoutCpuWaitMs: number
  readonly p99Ms: number
  readonly count: number
}

export interface Probing {
  readonly target: Target
  readonly parts: RequestParts
  /** Process id of the server, to read its CPU wait time; undefined: the wait of the server counts as 0. */
  readonly pid?: number | undefined
  /** Pause between two GETs. */
  readonly pauseMs: number
  /** True: the prober has a higher priority, as if it had its own machine. */
  readonly hasHighPriority: boolean
}

export class Prober {
  private readonly worker: Worker

  constructor({ port, ca, token }: Target, parts: RequestParts, options: Partial<Omit<Probing, 'target' | 'parts'>> = {}) {
    const probing: Probing = { target: { port, ca, token }, parts, pauseMs: 1, hasHighPriority: false, ...options }
    this.worker = new Worker(new URL('./get-prober.js', import.meta.url), { workerData: probing })
  }

  /** Measures from start to end of some work. */
  async during(work: () => Promise<unknown>): Promise<Latencies> {
    await this.report()
    await work()
    return this.report()
  }

  /** Latencies since the last call. */
  report(): Promise<Latencies> {
    return this.request('report')
  }

  close(): Promise<Latencies> {
    return this.request('end')
  }

  private async request(message: 'report' | 'end'): Promise<Latencies> {
    this.worker.postMessage(message)
    const [latencies] = (await once(this.worker, 'message')) as [Latencies]
    return latencies
  }
}
