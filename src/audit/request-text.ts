// What events say of a request itself: who asks for what, and from where. Clients ask for the same again and again, and each request has two
// events or more, so the texts of the last requests are kept.

import type { RequestInfo } from '../api/request-info.js'
import type { User } from '../api/user.js'
import { RecentMap } from '../base/recent-map.js'
import { shorten } from '../base/shorten.js'
import { writeText } from '../schema/write.js'
import { isPlainUri, type ObjectReference, objectReferenceText, originText, userText } from './event-text.js'

export interface RecordedRequest {
  readonly info: RequestInfo
  readonly name: string
  readonly verb: string
  readonly uri: string
  readonly auditId: string
  readonly userAgent: string
  readonly sourceIps: readonly string[]
  /** Undefined: nobody knows who asked. */
  readonly user: User | undefined
  readonly receivedMs: number
  /** Texts are cut, so that the URI does not show whether other texts need escapes. */
  readonly isShortened?: true
}

export interface RequestText {
  readonly request: RecordedRequest
  /** From behind the stage to the user. */
  readonly middle: string
  /** From behind the users to the reference. */
  readonly origin: string
  readonly ref: ObjectReference | undefined
  readonly refText: string
  /** Whether all that the path says of the object is plain. */
  readonly isPlain: boolean
  /** All of these, for a request in which nobody is impersonated. */
  whole: string
  isFlat: boolean
}

const mostRequests = 256
const longestKept = 512

const recent = new RecentMap<string, RequestText>(mostRequests)

export function requestText(request: RecordedRequest): RequestText {
  const { uri } = request
  if (request.isShortened) return makeText(request)
  const kept = recent.get(uri)
  if (kept !== undefined && isSame(kept.request, request)) {
    if (!kept.isFlat) flatten(kept)
    return kept
  }
  const made = makeText(request)
  if (uri.length + request.userAgent.length <= longestKept) recent.set(uri, made)
  return made
}

/** The path says everything else. */
const isSame = (one: RecordedRequest, other: RecordedRequest): boolean =>
  one.user === other.user &&
  one.sourceIps === other.sourceIps &&
  one.verb === other.verb &&
  one.info.method === other.info.method &&
  one.name === other.name &&
  one.userAgent === other.userAgent

/** A text that was put together from many is copied piece by piece whenever it is written; one that is asked for again is made one piece. */
function flatten(text: RequestText): void {
  text.whole = Buffer.from(text.whole).toString()
  text.isFlat = true
}

function makeText(request: RecordedRequest): RequestText {
  const { info, user, uri } = request
  const written = writeText(uri)
  const isPlain = !request.isShortened && isPlainUri(uri, written)
  const middle = `","requestURI":${written},"verb":${writeText(request.verb)},"user":${user === undefined ? '{}' : userText(user)}`
  const origin = originText(request.sourceIps, request.userAgent)
  const ref = info.isResource ? referenceOf(request) : undefined
  const refText = ref === undefined ? '' : referenceText(ref, isPlain)
  return { request, middle, origin, ref, refText, isPlain, whole: middle + origin + refText, isFlat: false }
}

/** `isPlain`: nothing of it has to be escaped. */
export const referenceText = (ref: ObjectReference, isPlain: boolean): string => `,"objectRef":${objectReferenceText(ref, isPlain)}`

const referenceOf = ({ info, name }: RecordedRequest): ObjectReference => ({
  resource: info.resource,
  namespace: info.namespace,
  name,
  uid: '',
  apiGroup: info.group,
  apiVersion: info.version,
  resourceVersion: '',
  subresource: info.subresource,
})

const maxUriCharacters = 1024
/** The last one is the client's own address. */
const maxSourceIps = 8

export const shortUser = ({ name, uid }: User): User => ({ name: shorten(name), uid: shorten(uid), groups: [], extra: {} })

/** With the beginning of every text, and without groups and extra values. */
export const shortRequest = (request: RecordedRequest): RecordedRequest => ({
  ...request,
  isShortened: true,
  uri: shorten(request.uri, maxUriCharacters),
  name: shorten(request.name),
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
