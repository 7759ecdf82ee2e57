// Open watches that count their events.

import { connect, type TLSSocket } from 'node:tls'
import { requestBytes } from './connection.js'
import type { Served } from './load.js'
import { PatternCounter } from './pattern-counter.js'

export const watcherCount = 200

/** A watch: path, Accept header, and a byte pattern that occurs once per frame. */
export interface Stream {
  readonly path: string
  readonly accept?: string
  readonly pattern: Buffer
}

export const jsonFrameEnd = Buffer.from('}\n')

const maxSilenceMs = 10_000

/** Open streams that count frames. */
export class Watchers {
  frames = 0
  private readonly sockets: readonly TLSSocket[]
  private waiting: (() => void)[] = []

  private constructor(sockets: readonly TLSSocket[], pattern: Buffer) {
    this.sockets = sockets
    for (const socket of sockets) {
      const counter = new PatternCounter(pattern)
      socket.on('data', (chunk: Buffer) => this.take(counter.count(chunk)))
    }
  }

  static async open(served: Served, { pattern, ...parts }: Stream): Promise<Watchers> {
    const request = requestBytes(served, { method: 'GET', ...parts })
    const sockets: TLSSocket[] = []
    // A server closes the oldest handshakes if too many clients come at once.
    while (sockets.length < watcherCount)
      sockets.push(...(await Promise.all(Array.from({ length: 20 }, () => openStream(served, request)))))
    return new Watchers(sockets, pattern)
  }

  /** Fails if no more frames arrive before the count is reached: an event was lost. */
  async until(frames: number): Promise<void> {
    while (this.frames < frames) {
      await new Promise<void>((resolve, reject) => {
        const missing = (): Error => new Error(`watchers did not receive ${frames - this.frames} frames`)
        const timer = setTimeout(() => reject(missing()), maxSilenceMs)
        this.waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy()
  }

  private take(frames: number): void {
    this.frames += frames
    const woken = this.waiting
    if (woken.length === 0) return
    this.waiting = []
    for (const wake of woken) wake()
  }
}

/** Resolves when the response headers have arrived. */
function openStream({ port, ca }: Served, request: Buffer): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca, ALPNProtocols: ['http/1.1'] }, () => socket.write(request))
    socket.once('error', reject)
    socket.once('data', () => resolve(socket))
  })
}
