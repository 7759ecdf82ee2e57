// Client of a tenant: sends requests over HTTP/1.1 and HTTP/2, and checks every response.

import type { Random } from '../kit/seeded-random.js'
import type { Checks } from './check.js'
import { type Certificate, type Connection, type Endpoint, type HttpResponse, openHttp1, openHttp2, type Pacing } from './connection.js'
import { json, type Representation, withQuery } from './representations.js'
import type { Tenant } from './tenant.js'

interface Call {
  readonly verb: string
  readonly method: string
  readonly path: string
  readonly body?: Buffer
  readonly contentType?: string
  readonly as?: Representation
  /** Strings that a 2xx response must contain. */
  readonly contains?: readonly string[]
  readonly expect: readonly number[]
  /** True: the client neither aborts the request nor reads its response slowly. */
  readonly isUndisturbed?: boolean
  /** True: the server may close the connection without a response. */
  readonly mayBeClosed?: boolean
  readonly onBytes?: (bytes: Buffer) => void
}

export interface CallResult {
  readonly response: HttpResponse
  /** False: unknown whether the request was applied. */
  readonly isKnown: boolean
  readonly isOk: boolean
}

interface ClientParts {
  readonly tenant: Tenant
  readonly checks: Checks
  readonly random: Random
  readonly endpoints: () => readonly Endpoint[]
  readonly shared: SharedSessions
  /** True: sometimes hangs up, or stalls while it writes or reads. */
  readonly isUnsteady: boolean
}

/** HTTP/2 sessions by server: one per client certificate, so that tenants with tokens share theirs, as behind a proxy. */
export class SharedSessions {
  readonly #open = new Map<string, Connection>()

  sessionFor(endpoint: Endpoint, certificate: Certificate | undefined): Connection {
    const key = `${endpoint.url} ${certificate?.cert ?? ''}`
    const existing = this.#open.get(key)
    if (existing !== undefined) return existing
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
  readonly #ownConnections = new Map<string, Connection>()
  #requests = 0

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.tenant = parts.tenant
    this.random = parts.random
    this.checks = parts.checks
  }

  async call(call: Call): Promise<CallResult> {
    const { as = json, body, verb } = call
    const connection = await this.#connection()
    this.#requests += 1
    const auditId = `${this.tenant.mark}-${this.random.below(1_000_000)}-${this.#requests}`
    const pacing = call.isUndisturbed === true ? {} : this.#pacing()
    const path = withQuery(call.path, as.query)
    const response = await connection.send(
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
      { ...pacing, ...(call.onBytes === undefined ? {} : { onBytes: call.onBytes }) },
    )
    this.checks.count(verb, as.name)
    const description = `${verb}, ${call.method} ${path} as ${as.name} over ${connection.protocol}, body of ${body?.length ?? 0} bytes`
    return this.#check(call, response, { description, auditId, hungUp: pacing.hangUpMs !== undefined || call.mayBeClosed === true })
  }

  close(): void {
    for (const connection of this.#ownConnections.values()) connection.close()
  }

  #check(
    call: Call,
    response: HttpResponse,
    { description, auditId, hungUp }: { readonly description: string; readonly auditId: string; readonly hungUp: boolean },
  ): CallResult {
    const { checks, tenant } = this
    const { status, headers, body, isWhole } = response
    checks.statuses.set(status, (checks.statuses.get(status) ?? 0) + 1)
    checks.searchBytes(tenant, description, body)
    checks.searchBytes(tenant, `headers of ${description}`, Buffer.from(JSON.stringify(headers)))
    if (status !== 0 && headers['audit-id'] !== undefined && headers['audit-id'] !== auditId)
      checks.addFinding('response to another request', `audit id ${String(headers['audit-id'])} and not ${auditId}: ${description}`)
    const unknown = { response, isKnown: false, isOk: false }
    if (!isWhole) {
      if (!hungUp && !checks.isTolerant) checks.addFinding('no response', description)
      return unknown
    }
    const isExpected = call.expect.includes(status)
    if (!isExpected && (status >= 500 || status === 429)) {
      checks.checkError(description, response)
      return { ...unknown, isKnown: status === 429 }
    }
    if (!isExpected) {
      checks.addFinding(
        'unexpected status',
        `${status} and not ${call.expect.join(' or ')}: ${description}\n${body.toString('latin1', 0, 300)}`,
      )
      return unknown
    }
    const isOk = status < 300
    const missing = isOk ? call.contains?.find((text) => !body.includes(text)) : undefined
    if (missing !== undefined)
      checks.addFinding('response to another request', `no ${missing} in the response: ${description}\n${body.toString('latin1', 0, 500)}`)
    return { response, isKnown: status < 500, isOk: isOk && missing === undefined }
  }

  async #connection(): Promise<Connection> {
    let endpoints = this.#parts.endpoints()
    while (endpoints.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      endpoints = this.#parts.endpoints()
    }
    const endpoint = this.random.pick(endpoints)
    const { certificate } = this.tenant
    if (this.random.below(3) === 0) return this.#parts.shared.sessionFor(endpoint, certificate)
    const existing = this.#ownConnections.get(endpoint.url)
    if (existing !== undefined) return existing
    const opened = openHttp1(endpoint, certificate)
    this.#ownConnections.set(endpoint.url, opened)
    return opened
  }

  #pacing(): Pacing {
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
