// Auditing as a whole: the policy decides which requests are told of, and every backend is told.

import type { AuditTallies, Backend } from './backend.js'
import type { AuditPolicy } from './policy.js'
import type { AuditEvent } from './record.js'

export interface AuditBackend {
  readonly backend: Backend
  /** Whether a request is refused when its first event is lost. */
  readonly isStrict: boolean
  /** Whether a request waits until its first event is there. */
  readonly isAwaited: boolean
}

export interface AuditParts {
  readonly policy: AuditPolicy
  readonly backends: readonly AuditBackend[]
  readonly tallies: AuditTallies
  /** The version of events, with its group. */
  readonly apiVersion: string
}

export class Audit {
  readonly policy: AuditPolicy
  readonly tallies: AuditTallies
  readonly apiVersion: string
  readonly #backends: readonly AuditBackend[]

  constructor({ policy, backends, tallies, apiVersion }: AuditParts) {
    this.policy = policy
    this.tallies = tallies
    this.apiVersion = apiVersion
    this.#backends = backends
  }

  /** Nobody waits for it. */
  tell(event: AuditEvent): void {
    this.tallies.events++
    for (const { backend } of this.#backends) void backend.process([event])
  }

  /** False: the request must not go on. A promise where somebody has to be waited for. */
  tellFirst(event: AuditEvent): boolean | Promise<boolean> {
    this.tallies.events++
    let isTaken = true
    let waiting: Promise<boolean>[] | undefined
    for (const { backend, isStrict, isAwaited } of this.#backends) {
      const taken = backend.process([event])
      if (typeof taken === 'boolean') isTaken &&= taken || !isStrict
      else if (isAwaited) {
        waiting ??= []
        waiting.push(taken.then((done) => done || !isStrict))
      }
    }
    if (waiting === undefined) return isTaken
    return Promise.all(waiting).then((all) => isTaken && all.every(Boolean))
  }

  async close(): Promise<void> {
    await Promise.all(this.#backends.map(({ backend }) => backend.close()))
  }
}
