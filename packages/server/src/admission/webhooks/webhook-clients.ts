// Connection pools of webhooks, bounded in number and in bytes of responses.

import type { OnAbort } from '@cluster-apiserver/api/api/call.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import type { WebhookClientConfig } from '@cluster-apiserver/api/resources/admissionregistration/v1.schema.js'
import type { ServiceObjects } from '@cluster-apiserver/api/resources/core/service/service-endpoint-address.js'
import {
  locateService,
  serviceName,
  serviceOrigin,
  serviceUrl,
} from '@cluster-apiserver/api/resources/core/service/service-endpoint-address.js'
import { type EndpointResponse, type EndpointSettings, JsonEndpoint, type ResponseMemory } from '../../net/outbound/json-endpoint.js'
import { cleanPathOf, closedError } from '../../net/outbound/open-socket.js'
import { type WebhookDials, webhookDial } from '../../net/outbound/webhook-dial.js'
import type { CertificateFlaw } from '../../net/tls/certificate-flaws.js'

type WebhookCredentials = Pick<EndpointSettings, 'clientPair' | 'authorization'>

/** Finds credentials by host and port; services are `name.namespace.svc:443`. */
export type FindCredentials = (target: string) => WebhookCredentials | undefined

interface WebhookClientLimits {
  readonly maxSocketsPerEndpoint: number
  readonly maxEndpoints: number
  readonly maxResponseBytes: number
  readonly maxTotalResponseBytes: number
}

/** A response may contain a patch with a whole object, a third longer in base64. */
const defaultLimits: WebhookClientLimits = {
  maxSocketsPerEndpoint: 100,
  maxEndpoints: 256,
  maxResponseBytes: 6 << 20,
  maxTotalResponseBytes: 64 << 20,
}

/** Upper bound; each request has its own, shorter timeout. */
const endpointTimeoutMs = 60_000

export interface WebhookPost {
  /** Name of the webhook. */
  readonly name: string
  readonly text: string
  readonly timeoutMs: number
  readonly onAbort: OnAbort | undefined
  readonly credentials: FindCredentials
  readonly services: ServiceObjects
  readonly onFlaw?: (flaw: CertificateFlaw) => void
}

export interface WebhookEndpoint {
  readonly url: string
  readonly host: string
  post(request: WebhookPost): Promise<EndpointResponse>
}

interface WebhookClientOptions {
  readonly userAgent: string
  /** For development: webhooks on loopback may use http://. */
  readonly allowsPlainHttp?: boolean
  readonly limits?: WebhookClientLimits
  readonly dials?: WebhookDials
}

interface PooledEndpoint {
  readonly endpoint: JsonEndpoint
  inFlight: number
}

export class WebhookClients {
  readonly #limits: WebhookClientLimits
  readonly #userAgent: string
  readonly #allowsPlainHttp: boolean
  readonly #dials: WebhookDials
  readonly #pool = new Map<string, PooledEndpoint>()
  readonly #memory: ResponseMemory
  #responseBytes = 0
  #isClosed = false

  constructor({ userAgent, allowsPlainHttp = false, limits = defaultLimits, dials = {} }: WebhookClientOptions) {
    this.#dials = dials
    this.#limits = limits
    this.#allowsPlainHttp = allowsPlainHttp
    this.#userAgent = userAgent
    this.#memory = {
      take: (bytes) => {
        if (this.#responseBytes + bytes > limits.maxTotalResponseBytes) return false
        this.#responseBytes += bytes
        return true
      },
      give: (bytes) => {
        this.#responseBytes -= bytes
      },
    }
  }

  endpointOf(client: WebhookClientConfig, timeoutMs: number): WebhookEndpoint {
    const target = targetOf(client)
    const query = `?timeout=${Math.ceil(timeoutMs / 1000)}s`
    return { url: `${target.displayUrl}${query}`, host: target.host, post: (request) => this.#post(client, target, query, request) }
  }

  close(): void {
    this.#isClosed = true
    for (const { endpoint } of this.#pool.values()) endpoint.close()
    this.#pool.clear()
  }

  async #post(
    client: WebhookClientConfig,
    target: Target,
    query: string,
    { name, text, timeoutMs, onAbort, credentials, services, onFlaw }: WebhookPost,
  ): Promise<EndpointResponse> {
    if (this.#isClosed) throw closedError()
    this.#dials.refuse?.(name, target.origin)
    const pooled = this.#endpointFor(client, target, credentials, services)
    pooled.inFlight++
    try {
      return await pooled.endpoint.post(text, { timeoutMs, onAbort, onFlaw, path: `${target.path}${query}` })
    } finally {
      pooled.inFlight--
    }
  }

  #endpointFor(client: WebhookClientConfig, target: Target, credentials: FindCredentials, services: ServiceObjects): PooledEndpoint {
    const { service, caBundle } = client
    const { origin, scheme } = target
    if (scheme !== 'https:' && !(this.#allowsPlainHttp && target.isPlainLoopback))
      throw new Error(`unsupported protocol scheme ${JSON.stringify(scheme)}`)
    const address = service === undefined ? undefined : locateService(service, services)
    const foundCredentials = credentials(target.hostAndPort)
    const key = [
      origin,
      address?.host,
      address?.port,
      caBundle,
      foundCredentials?.clientPair?.().cert,
      foundCredentials?.authorization?.(),
    ].join(' ')
    const pooled = this.#pool.get(key) ?? this.#create({ client, origin, address, credentials: foundCredentials })
    this.#pool.delete(key)
    this.#pool.set(key, pooled)
    return pooled
  }

  #create({ client: { service, caBundle }, origin, address, credentials }: EndpointInput): PooledEndpoint {
    if (this.#pool.size >= this.#limits.maxEndpoints) this.#dropOldest()
    const endpoint = new JsonEndpoint(
      {
        url: origin,
        userAgent: this.#userAgent,
        ...webhookDial(this.#dials, service !== undefined),
        ...(address === undefined ? {} : { address }),
        ...(service === undefined ? {} : { serverName: serviceName(service) }),
        ...(caBundle === undefined ? {} : { ca: Buffer.from(caBundle, 'base64').toString() }),
        ...credentials,
      },
      {
        timeoutMs: endpointTimeoutMs,
        maxSockets: this.#limits.maxSocketsPerEndpoint,
        maxBytes: this.#limits.maxResponseBytes,
        memory: this.#memory,
      },
    )
    return { endpoint, inFlight: 0 }
  }

  /** Closes the oldest endpoint without requests in flight. */
  #dropOldest(): void {
    for (const [key, { endpoint, inFlight }] of this.#pool) {
      if (inFlight > 0) continue
      this.#pool.delete(key)
      endpoint.close()
      return
    }
  }
}

interface EndpointInput {
  readonly client: WebhookClientConfig
  readonly origin: string
  readonly address: { readonly host: string; readonly port: number } | undefined
  readonly credentials: WebhookCredentials | undefined
}

type Target = ReturnType<typeof targetOf>

/** Cached per configuration. The URL of a service always shows the port. Throws if the URL is invalid. */
const targetOf = weakMemoize(({ service, url: configuredUrl = '' }: WebhookClientConfig) => {
  const url = new URL(service === undefined ? configuredUrl : serviceUrl(service))
  const { origin, protocol: scheme } = url
  const path = cleanPathOf(url)
  return {
    origin,
    host: url.hostname,
    path,
    scheme,
    isPlainLoopback: isPlainLoopback(url),
    displayUrl: `${service === undefined ? origin : serviceOrigin(service)}${path}`,
    hostAndPort: service === undefined ? configuredHostAndPort(configuredUrl) : `${serviceName(service)}:${service.port ?? 443}`,
  }
})

/** Host and port of a URL, with the host as written, which `URL` would normalize. Like `URL`, ends the host also at a backslash. */
function configuredHostAndPort(url: string): string {
  const host = /^[^:]*:\/\/([^/\\?#]*)/.exec(url)?.[1] ?? ''
  return /:\d+$/.test(host) ? host : `${host.replace(/:$/, '')}:443`
}

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])

const isPlainLoopback = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && loopbackHosts.has(hostname)
