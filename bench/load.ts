// Sends requests for a given time, and measures the CPU time of the server and its helper processes per request.

import { Connection, type Target } from './connection.js'
import { cpuMicroseconds } from './cpu-time.js'

/** A server under load: its address, credential and process. */
export interface Served extends Target {
  readonly pid: number
  /** Helper processes, whose CPU time is added. */
  readonly helpers?: readonly number[]
}

export const cpuOf = ({ pid, helpers = [] }: Served): number => [pid, ...helpers].reduce((sum, each) => sum + cpuMicroseconds(each), 0)

interface LoadOptions {
  readonly connections: number
  readonly durationMs: number
  /** Creates the next request of a connection; the counter increases with every call. */
  readonly next: (connection: number, counter: number) => Buffer
  /** Expected status code. */
  readonly expect: number
}

export interface Cost {
  readonly requests: number
  readonly cpuMicrosecondsEach: number
  readonly perSecond: number
}

/** Sends requests on connections that are opened once and reused by every `run`. */
export class LoadGenerator {
  readonly served: Served
  private readonly connections: readonly Connection[]
  private counter = 0

  private constructor(served: Served, connections: readonly Connection[]) {
    this.served = served
    this.connections = connections
  }

  static async open(served: Served, connections: number): Promise<LoadGenerator> {
    return new LoadGenerator(served, await Promise.all(Array.from({ length: connections }, () => Connection.open(served))))
  }

  async run({ durationMs, next, expect }: Omit<LoadOptions, 'connections'>): Promise<Cost> {
    const begin = performance.now()
    const end = begin + durationMs
    const cpuBefore = cpuOf(this.served)
    const outcomes = await Promise.allSettled(
      this.connections.map(async (connection, i) => {
        let count = 0
        for (; performance.now() < end; count++) {
          const status = await connection.exchange(next(i, this.counter++))
          if (status !== expect) throw new Error(`the response was ${status}, not ${expect}`)
        }
        return count
      }),
    )
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    const requests = outcomes.reduce((sum, outcome) => sum + (outcome.status === 'fulfilled' ? outcome.value : 0), 0)
    const cpu = cpuOf(this.served) - cpuBefore
    return { requests, cpuMicrosecondsEach: cpu / requests, perSecond: (requests * 1000) / (performance.now() - begin) }
  }

  close(): void {
    for (const connection of this.connections) connection.close()
  }
}
