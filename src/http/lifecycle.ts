// The stages of a request, by name, and who is told of each: metrics, logs, audit. Order is that of the list of hooks.

import type { Logger } from '../base/logger.js'
import type { Exchange } from './exchange.js'

/** All of them are optional: a stage that nobody asks for costs nothing. Hooks must not throw. */
export interface RequestHooks {
  /** The request has come; nobody knows yet who sent it. */
  readonly received?: Hook
  readonly authenticated?: Hook
  /** Another server answers from here on, and takes as long as it likes: this one only passes bytes on. */
  readonly delegated?: Hook
  /** The head of the answer is about to be sent. */
  readonly responseStarted?: Hook
  /** Once for every request, at the very end: for a watch when its stream has ended. */
  readonly responseComplete?: Hook
  /** Something was thrown that is no answer: a fault of the server. */
  readonly panic?: (exchange: Exchange, thrown: unknown) => void
}

type Hook = (exchange: Exchange) => void

/** Who is told, stage by stage. */
export class Lifecycle {
  private readonly hooks: { readonly [Stage in keyof RequestHooks]-?: readonly NonNullable<RequestHooks[Stage]>[] }

  constructor(hooks: readonly RequestHooks[]) {
    const of = <Stage extends keyof RequestHooks>(stage: Stage): readonly NonNullable<RequestHooks[Stage]>[] =>
      hooks.flatMap((each) => each[stage] ?? [])
    this.hooks = {
      received: of('received'),
      authenticated: of('authenticated'),
      delegated: of('delegated'),
      responseStarted: of('responseStarted'),
      responseComplete: of('responseComplete'),
      panic: of('panic'),
    }
  }

  tell(stage: Exclude<keyof RequestHooks, 'panic'>, exchange: Exchange): void {
    for (const hook of this.hooks[stage]) hook(exchange)
  }

  panic(exchange: Exchange, thrown: unknown): void {
    for (const hook of this.hooks.panic) hook(exchange, thrown)
  }

  /** The work for a request is done; its answer may go on: a watch is complete when its stream has ended. */
  complete(exchange: Exchange): void {
    if (exchange.isLongRunning && exchange.response.headersSent && !exchange.response.writableEnded) {
      exchange.onEnd(() => this.tell('responseComplete', exchange))
    } else {
      this.tell('responseComplete', exchange)
    }
  }
}

/** Another server broke its answer off: no fault of this one, but the audit log tells of it in the same words as the reference. */
export class BrokenAnswerError extends Error {
  constructor() {
    super('net/http: abort Handler')
  }
}

/** Faults of the server, in its log. */
export const loggingHooks = (logger: Logger): RequestHooks => ({
  panic: ({ info, auditId }, thrown) => {
    const fields = { method: info.method, path: info.path, auditId }
    if (thrown instanceof BrokenAnswerError) logger.warn(fields, 'another server aborted its response')
    else logger.error({ err: thrown, ...fields }, 'internal error')
  },
})
