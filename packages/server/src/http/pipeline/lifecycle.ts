// Hooks on the lifecycle of a request, for metrics, logs, audit and traces, including the hooks that log internal errors.

import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { Exchange, LifecycleStage } from './exchange.js'

type Hook = (exchange: Exchange) => void

/** Hooks must not throw. `responseComplete` runs once per request; for a watch at the end of its stream. */
export interface RequestHooks extends Partial<Readonly<Record<LifecycleStage, Hook>>> {
  /** Called for errors that are bugs, not responses. */
  readonly panic?: (exchange: Exchange, thrown: unknown) => void
}

/** A proxied server aborted its response. The message, which the audit log shows, is that of kube-apiserver. */
export class AbortedUpstreamError extends Error {
  constructor() {
    super('net/http: abort Handler')
  }
}

export const loggingHooks = (logger: Logger): RequestHooks => ({
  panic: ({ info, auditId }, thrown) => {
    const fields = { method: info.method, path: info.path, auditId }
    if (thrown instanceof AbortedUpstreamError) logger.warn(fields, 'an upstream server aborted its response')
    else logger.error({ error: thrown, ...fields }, 'internal error')
  },
})
