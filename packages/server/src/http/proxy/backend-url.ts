// URLs of backends (kubelets, pods, services) and the errors of backends that cannot be reached.

import { ApiError, unavailableWithoutRetry } from '@cluster-apiserver/api/api/api-error.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { UpstreamError } from '../../net/proxy/upstream-error.js'
import type { Location } from '../../verbs/virtual/virtual-resource-types.js'

/** Throws 503 for a host or port that cannot be written in a URL. */
export function backendUrl({ scheme, host, port }: Location): URL {
  const name = host.includes(':') ? `[${host}]` : host
  const suffix = port === undefined ? '' : `:${port}`
  const text = `${scheme}://${name}${suffix}`
  // An @ in a node's name or in the client's port would select another host, past all address checks.
  const isValid = /^[A-Za-z0-9._:[\]-]+$/.test(name) && (port === undefined || /^\d{1,5}$/.test(port))
  if (!isValid || !URL.canParse(text)) throw unreachable(`dial tcp: lookup ${name}${shorten(suffix)}: no such host`)
  return new URL(text)
}

export const unreachable = (problem: string): ApiError => unavailableWithoutRetry(`error trying to reach service: ${problem}`)

/** A Status without a reason, as kube-apiserver returns for errors of backends. */
export const errorWithoutReason = (message: string, cause: unknown): ApiError => new ApiError({ code: 500, message }, { cause })

export const withQuery = (path: string, query: string): string => `${encodePath(path)}${query === '' ? '' : `?${encodeQuery(query)}`}`

/** Encodes a path as kube-apiserver does. */
export const encodePath = (path: string): string =>
  encodeURIComponent(path === '' ? '/' : path)
    .replace(/%(?:2F|24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

const encodeQuery = (query: string): string => query.replace(/[^\x21-\x7e]/g, (char) => encodeURIComponent(char))

/** The error of an upgraded connection: exec, attach, port forward, or a proxied WebSocket. */
export function upgradeError(thrown: unknown): unknown {
  if (!(thrown instanceof UpstreamError)) return thrown
  return errorWithoutReason(thrown.isConnected ? thrown.message : `error dialing backend: ${thrown.message}`, thrown)
}
