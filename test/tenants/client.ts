// A client of a tenant: sends one request after the other, on connections of all sorts, and checks what is true of every answer.

import type { Random } from '../kit/seeded-random.js'
import type { Checks } from './check.js'
import { type Certificate, type Connection, type Endpoint, type Manner, openHttp1, openHttp2, type WireAnswer } from './connection.js'
import { json, type Representation, withQuery } from './representations.js'
import type { Tenant } from './tenant.js'

export interface Call {
  readonly verb: string
  readonly method: string
  /** With its query, but for that of the representation. */
  readonly path: string
  readonly body?: Buffer
  readonly contentType?: string
  readonly as?: Representation
  /** Texts that an answer of 2xx must contain. */
  readonly contains?: readonly string[]
  readonly expect: readonly number[]
  /** True: waits for the whole answer whatever happens. */
  readonly isPatient?: boolean
  /** True: the server may close the connection without an answer. */
  readonly mayBeCut?: boolean
  readonly onBytes?: (bytes: Buffer) => void
}

export interface Called {
  readonly answer: WireAnswer
  /** False: the client does not know whether the request was carried out. */
  readonly isKnown: boolean
  readonly isOk: boolean
}

export interface ClientParts {
  readonly tenant: Tenant
  readonly checks: Checks
  readonly random: Random
  /** The servers that are up. */
  readonly endpoints: () => readonly Endpoint[]
  readonly shared: SharedSessions
  /** True: sometimes hangs up, or stalls while it writes or reads. */
  readonly isUnsteady: boolean
}

/** HTTP/2 sessions by server: one per client certificate, so that tenants with tokens share theirs, as behind a proxy. */
export class SharedSessions {
  readonly #open = new Map<string, Connection>()

  to(endpoint: Endpoint, certificate: Certificate | undefined): Connection {
    const key = `${endpoint.url} ${certificate?.cert ?? ''}`
    const known = this.#open.get(key)
    if (known !== undefined) return known
    const opened = openHttp2(endpoint, certificate)
    this.#open.set(key, opened)
    return opened
  }

  close(): void {
    for (const connection of this.#open.values()) connection.close()
  }
}

export class TenantClient {
  readonly tenant: Tenant
  readonly random: Random
  readonly checks: Checks
  readonly #parts: ClientParts
  /** HTTP/1.1, by URL of the server. */
  readonly #own = new Map<string, Connection>()
  #requests = 0

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.tenant = parts.tenant
    this.random = parts.random
    this.checks = parts.checks
  }

  async call(call: Call): Promise<Called> {
    const { as = json, body, verb } = call
    const connection = await this.#connection()
    this.#requests += 1
    const auditId = `${this.tenant.mark}-${this.random.below(1_000_000)}-${this.#requests}`
    const manner = call.isPatient === true ? {} : this.#manner()
    const path = withQuery(call.path, as.query)
    const answer = await connection.send(
      {
        method: call.method,
        path,
        headers: {
          ...(this.tenant.token === undefined ? {} : { authorization: `Bearer ${this.tenant.token}` }),
          accept: as.accept,
          'audit-id': auditId,
          'user-agent': `agent-${this.tenant.mark}`,
          ...(this.random.below(10) === 0 ? { 'accept-encoding': 'gzip' } : {}),
          ...(body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
        },
        ...(body === undefined ? {} : { body }),
      },
      { ...manner, ...(call.onBytes === undefined ? {} : { onBytes: call.onBytes }) },
    )
    this.checks.count(verb, as.name)
    const what = `${verb}, ${call.method} ${path} as ${as.name} over ${connection.protocol}, body of ${body?.length ?? 0} bytes`
    return this.#judge(call, answer, { what, auditId, hungUp: manner.hangUpMs !== undefined || call.mayBeCut === true })
  }

  close(): void {
    for (const connection of this.#own.values()) connection.close()
  }

  #judge(
    call: Call,
    answer: WireAnswer,
    { what, auditId, hungUp }: { readonly what: string; readonly auditId: string; readonly hungUp: boolean },
  ): Called {
    const { checks, tenant } = this
    const { status, headers, body, isWhole } = answer
    checks.statuses.set(status, (checks.statuses.get(status) ?? 0) + 1)
    checks.searchBytes(tenant, what, body)
    checks.searchBytes(tenant, `headers of ${what}`, Buffer.from(JSON.stringify(headers)))
    if (status !== 0 && headers['audit-id'] !== undefined && headers['audit-id'] !== auditId)
      checks.find('answer to another request', `audit id ${String(headers['audit-id'])} and not ${auditId}: ${what}`)
    const unknown = { answer, isKnown: false, isOk: false }
    if (!isWhole) {
      if (!hungUp && !checks.isTolerant) checks.find('no answer', what)
      return unknown
    }
    const isExpected = call.expect.includes(status)
    if (!isExpected && (status >= 500 || status === 429)) {
      checks.mayFail(what, answer)
      return { ...unknown, isKnown: status === 429 }
    }
    if (!isExpected) {
      checks.find('unexpected status', `${status} and not ${call.expect.join(' or ')}: ${what}\n${body.toString('latin1', 0, 300)}`)
      return unknown
    }
    const isOk = status < 300
    const missing = isOk ? call.contains?.find((text) => !body.includes(text)) : undefined
    if (missing !== undefined)
      checks.find('answer to another request', `no ${missing} in the answer: ${what}\n${body.toString('latin1', 0, 500)}`)
    return { answer, isKnown: status < 500, isOk: isOk && missing === undefined }
  }

  async #connection(): Promise<Connection> {
    let endpoints = this.#parts.endpoints()
    while (endpoints.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      endpoints = this.#parts.endpoints()
    }
    const endpoint = this.random.pick(endpoints)
    const { certificate } = this.tenant
    if (this.random.below(3) === 0) return this.#parts.shared.to(endpoint, certificate)
    const known = this.#own.get(endpoint.url)
    if (known !== undefined) return known
    const opened = openHttp1(endpoint, certificate)
    this.#own.set(endpoint.url, opened)
    return opened
  }

  #manner(): Manner {
    const { random } = this
    if (!this.#parts.isUnsteady || random.below(12) !== 0) return {}
    return random.pick([
      { hangUpMs: random.below(40) },
      { hangUpMs: random.below(400) },
      { writeStallMs: random.below(300) },
      { readStallMs: random.below(300) },
    ])
  }
}
