// The request as flow control sees it, and the kinds of requests that limits treat differently: probes, reads, exempt and long-running.

import type { RequestInfo } from '@cluster-apiserver/api/api/request-info.js'
import { mastersGroup, type User } from '@cluster-apiserver/api/api/user.js'

/** Implemented by `Exchange` in the folder `http`. */
export interface FlowRequest {
  readonly info: RequestInfo
  readonly user: User
  /** Milliseconds since 1970, when the request arrived. */
  readonly now: number
  /** When the request arrived, by performance.now(). */
  readonly begunMs: number
  readonly isClosed: boolean
  readonly isTimedOut: boolean
  /** Releases the memory that the body is charged for. */
  releaseBody(): void
  /** Runs the callback when the response has ended or the client has disconnected. */
  onClose(callback: () => void): void
}

const probePaths = ['/livez', '/readyz', '/healthz']
/** `a`, the second character of `/api` and `/apis`: most requests need no comparison with the probe paths. */
const charOfApi = 0x61

export const isProbeUrl = (url: string): boolean =>
  url.charCodeAt(1) !== charOfApi &&
  probePaths.some((path) => url.startsWith(path) && (url.length === path.length || url[path.length] === '/' || url[path.length] === '?'))

/** Health probes are never refused, so that an overloaded server is not restarted. */
export const isProbe = ({ info }: Pick<FlowRequest, 'info'>): boolean => !info.isResource && isProbeUrl(info.path)

const readOnlyVerbs = new Set(['get', 'list', 'watch', 'head', 'options'])

export const isReadOnly = ({ info }: Pick<FlowRequest, 'info'>): boolean => readOnlyVerbs.has(info.verb)

/** Administrators must be able to repair an overloaded server. */
export const isExempt = ({ user }: Pick<FlowRequest, 'user'>): boolean => user.groups.includes(mastersGroup)

const longRunningSubresources = new Set(['attach', 'exec', 'proxy', 'log', 'portforward'])

/** True for requests without a deadline, judged by verb and path alone: watches, logs, exec, proxied requests and profiles. */
export const isLongRunning = ({ isResource, verb, subresource, path }: RequestInfo): boolean =>
  isResource ? verb === 'watch' || verb === 'proxy' || longRunningSubresources.has(subresource) : path.startsWith('/debug/pprof/')
