// Webhook audit backend: posts events as EventLists, with retries and backoff; events that cannot be sent are counted as lost.

import { setTimeout } from 'node:timers/promises'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { EndpointResponse } from '../net/outbound/json-endpoint.js'
import type { AuditCounters, Backend } from './audit.js'
import type { AuditEvent } from './audit-record.js'
import { maxBufferedBytes, memoryBytes } from './buffered-backend.js'

interface AuditEndpoint {
  post(json: string): Promise<Pick<EndpointResponse, 'status' | 'retryAfter'>>
  close(): void
}

interface WebhookBackendParts {
  readonly endpoint: AuditEndpoint
  readonly apiVersion: string
  readonly initialBackoffMs: number
  readonly counters: AuditCounters
  readonly logger: Logger
}

/** Five attempts with a backoff factor of 1.5, as in kube-apiserver. */
const maxTries = 5
const backoffFactor = 1.5
const maxJitter = 0.2
/** Maximum number of lists in flight; further ones are lost. */
const maxInFlight = 1_000

export class WebhookBackend implements Backend {
  readonly #parts: WebhookBackendParts
  readonly #closing = new AbortController()
  readonly #inFlight = new Set<Promise<boolean>>()
  #bufferedBytes = 0
  #isFailing = false

  constructor(parts: WebhookBackendParts) {
    this.#parts = parts
  }

  process(events: readonly AuditEvent[]): Promise<boolean> {
    const bytes = events.reduce((sum, event) => sum + memoryBytes(event), 0)
    if (this.#inFlight.size >= maxInFlight || (this.#bufferedBytes > 0 && this.#bufferedBytes + bytes > maxBufferedBytes)) {
      this.#parts.counters.countLost('webhook', events.length)
      return Promise.resolve(false)
    }
    this.#bufferedBytes += bytes
    const sent = this.#send(events).finally(() => {
      this.#bufferedBytes -= bytes
      this.#inFlight.delete(sent)
    })
    this.#inFlight.add(sent)
    return sent
  }

  /** Ends all backoffs: a list that waits gets one last attempt; a post in flight is not repeated. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#inFlight)
    this.#parts.endpoint.close()
  }

  async #send(events: readonly AuditEvent[]): Promise<boolean> {
    const { apiVersion, endpoint, initialBackoffMs, counters, logger } = this.#parts
    const list = `{"kind":"EventList","apiVersion":"${apiVersion}","metadata":{},"items":[${events.map(({ text }) => text).join(',')}]}`
    let problem: unknown
    for (let tries = 1, backoffMs = initialBackoffMs; tries <= maxTries; tries++, backoffMs *= backoffFactor) {
      try {
        const { status, retryAfter } = await endpoint.post(list)
        if (status >= 200 && status < 300) {
          this.#isFailing = false
          return true
        }
        problem = `status ${status}`
        if (!isRetriable(status) && retryAfter === undefined) break
      } catch (thrown) {
        problem = thrown
      }
      if (tries === maxTries || this.#closing.signal.aborted) break
      await setTimeout(timerMs(backoffMs * (1 + Math.random() * maxJitter)), undefined, { signal: this.#closing.signal }).catch(
        () => undefined,
      )
    }
    counters.countLost('webhook', events.length)
    if (!this.#isFailing)
      logger.error(
        { err: problem },
        'cannot send to the audit webhook; audit events are lost; check --audit-webhook-config-file and the webhook',
      )
    this.#isFailing = true
    return false
  }
}

const isRetriable = (status: number): boolean => status === 429 || status >= 500
