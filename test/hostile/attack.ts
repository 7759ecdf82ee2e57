// What a hostile client did to the server once, to be done again: by the number of the finding in the list of the first pass, or 9 for small parts.

import type { ApiClient } from '../kit/api-client.js'
import type { ServerProcess } from '../kit/server-process.js'

export interface Target {
  readonly server: ServerProcess
  /** Has no credential. */
  readonly anonymous: ApiClient
}

/** What came back: the largest counts where there are several. */
export interface Outcome {
  readonly status: number
  readonly bytes: number
  /** What is to be done when all was measured. */
  readonly tidy?: () => void
}

export interface Attack {
  readonly finding: number
  readonly name: string
  /** What it needs to be there, which is not part of it. */
  readonly prepare?: (target: Target) => Promise<void>
  readonly run: (target: Target, round: number) => Promise<Outcome>
}

/** No answer to an error is larger. */
export const largestError = 1 << 20

/** The worst of several outcomes: an error comes before what is none, and then the largest. */
export const worstOf = (outcomes: readonly Outcome[]): Outcome =>
  outcomes.reduce((worst, each) => (each.status >= 400 && (worst.status < 400 || each.bytes > worst.bytes) ? each : worst))

/** The lines of the head count as well: what is repeated in a warning is in there. */
export const outcomeOf = ({ status, bytes, headers }: Awaited<ReturnType<ApiClient['send']>>): Outcome => ({
  status,
  bytes: bytes.length + JSON.stringify(headers).length,
})
