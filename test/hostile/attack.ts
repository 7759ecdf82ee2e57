// Types of the attacks of `npm run hostile`. `finding` numbers the defect that an attack once showed; it only groups the output.

import type { ApiClient } from '../kit/api-client.js'
import type { ServerProcess } from '../kit/server-process.js'

export interface Target {
  readonly server: ServerProcess
  /** Client without a credential. */
  readonly anonymous: ApiClient
}

/** The response; the largest if there are several. */
export interface Outcome {
  readonly status: number
  readonly bytes: number
  /** Cleanup after the measurement. */
  readonly tidy?: () => void
}

/** Longest allowed event-loop block in milliseconds, by kind of attack: the budget of docs/reliability.md. */
export const maxBlockMs = {
  /** Ordinary load, 99th percentile. */
  ordinary: 10,
  /** One request of an authenticated client. */
  request: 50,
  /** One request with the largest object. */
  largest: 100,
  /** Many requests of an anonymous client. */
  flood: 100,
  /** 2,000 connections that close at once. */
  closedConnections: 1000,
} as const

export interface Attack {
  readonly finding: number
  readonly limit: keyof typeof maxBlockMs
  readonly name: string
  /** Preparation, not measured. */
  readonly prepare?: (target: Target) => Promise<void>
  readonly run: (target: Target, round: number) => Promise<Outcome>
}

/** Maximum size of an error response. */
export const maxErrorBytes = 1 << 20

/** The worst outcome: errors before successes, then the largest. */
export const worstOf = (outcomes: readonly Outcome[]): Outcome =>
  outcomes.reduce((worst, each) => (each.status >= 400 && (worst.status < 400 || each.bytes > worst.bytes) ? each : worst))

/** Headers count, too, because warnings repeat input. */
export const outcomeOf = ({ status, bytes, headers }: Awaited<ReturnType<ApiClient['send']>>): Outcome => ({
  status,
  bytes: bytes.length + JSON.stringify(headers).length,
})
