// The backend that sends events to a service, as lists. What is not taken is sent again after a while, and then lost.

import { setTimeout } from 'node:timers/promises'
import { timerMs } from '../base/clock.js'
import type { Logger } from '../base/logger.js'
import type { EndpointAnswer } from '../net/json-endpoint.js'
import type { AuditTallies, Backend } from './backend.js'
import { heldBytes, mostHeldBytes } from './buffered.js'
import type { AuditEvent } from './record.js'

export interface AuditEndpoint {
  /** JSON there; rejects when nobody answers. */
  post(json: string): Promise<Pick<EndpointAnswer, 'status' | 'retryAfter'>>
  close(): void
}

export interface WebhookBackendParts {
  readonly endpoint: AuditEndpoint
  /** The version of events. */
  readonly apiVersion: string
  readonly initialBackoffMs: number
  readonly tallies: AuditTallies
  readonly logger: Logger
}

/** As the reference does: five tries, each pause half as long again as the last. */
const mostTries = 5
const pauseFactor = 1.5
const jitter = 0.2
/** Lists on their way without anybody waiting for them: beyond that they are lost. */
const mostUnderWay = 1_000

export class WebhookBackend implements Backend {
  readonly #parts: WebhookBackendParts
  readonly #closing = new AbortController()
  readonly #underWay = new Set<Promise<boolean>>()
  #heldBytes = 0
  #isFailing = false

  constructor(parts: WebhookBackendParts) {
    this.#parts = parts
  }

  process(events: readonly AuditEvent[]): Promise<boolean> {
    const bytes = events.reduce((sum, event) => sum + heldBytes(event), 0)
    if (this.#underWay.size >= mostUnderWay || (this.#heldBytes > 0 && this.#heldBytes + bytes > mostHeldBytes)) {
      this.#parts.tallies.countLost('webhook', events.length)
      return Promise.resolve(false)
    }
    this.#heldBytes += bytes
    const sent = this.#send(events).finally(() => {
      this.#heldBytes -= bytes
      this.#underWay.delete(sent)
    })
    this.#underWay.add(sent)
    return sent
  }

  /** What is under way has one more try; nothing is waited for any longer than that. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#underWay)
    this.#parts.endpoint.close()
  }

  async #send(events: readonly AuditEvent[]): Promise<boolean> {
    const { apiVersion, endpoint, initialBackoffMs, tallies, logger } = this.#parts
    const list = `{"kind":"EventList","apiVersion":"${apiVersion}","metadata":{},"items":[${events.map(({ text }) => text).join(',')}]}`
    let problem: unknown
    for (let tries = 1, pauseMs = initialBackoffMs; tries <= mostTries; tries++, pauseMs *= pauseFactor) {
      try {
        const { status, retryAfter } = await endpoint.post(list)
        if (status >= 200 && status < 300) {
          this.#isFailing = false
          return true
        }
        problem = `answered with ${status}`
        if (!isPassing(status) && retryAfter === undefined) break
      } catch (thrown) {
        problem = thrown
      }
      if (tries === mostTries || this.#closing.signal.aborted) break
      await setTimeout(timerMs(pauseMs * (1 + Math.random() * jitter)), undefined, { signal: this.#closing.signal }).catch(() => undefined)
    }
    tallies.countLost('webhook', events.length)
    if (!this.#isFailing) logger.error({ err: problem }, 'audit events cannot be sent to the audit webhook and are lost')
    this.#isFailing = true
    return false
  }
}

/** What may be otherwise at the next try. */
const isPassing = (status: number): boolean => status === 429 || status >= 500
