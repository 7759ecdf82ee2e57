// An open watch: its events in order, and functions that wait for more.

import type { ClientRequest, IncomingMessage } from 'node:http'
import type { WatchEvent } from './json-object.js'

/** Timeout for a busy machine. */
const timeoutMs = 60_000

export class WatchStream {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly events: WatchEvent[] = []
  /** Arrival times, from the monotonic clock. */
  readonly arrivedMs: number[] = []
  /** Resolves when the stream has ended for any reason. */
  readonly ended: Promise<void>
  isEnded = false
  private rest = ''
  private readonly request: ClientRequest
  private wake: () => void = () => undefined

  constructor(request: ClientRequest, response: IncomingMessage) {
    this.request = request
    this.status = response.statusCode ?? 0
    this.headers = response.headers
    response.setEncoding('utf8')
    response.on('data', (text: string) => this.read(text))
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.isEnded = true
        this.wake()
        resolve()
      }
      response.on('end', end)
      response.on('close', end)
      response.on('error', end)
      request.on('error', end)
    })
  }

  /** Waits for `count` events and returns all. */
  async atLeast(count: number, maxWaitMs = timeoutMs): Promise<readonly WatchEvent[]> {
    const until = Date.now() + maxWaitMs
    while (this.events.length < count) {
      const leftMs = until - Date.now()
      if (this.isEnded || leftMs <= 0) {
        throw new Error(
          `${this.isEnded ? 'the watch ended' : 'waited in vain'} after ${this.events.length} of ${count} events: ${this.summary()}`,
        )
      }
      await this.untilChange(leftMs)
    }
    return this.events
  }

  /** For example `ADDED a, MODIFIED a`. */
  summary(): string {
    return this.events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`).join(', ')
  }

  close(): void {
    this.request.destroy()
  }

  private untilChange(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  private read(text: string): void {
    const lines = (this.rest + text).split('\n')
    this.rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') continue
      this.events.push(JSON.parse(line) as WatchEvent)
      this.arrivedMs.push(performance.now())
    }
    this.wake()
  }
}
