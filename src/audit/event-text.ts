// The JSON of audit events, member by member in the order of the reference. It is put together from texts, because most of an event is the same
// at each of its stages, and some of it for each request of a user.

import type { User } from '../api/user.js'
import { onceFor } from '../base/once-for.js'
import { sortTexts } from '../base/text-order.js'
import { writeAny, writeText } from '../schema/write.js'

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

const member = (name: string, text: string): string => (text === '' ? '' : `,"${name}":${writeText(text)}`)

/** Members that begin with a comma, as an object. */
const object = (members: string): string => `{${members.slice(1)}}`

export const objectReferenceText = (of: ObjectReference): string =>
  object(
    member('resource', of.resource) +
      member('namespace', of.namespace) +
      member('name', of.name) +
      member('uid', of.uid) +
      member('apiGroup', of.apiGroup) +
      member('apiVersion', of.apiVersion) +
      member('resourceVersion', of.resourceVersion) +
      member('subresource', of.subresource),
  )

export const userText = onceFor(({ name, uid, groups, extra }: User): string => {
  const keys = sortTexts(Object.keys(extra))
  const sorted = keys.map((key) => `${writeText(key)}:${writeAny(extra[key])}`)
  return object(
    member('username', name) +
      member('uid', uid) +
      (groups.length === 0 ? '' : `,"groups":${writeAny(groups)}`) +
      (keys.length === 0 ? '' : `,"extra":{${sorted.join(',')}}`),
  )
})

export function annotationsText(annotations: readonly (readonly [string, string])[]): string {
  const [first, second] = annotations
  // A decision and its reason, which is all that most events have, are in order.
  if (annotations.length === 2 && first !== undefined && second !== undefined && first[0] < second[0])
    return `{${writeText(first[0])}:${writeText(first[1])},${writeText(second[0])}:${writeText(second[1])}}`
  const all = new Map(annotations)
  return `{${sortTexts([...all.keys()])
    .map((key) => `${writeText(key)}:${writeText(all.get(key) as string)}`)
    .join(',')}}`
}

/** A moment in microseconds, of which this server knows milliseconds. */
export function microTime(ms: number): string {
  // Most of what is asked for in a turn is the same moment.
  if (ms !== lastMs) {
    lastMs = ms
    lastTime = `${new Date(ms).toISOString().slice(0, -1)}000Z`
  }
  return lastTime
}

let lastMs = Number.NaN
let lastTime = ''

const longestAgent = 1024

export const agentText = (agent: string): string => (agent.length <= longestAgent ? agent : `${agent.slice(0, longestAgent)}...TRUNCATED`)

/** The answer, where it is a Status; otherwise only its code is known. */
export interface StatusText {
  readonly status?: unknown
  readonly message?: unknown
  readonly reason?: unknown
  readonly details?: unknown
  readonly metadata?: unknown
}

export const statusText = (status: StatusText | undefined, code: number): string =>
  status === undefined
    ? `{"metadata":{},"code":${code}}`
    : writeAny({
        metadata: status.metadata ?? {},
        status: status.status,
        message: status.message || undefined,
        reason: status.reason || undefined,
        details: status.details,
        code,
      })
