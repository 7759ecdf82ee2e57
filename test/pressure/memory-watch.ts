// The most memory that a server has used while something went on, looked at often.

import assert from 'node:assert/strict'
import type { Closing } from '../../src/base/timed-test.fixture.js'
import type { ServerProcess } from '../kit/server-process.js'

const lookMs = 20
const mebi = 1 << 20

export class MemoryWatch {
  private peakBytes = 0
  private readonly server: ServerProcess
  private readonly timer: NodeJS.Timeout

  constructor(server: ServerProcess, test: Closing) {
    this.server = server
    this.timer = setInterval(() => this.look(), lookMs).unref()
    test.after(() => clearInterval(this.timer))
  }

  /** Ends the watch; fails when the server has used more of its own memory than it should have. */
  expectBelow(maxMiB: number, what: string): void {
    clearInterval(this.timer)
    this.look()
    const peakMiB = Math.round(this.peakBytes / mebi)
    assert.ok(peakMiB <= maxMiB, `${what}: ${peakMiB} MiB, allowed are ${maxMiB}`)
    if (process.env['PRESSURE_VERBOSE']) console.error(`${what}: ${peakMiB} MiB, allowed are ${maxMiB}`)
  }

  private look(): void {
    this.peakBytes = Math.max(this.peakBytes, this.server.ownBytes)
  }
}
