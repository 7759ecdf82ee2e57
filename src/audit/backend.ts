// Where events go, and how many of them got there.

import type { AuditEvent } from './record.js'

/** Takes events in their order. */
export interface Backend {
  /** False, or a promise of it: they were lost, and counted. At once where nothing has to be waited for. */
  process(events: readonly AuditEvent[]): boolean | Promise<boolean>
  /** Everything that was taken is written, or lost for good. */
  close(): Promise<void>
}

/** Counts what every part of auditing did. */
export class AuditTallies {
  events = 0
  /** Requests that were refused because they could not be told of. */
  rejected = 0
  /** Requests by level. */
  readonly levels = new Map<string, number>()
  /** Events that were lost, by who lost them. */
  readonly errors = new Map<string, number>()

  countLevel(level: string): void {
    this.levels.set(level, (this.levels.get(level) ?? 0) + 1)
  }

  countLost(plugin: string, events: number): void {
    this.errors.set(plugin, (this.errors.get(plugin) ?? 0) + events)
  }
}

export type AuditMode = 'batch' | 'blocking' | 'blocking-strict'
