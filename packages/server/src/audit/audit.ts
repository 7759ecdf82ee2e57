// Auditing: policy, backends and counters.

import type { AuditPolicy } from './audit-policy.js'
import type { AuditEvent } from './audit-record.js'

export interface AuditBackend {
  readonly backend: Backend
  /** blocking-strict: the request is rejected if its RequestReceived event is lost. */
  readonly isStrict: boolean
  /** The request waits until its RequestReceived event is written. */
  readonly isBlocking: boolean
}

interface AuditParts {
  readonly policy: AuditPolicy
  readonly backends: readonly AuditBackend[]
  readonly counters: AuditCounters
  readonly apiVersion: string
}

export class Audit {
  readonly policy: AuditPolicy
  readonly counters: AuditCounters
  readonly apiVersion: string
  readonly #backends: readonly AuditBackend[]

  constructor({ policy, backends, counters, apiVersion }: AuditParts) {
    this.policy = policy
    this.counters = counters
    this.apiVersion = apiVersion
    this.#backends = backends
  }

  write(event: AuditEvent): void {
    this.counters.events++
    for (const { backend } of this.#backends) void backend.process([event])
  }

  /** Writes the RequestReceived event; resolves with false if the request must be rejected. */
  async writeFirst(event: AuditEvent): Promise<boolean> {
    this.counters.events++
    const results = this.#backends.map(async ({ backend, isStrict, isBlocking }) => {
      const processed = backend.process([event])
      return !isBlocking || (await processed) || !isStrict
    })
    return (await Promise.all(results)).every(Boolean)
  }

  async close(): Promise<void> {
    await Promise.all(this.#backends.map(({ backend }) => backend.close()))
  }
}

export interface Backend {
  /** Resolves with false if events were lost; the backend counts them. */
  process(events: readonly AuditEvent[]): Promise<boolean>
  /** Resolves when all accepted events are written or lost. */
  close(): Promise<void>
}

export class AuditCounters {
  events = 0
  rejected = 0
  readonly levels = new Map<string, number>()
  readonly errors = new Map<string, number>()

  countLevel(level: string): void {
    this.levels.set(level, (this.levels.get(level) ?? 0) + 1)
  }

  countLost(plugin: string, events: number): void {
    this.errors.set(plugin, (this.errors.get(plugin) ?? 0) + events)
  }
}
