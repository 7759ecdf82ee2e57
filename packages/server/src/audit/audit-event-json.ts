// JSON of audit events, with fields in the order of kube-apiserver.

import type { RequestInfo } from '@cluster-apiserver/api/api/request-info.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { canonicalIp, familyOf } from '@cluster-apiserver/api/api/validation/network/ip-text.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import { writeAny } from '@cluster-apiserver/api/schema/json/write.js'

export interface RecordedRequest {
  readonly info: RequestInfo
  readonly name: string
  readonly verb: string
  readonly uri: string
  readonly auditId: string
  readonly userAgent: string
  readonly sourceIps: readonly string[]
  /** Undefined if the request is not authenticated. */
  readonly user: User | undefined
  readonly receivedMs: number
}

export interface ObjectReference {
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly apiGroup: string
  readonly apiVersion: string
  readonly resourceVersion: string
  readonly subresource: string
}

export interface EventStatus {
  readonly status?: unknown
  readonly message?: unknown
  readonly reason?: unknown
  readonly details?: unknown
  readonly metadata?: unknown
}

export type Annotations = readonly (readonly [string, string])[]

interface EventParts {
  readonly head: { readonly [name: string]: string }
  readonly request: RecordedRequest
  readonly impersonated: User | undefined
  readonly reference: ObjectReference | undefined
  /** Undefined before the response. */
  readonly code: number | undefined
  readonly status: EventStatus | undefined
  /** Bodies as JSON; empty if there is none. */
  readonly requestJson: string
  readonly responseJson: string
  readonly nowMs: number
  readonly annotations: Annotations
}

export function auditEventJson(parts: EventParts): string {
  const { head, request, impersonated, reference, code, status, requestJson, responseJson, nowMs, annotations } = parts
  const { uri, verb, user, sourceIps, userAgent, receivedMs } = request
  const start = writeAny({
    ...head,
    requestURI: uri,
    verb,
    user: user === undefined ? {} : userValue(user),
    impersonatedUser: impersonated && userValue(impersonated),
    sourceIPs: sourceIps.length === 0 ? undefined : sourceIps,
    userAgent: userAgentValue(userAgent) || undefined,
    objectRef: reference && withoutEmpty({ ...reference }),
    responseStatus: code === undefined ? undefined : statusValue(status, code),
  })
  const end = writeAny({
    requestReceivedTimestamp: microTime(receivedMs),
    stageTimestamp: microTime(nowMs),
    annotations: annotations.length === 0 ? undefined : sortByKey(Object.fromEntries(annotations)),
  })
  const requestMember = requestJson === '' ? '' : `,"requestObject":${requestJson}`
  const responseMember = responseJson === '' ? '' : `,"responseObject":${responseJson}`
  return `${start.slice(0, -1)}${requestMember}${responseMember},${end.slice(1)}`
}

const withoutEmpty = (texts: { readonly [name: string]: string }) =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))

const sortByKey = <T>(members: { readonly [name: string]: T }): { readonly [name: string]: T | undefined } =>
  Object.fromEntries(sortTexts(Object.keys(members)).map((key) => [key, members[key]]))

const userValue = ({ name, uid, groups, extra }: User) => ({
  username: name || undefined,
  uid: uid || undefined,
  groups: groups.length === 0 ? undefined : groups,
  extra: Object.keys(extra).length === 0 ? undefined : sortByKey(extra),
})

const statusValue = (status: EventStatus | undefined, code: number) => ({
  metadata: status?.metadata ?? {},
  status: status?.status,
  message: status?.message || undefined,
  reason: status?.reason || undefined,
  details: status?.details,
  code,
})

/** Formats with microseconds, although the clock has milliseconds only. */
const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')

const maxUserAgentChars = 1024

const userAgentValue = (userAgent: string): string =>
  userAgent.length <= maxUserAgentChars ? userAgent : `${userAgent.slice(0, maxUserAgentChars)}...TRUNCATED`

const maxUriChars = 1024
/** The last addresses are kept: the final one is the peer of the connection. */
const maxSourceIps = 8

export const shortUser = ({ name, uid }: User): User => ({ name: shorten(name), uid: shorten(uid), groups: [], extra: {} })

/** Shortens texts, drops groups and extra values, and keeps the last addresses, so that the event fits the log. */
export const shortRequest = (request: RecordedRequest): RecordedRequest => ({
  ...request,
  uri: shorten(request.uri, maxUriChars),
  name: shorten(request.name),
  auditId: shorten(request.auditId),
  sourceIps: request.sourceIps.slice(-maxSourceIps),
  user: request.user && shortUser(request.user),
  info: {
    ...request.info,
    group: shorten(request.info.group),
    version: shorten(request.info.version),
    namespace: shorten(request.info.namespace),
    resource: shorten(request.info.resource),
    subresource: shorten(request.info.subresource),
  },
})

interface ClientAddresses {
  readonly forwardedFor: string | undefined
  readonly realIp: string | undefined
  readonly peer: string
}

export function sourceIps({ forwardedFor, realIp, peer }: ClientAddresses): readonly string[] {
  const peerIp = normalizeIp(peer)
  const ips = (forwardedFor ?? '').split(',').map(normalizeIp).filter(Boolean)
  const real = normalizeIp(realIp ?? '')
  if (real !== '' && !ips.includes(real)) ips.push(real)
  if (peerIp !== '' && ips.at(-1) !== peerIp) ips.push(peerIp)
  return ips
}

/** Canonical text, so that spellings of one address compare equal; empty if the text is not an IP address. */
function normalizeIp(text: string): string {
  const trimmed = text.trim()
  return familyOf(trimmed) === undefined ? '' : canonicalIp(trimmed)
}
