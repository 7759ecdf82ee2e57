// Peak memory of a server during a test. Memory depends on the machine, so only `npm run pressure` asserts it; other runs print it.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { ServerProcess } from '../../../../test/kit/server-process.js'

const sampleIntervalMs = 20
const mebi = 1 << 20

export class PeakMemory {
  private peakBytes = 0
  private readonly server: ServerProcess
  private readonly test: TestContext
  private readonly timer: NodeJS.Timeout

  constructor(server: ServerProcess, test: TestContext) {
    this.server = server
    this.test = test
    this.timer = setInterval(() => this.sample(), sampleIntervalMs).unref()
    test.after(() => clearInterval(this.timer))
  }

  /** Stops sampling and prints the peak; under `npm run pressure`, fails if it exceeds the limit. */
  expectBelow(maxMiB: number, title: string): void {
    clearInterval(this.timer)
    this.sample()
    const peakMiB = Math.round(this.peakBytes / mebi)
    const message = `${title}: peak ${peakMiB} MiB, limit ${maxMiB} MiB`
    this.test.diagnostic(message)
    if (process.env['ASSERT_MEMORY']) assert.ok(peakMiB <= maxMiB, message)
  }

  private sample(): void {
    this.peakBytes = Math.max(this.peakBytes, this.server.ownBytes)
  }
}
