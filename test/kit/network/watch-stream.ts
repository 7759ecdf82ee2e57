// An open watch of a test: its events in the order in which they came, and ways to wait for more of them.

import type { ClientRequest, IncomingMessage } from 'node:http'
import type { WireEvent } from './wire.js'

/** For a busy machine; who gets what it waits for does not wait so long. */
const patienceMs = 60_000

export class WatchStream {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly events: WireEvent[] = []
  /** When each of them came, by the clock that only goes forward. */
  readonly arrivedMs: number[] = []
  /** Resolves when the stream has ended, however that came. */
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
    response.on('data', (text: string) => this.take(text))
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

  /** Waits until there are `count` events, and returns all. */
  async atLeast(count: number, patience = patienceMs): Promise<readonly WireEvent[]> {
    const until = Date.now() + patience
    while (this.events.length < count) {
      const leftMs = until - Date.now()
      if (this.isEnded || leftMs <= 0) {
        throw new Error(
          `${this.isEnded ? 'the watch ended' : 'waited in vain'} after ${this.events.length} of ${count} events: ${this.summary()}`,
        )
      }
      await this.news(leftMs)
    }
    return this.events
  }

  /** Such as `ADDED a, MODIFIED a`. */
  summary(): string {
    return this.events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`).join(', ')
  }

  close(): void {
    this.request.destroy()
  }

  private news(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  private take(text: string): void {
    const lines = (this.rest + text).split('\n')
    this.rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') continue
      this.events.push(JSON.parse(line) as WireEvent)
      this.arrivedMs.push(performance.now())
    }
    this.wake()
  }
}
