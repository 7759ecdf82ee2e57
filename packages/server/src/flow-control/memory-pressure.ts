// Memory limits of request bodies and of responses that clients have not read yet: for all users together, and half of that for one user.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'

interface MemoryLimits {
  /** Limit of request bodies, which stay in memory until the response. */
  readonly bodyBytes: number
  /** Limit of responses that clients have not read yet. */
  readonly responseBytes: number
  /** Time that a client has to read a response. */
  readonly responseMs: number
}

/** Sent as plain text instead of a Status, as in kube-apiserver. */
export class OverloadedError extends ApiError {
  constructor() {
    super({
      code: 429,
      reason: 'TooManyRequests',
      message: 'Too many requests, please try again later.',
      details: { retryAfterSeconds: 1 },
    })
  }
}

interface UnreadResponse {
  cut(): void
}

/** Bytes of all users together and of each user. */
class MemoryShares {
  readonly #limit: number
  readonly #byUser = new Map<string, number>()
  #total = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get total(): number {
    return this.#total
  }

  /** True if `more` bytes exceed the limit, or half of it for this user. */
  exceeds(user: string, more: number): boolean {
    return this.#total + more > this.#limit || (this.#byUser.get(user) ?? 0) + more > this.#limit / 2
  }

  add(user: string, bytes: number): void {
    this.#total += bytes
    const left = (this.#byUser.get(user) ?? 0) + bytes
    if (left === 0) this.#byUser.delete(user)
    else this.#byUser.set(user, left)
  }
}

interface TrackedResponse {
  readonly response: UnreadResponse
  /** Age in checks, not in milliseconds: a suspended process must not disconnect its clients when it resumes. */
  checks: number
}

const checkMs = 1000

export class MemoryPressure {
  readonly #limits: MemoryLimits
  readonly #unread = new Set<TrackedResponse>()
  #timer: NodeJS.Timeout | undefined
  readonly #bodies: MemoryShares
  readonly #responses: MemoryShares

  constructor(limits: MemoryLimits) {
    this.#limits = limits
    this.#bodies = new MemoryShares(limits.bodyBytes)
    this.#responses = new MemoryShares(limits.responseBytes)
  }

  get bodyBytes(): number {
    return this.#bodies.total
  }

  get responseBytes(): number {
    return this.#responses.total
  }

  /** True if requests of this user must be refused. */
  isFullFor(user: string): boolean {
    return this.#responses.exceeds(user, 0) || this.#bodies.exceeds(user, 0)
  }

  /** Counts body bytes; throws an OverloadedError beyond the limit. */
  addBody(user: string, bytes: number): void {
    if (this.#bodies.exceeds(user, bytes)) throw new OverloadedError()
    this.#bodies.add(user, bytes)
  }

  releaseBody(user: string, bytes: number): void {
    this.#bodies.add(user, -bytes)
  }

  /** Counts a response until the returned function is called; cuts it off after `responseMs`. */
  addResponse(user: string, response: UnreadResponse, bytes: number): () => void {
    const tracked: TrackedResponse = { response, checks: 0 }
    this.#unread.add(tracked)
    this.#responses.add(user, bytes)
    this.#timer ??= setInterval(() => this.#check(), checkMs).unref()
    return () => {
      if (this.#unread.delete(tracked)) this.#responses.add(user, -bytes)
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #check(): void {
    if (this.#unread.size === 0) this.close()
    const maxChecks = Math.max(2, Math.ceil(this.#limits.responseMs / checkMs))
    for (const tracked of this.#unread) {
      tracked.checks += 1
      if (tracked.checks > maxChecks) tracked.response.cut()
    }
  }
}
