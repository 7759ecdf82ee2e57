// Checks of responses: secret marks (marks.ts) of other tenants, responses of other requests, unexplained errors.

import type { HttpResponse } from './connection.js'
import { foreignMarks, ownerOf } from './marks.js'
import type { Tenant } from './tenant.js'

type Rule =
  | 'foreign bytes'
  | 'foreign write'
  | 'lost write'
  | 'response to another request'
  | 'unexpected status'
  | 'unexplained error'
  | 'no response'
  | 'disruption budget'
  | 'deletecollection limit'
  | 'server ended'

interface Finding {
  readonly rule: Rule
  readonly text: string
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

const maxFindings = 200

export class Checks {
  readonly findings: Finding[] = []
  readonly counts = new Map<Rule, number>()
  /** Foreign marks by owner and reader, such as `z read by b`. */
  readonly leaks = new Map<string, number>()
  /** Requests by verb, then by representation of the response. */
  readonly requests = new Map<string, Map<string, number>>()
  total = 0
  readonly statuses = new Map<number, number>()
  readonly tolerated = new Map<string, number>()
  bytes = 0
  /** True: the run injects faults or overload. */
  readonly #isTolerant: boolean
  #startMs = performance.now()
  readonly #log: (line: string) => void

  constructor(isTolerant: boolean, log: (line: string) => void) {
    this.#isTolerant = isTolerant
    this.#log = log
  }

  get isTolerant(): boolean {
    return this.#isTolerant
  }

  get elapsedMs(): number {
    return performance.now() - this.#startMs
  }

  begin(): void {
    this.#startMs = performance.now()
  }

  count(verb: string, representation: string): void {
    const counts = this.requests.get(verb) ?? new Map<string, number>()
    this.requests.set(verb, counts)
    increment(counts, representation)
    this.total += 1
  }

  addFinding(rule: Rule, text: string): void {
    const count = increment(this.counts, rule)
    const finding = { rule, text, atMs: Math.round(this.elapsedMs) }
    if (this.findings.length < maxFindings) this.findings.push(finding)
    if (count <= 3) this.#log(renderFinding(finding))
  }

  searchBytes(reader: Tenant, description: string, bytes: Buffer): void {
    this.bytes += bytes.length
    const found = foreignMarks(bytes, reader.mark)
    const [first] = found
    if (first === undefined) return
    for (const { text } of found) increment(this.leaks, `${ownerOf(text) ?? '?'} read by ${reader.char}`)
    const around = bytes.toString('latin1', Math.max(0, first.offset - 150), first.offset + 100)
    const encoding = first.isBase64 ? ' (base64)' : ''
    this.addFinding(
      'foreign bytes',
      `${reader.user} got mark ${first.text}${encoding} at ${first.offset} of ${bytes.length} bytes: ${description}\n${around}`,
    )
  }

  checkError(description: string, { status, body }: HttpResponse): boolean {
    const message = messageOf(body).trim()
    const isExplained = (status === 429 || status === 503 || status === 504) && overloadMessages.some((pattern) => pattern.test(message))
    if (isExplained && this.#isTolerant) {
      increment(this.tolerated, `${status} ${message.slice(0, 60)}`)
      return true
    }
    this.addFinding('unexplained error', `${status} ${message.slice(0, 300)}: ${description}`)
    return false
  }
}

export const renderFinding = ({ rule, text, atMs }: Finding): string =>
  `FOUND after ${(atMs / 1000).toFixed(1)} s, ${rule}: ${text.slice(0, 500)}`

function messageOf(body: Buffer): string {
  const text = body.toString('utf8', 0, 4000)
  const found = /"message": ?"((?:[^"\\]|\\.)*)/.exec(text)?.[1] ?? /^message: ['"]?(.*)$/m.exec(text)?.[1]
  // In Protobuf the message is surrounded by binary bytes.
  return found ?? (text.startsWith('k8s\0') ? (/[A-Za-z][ -~]{15,}/.exec(text.slice(30))?.[0] ?? text) : text)
}

export function increment<Key>(counts: Map<Key, number>, key: Key): number {
  const count = (counts.get(key) ?? 0) + 1
  counts.set(key, count)
  return count
}
