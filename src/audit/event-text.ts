// The JSON of audit events, member by member in the order of the reference. It is put together from texts, because most of an event is the same
// at each of its stages, and some of it for each request of a user.

import type { User } from '../api/user.js'
import { onceFor } from '../base/once-for.js'
import { RecentMap } from '../base/recent-map.js'
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
const plainMember = (name: string, text: string): string => (text === '' ? '' : `,"${name}":"${text}"`)

/** Whether the parts of a path and of its query can stand between quotes as they are, and are what they look like. */
export const isPlainUri = (uri: string, written: string): boolean => written.length === uri.length + 2 && !uri.includes('%')

/** Members that begin with a comma, as an object. */
const object = (members: string): string => `{${members.slice(1)}}`

/** `isPlain`: nothing of it has to be escaped. */
export function objectReferenceText(of: ObjectReference, isPlain: boolean): string {
  const write = isPlain ? plainMember : member
  return object(
    write('resource', of.resource) +
      write('namespace', of.namespace) +
      write('name', of.name) +
      write('uid', of.uid) +
      write('apiGroup', of.apiGroup) +
      write('apiVersion', of.apiVersion) +
      write('resourceVersion', of.resourceVersion) +
      write('subresource', of.subresource),
  )
}

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
  if (annotations.length === 2 && first !== undefined && second !== undefined && first[0] < second[0]) return pairText(first, second)
  const all = new Map(annotations)
  return `{${sortTexts([...all.keys()])
    .map((key) => `${writeText(key)}:${writeText(all.get(key) as string)}`)
    .join(',')}}`
}

type Annotation = readonly [string, string]

interface KeptPair {
  readonly first: Annotation
  readonly secondKey: string
  readonly text: string
}

/** By the second value: there are as many reasons as ways in which something is allowed. */
const pairs = new RecentMap<string, KeptPair>(128)
const longestReason = 512

function pairText(first: Annotation, second: Annotation): string {
  const kept = pairs.get(second[1])
  if (kept !== undefined && kept.first[0] === first[0] && kept.first[1] === first[1] && kept.secondKey === second[0]) return kept.text
  const text = `{${writeText(first[0])}:${writeText(first[1])},${writeText(second[0])}:${writeText(second[1])}}`
  // As one piece, see request-text.
  if (second[1].length <= longestReason) pairs.set(second[1], { first, secondKey: second[0], text: Buffer.from(text).toString() })
  return text
}

/** A moment in microseconds, of which this server knows milliseconds. */
export function microTime(ms: number): string {
  const second = Math.floor(ms / 1000)
  // Most of what is asked for is of the same second.
  if (second !== lastSecond) {
    lastSecond = second
    lastTime = new Date(second * 1000).toISOString().slice(0, -4)
  }
  const rest = ms - second * 1000
  return `${lastTime}${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}000Z`
}

let lastSecond = Number.NaN
let lastTime = ''

const longestAgent = 1024

const agentText = (agent: string): string => (agent.length <= longestAgent ? agent : `${agent.slice(0, longestAgent)}...TRUNCATED`)

/** Of clients that send one request after the other: their addresses are one value for each, see source-ips. */
const origins = new WeakMap<readonly string[], RecentMap<string, string>>()
const mostPrograms = 16
const longestKept = 256

/** Where a request comes from, and by which program. */
export function originText(ips: readonly string[], agent: string): string {
  const kept = origins.get(ips)
  const known = kept?.get(agent)
  if (known !== undefined) return known
  const program = agent === '' ? '' : `,"userAgent":${writeText(agentText(agent))}`
  const text = `${ips.length === 0 ? '' : `,"sourceIPs":[${ips.map(writeText).join(',')}]`}${program}`
  if (agent.length > longestKept) return text
  const programs = kept ?? new RecentMap<string, string>(mostPrograms)
  programs.set(agent, text)
  if (kept === undefined) origins.set(ips, programs)
  return text
}

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
