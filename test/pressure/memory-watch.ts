// The most memory that a server has used while something went on, looked at often.

import assert from 'node:assert/strict'
import type { ServerProcess } from '../kit/server-process.js'

const lookMs = 20
const mebi = 1 << 20

export class MemoryWatch {
  readonly beforeBytes: number
  peakBytes: number
  private readonly server: ServerProcess
  private readonly timer: NodeJS.Timeout

  constructor(server: ServerProcess) {
    this.server = server
    this.beforeBytes = server.ownBytes
    this.peakBytes = this.beforeBytes
    this.timer = setInterval(() => this.look(), lookMs)
  }

  get grownMiB(): number {
    this.look()
    return Math.round((this.peakBytes - this.beforeBytes) / mebi)
  }

  /** Ends the watch; fails when the server grew by more than it should have. */
  expectBelow(maxMiB: number, what: string): void {
    const { grownMiB } = this
    clearInterval(this.timer)
    console.error(`${what}: grew by ${grownMiB} MiB at most, from ${Math.round(this.beforeBytes / mebi)}; allowed: ${maxMiB}`)
    assert.ok(grownMiB <= maxMiB, `${what}: grew by ${grownMiB} MiB, allowed are ${maxMiB}`)
  }

  private look(): void {
    this.peakBytes = Math.max(this.peakBytes, this.server.ownBytes)
  }
}
