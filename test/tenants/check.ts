// Checks of answers, and what they found: marks of others, answers to other requests, unexplained errors.

import type { WireAnswer } from './connection.js'
import { foreignMarks, ownerOf } from './marks.js'
import type { Tenant } from './tenant.js'

export type Rule =
  | 'foreign bytes'
  | 'foreign write'
  | 'lost write'
  | 'answer to another request'
  | 'unexpected status'
  | 'unexplained error'
  | 'no answer'
  | 'disruption budget'
  | 'deletecollection limit'
  | 'server ended'

export interface Finding {
  readonly rule: Rule
  readonly text: string
  /** Milliseconds since the run began. */
  readonly atMs: number
}

/** Errors of a server that is overloaded, stopped or restarting. Any other text is a finding. */
const overloadMessages = [
  /^Too many requests, please try again later/,
  /^the server has received too many requests/,
  /^the server is shutting down/,
  /^Timeout: request did not complete within/,
  /^request did not complete within/,
  /^the server was unable to return a response in the time allotted/,
  /^apiserver is shutting down/,
]

const mostKept = 200

export class Checks {
  readonly findings: Finding[] = []
  readonly counts = new Map<Rule, number>()
  /** Foreign marks by owner and reader, such as `z read by b`. */
  readonly leaks = new Map<string, number>()
  /** Requests by verb, then by representation of the answer. */
  readonly requests = new Map<string, Map<string, number>>()
  total = 0
  readonly statuses = new Map<number, number>()
  readonly tolerated = new Map<string, number>()
  bytes = 0
  /** True: the run injects faults or overload. */
  readonly #isTolerant: boolean
  #startMs = performance.now()
  readonly #say: (line: string) => void

  constructor(isTolerant: boolean, say: (line: string) => void) {
    this.#isTolerant = isTolerant
    this.#say = say
  }

  get isTolerant(): boolean {
    return this.#isTolerant
  }

  get elapsedMs(): number {
    return performance.now() - this.#startMs
  }

  /** Time counts from here. */
  begin(): void {
    this.#startMs = performance.now()
  }

  count(verb: string, representation: string): void {
    const counts = this.requests.get(verb) ?? new Map<string, number>()
    this.requests.set(verb, counts)
    add(counts, representation)
    this.total += 1
  }

  find(rule: Rule, text: string): void {
    const seen = add(this.counts, rule)
    const finding = { rule, text, atMs: Math.round(this.elapsedMs) }
    if (this.findings.length < mostKept) this.findings.push(finding)
    if (seen <= 3) this.#say(tellFinding(finding))
  }

  /** Searches bytes that `reader` was given. */
  searchBytes(reader: Tenant, what: string, bytes: Buffer): void {
    this.bytes += bytes.length
    const found = foreignMarks(bytes, reader.mark)
    const [first] = found
    if (first === undefined) return
    for (const { text } of found) add(this.leaks, `${ownerOf(text) ?? '?'} read by ${reader.letter}`)
    const around = bytes.toString('latin1', Math.max(0, first.offset - 150), first.offset + 100)
    const encoding = first.isBase64 ? ' (base64)' : ''
    this.find(
      'foreign bytes',
      `${reader.user} got mark ${first.text}${encoding} at ${first.offset} of ${bytes.length} bytes: ${what}\n${around}`,
    )
  }

  /** True: the error is one that a server under faults or overload may answer. */
  mayFail(what: string, { status, body }: WireAnswer): boolean {
    const message = messageOf(body).trim()
    const isKnown = (status === 429 || status === 503 || status === 504) && overloadMessages.some((pattern) => pattern.test(message))
    if (isKnown && this.#isTolerant) {
      add(this.tolerated, `${status} ${message.slice(0, 60)}`)
      return true
    }
    this.find('unexplained error', `${status} ${message.slice(0, 300)}: ${what}`)
    return false
  }
}

export const tellFinding = ({ rule, text, atMs }: Finding): string =>
  `FOUND after ${(atMs / 1000).toFixed(1)} s, ${rule}: ${text.slice(0, 500)}`

/** The message of a Status in JSON or YAML; otherwise the beginning of the bytes. */
export function messageOf(body: Buffer): string {
  const text = body.toString('utf8', 0, 4000)
  const found = /"message": ?"((?:[^"\\]|\\.)*)/.exec(text)?.[1] ?? /^message: ['"]?(.*)$/m.exec(text)?.[1]
  // In Protobuf the message stands between bytes that are no text.
  return found ?? (text.startsWith('k8s\0') ? (/[A-Za-z][ -~]{15,}/.exec(text.slice(30))?.[0] ?? text) : text)
}

export function add<Key>(counts: Map<Key, number>, key: Key): number {
  const count = (counts.get(key) ?? 0) + 1
  counts.set(key, count)
  return count
}
