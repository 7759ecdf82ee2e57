// The aggregation layer: finds the APIService of a request, and proxies the request to its extension API server.

import type { ApiServiceSource, RemoteTarget, RemoteVersion, ServiceAddress } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { RemoteDiscovery } from '@cluster-apiserver/api/api/catalog/remote-discovery.js'
import type { RemoteOpenApi } from '@cluster-apiserver/api/api/catalog/remote-openapi.js'
import { isLongRunning } from '../../flow-control/request.js'
import type { Dial } from '../../net/outbound/http-connect-tunnel.js'
import { removeHeader } from '../../net/proxy/forwarded-headers.js'
import type { ResponseHead } from '../../net/proxy/reverse-proxy.js'
import { Upstream } from '../../net/proxy/upstream.js'
import { UpstreamError } from '../../net/proxy/upstream-error.js'
import type { CertificateCounter } from '../../net/tls/certificate-flaws.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { Handled } from '../pipeline/filter.js'
import { ForwardingLimit, forwardRequest } from '../proxy/forward-request.js'
import { sendPlain } from '../responses/send-response.js'
import { extensionHeaders, pathToForward } from './extension-server-request.js'

interface AggregationParts {
  readonly services: ApiServiceSource
  readonly documents: { readonly discovery: RemoteDiscovery; readonly openApi: RemoteOpenApi }
  readonly locate: (service: ServiceAddress) => string
  /** Client certificate (--proxy-client-cert-file) in PEM; the same value until it changes. */
  readonly clientPair: () => ClientPair | undefined
  readonly rejectsRedirects: boolean
  /** True for headers (lower case) that extension servers trust for the user's identity. */
  readonly isIdentityHeader: (name: string) => boolean
  readonly limit: ForwardingLimit
  readonly counter?: CertificateCounter | undefined
  readonly dial?: Dial | undefined
}

interface ClientPair {
  readonly cert: string
  readonly key: string
}

/** Concurrent requests per extension server; long-running ones count until their response has begun. */
const maxConcurrent = 400

interface ExtensionServer {
  readonly pair: ClientPair | undefined
  readonly upstream: Upstream
  readonly limit: ForwardingLimit
}

/** Timeout of discovery and OpenAPI requests to an extension server. */
const discoveryTimeoutMs = 5000

export class AggregationLayer {
  readonly services: ApiServiceSource
  readonly documents: AggregationParts['documents']
  private readonly parts: AggregationParts
  private readonly servers = new Map<RemoteTarget, ExtensionServer>()
  private readonly unsubscribe: () => void

  constructor(parts: AggregationParts) {
    this.services = parts.services
    this.documents = parts.documents
    this.parts = parts
    this.unsubscribe = parts.services.onChange(({ remotes }) => this.dropUnused(remotes))
  }

  find({ info }: Exchange): RemoteVersion | undefined {
    const { current } = this.services
    if (info.path.startsWith('//')) return undefined
    if (info.isResource) return current.remote(info.group, info.version)
    const [, root, group = '', version = '', ...rest] = info.path.split('/')
    if (root === 'api') return current.remote('', 'v1')
    if (root === 'openapi') return this.findDocument(group, [version, ...rest])
    return root === 'apis' && version !== '' && rest.every((segment) => segment === '') ? current.remote(group, version) : undefined
  }

  /** OpenAPI v3 documents are served by the extension server of their group version. */
  private findDocument(version: string, [root, group = '', name = '', ...rest]: readonly string[]): RemoteVersion | undefined {
    if (version !== 'v3' || root !== 'apis' || rest.length > 0) return undefined
    return this.documents.openApi.addresses.has(`apis/${group}/${name}`) ? this.services.current.remote(group, name) : undefined
  }

  async serve(exchange: Exchange, version: RemoteVersion): Promise<Handled> {
    if (!version.isAvailable) return sendText(exchange, 503, 'service unavailable\n')
    const path = pathToForward(exchange)
    if (path === undefined) return sendText(exchange, 404, '404 page not found\n')
    let host: string
    try {
      host = this.parts.locate(version.remote.service)
    } catch {
      return sendText(exchange, 503, 'service unavailable\n')
    }
    const { info } = exchange
    exchange.isLongRunning = isLongRunning(info)
    const { upstream, limit } = this.serverOf(version.remote)
    const release = limit.enter(exchange)
    this.parts.limit.enter(exchange)
    exchange.lifecycle.notify('delegated', exchange)
    const stopTimer = info.isResource ? undefined : startDiscoveryTimer(exchange)
    try {
      await forwardRequest(exchange, {
        upstream,
        url: new URL(`https://${host}`),
        path,
        changeHeaders: (headers) => extensionHeaders(headers, { exchange, host, isIdentityHeader: this.parts.isIdentityHeader }),
        inspect: (head) => {
          this.inspect(head)
          if (exchange.isLongRunning) release()
        },
        onUpgrade: () => {
          exchange.isLongRunning = true
          release()
        },
      })
    } catch (thrown) {
      return sendFailure(exchange, thrown)
    } finally {
      stopTimer?.()
    }
    return true
  }

  close(): void {
    this.unsubscribe()
    for (const { upstream } of this.servers.values()) upstream.close()
    this.servers.clear()
  }

  private inspect(head: ResponseHead): void {
    const isRedirect = head.code >= 300 && head.code <= 399 && head.headers.some((name, i) => i % 2 === 0 && /^location$/i.test(name))
    if (isRedirect && this.parts.rejectsRedirects) throw new RedirectError()
    for (const name of ownHeaders) removeHeader(head.headers, name)
    const flowNames = head.headers.filter((name, i) => i % 2 === 0 && isFlowHeader(name.toLowerCase()))
    for (const name of flowNames) removeHeader(head.headers, name)
  }

  /** Returns the server with its connections, which are replaced when the client certificate changes. */
  private serverOf(target: RemoteTarget): ExtensionServer {
    const pair = this.parts.clientPair()
    const known = this.servers.get(target)
    if (known !== undefined && known.pair === pair) return known
    const { service, ca, isInsecure } = target
    const serverName = `${service.name}.${service.namespace}.svc`
    const upstream = new Upstream({
      ...pair,
      ...(ca === '' ? {} : { ca }),
      insecure: isInsecure,
      serverName,
      counter: this.parts.counter,
      dial: this.parts.dial,
    })
    const server = { pair, upstream, limit: known?.limit ?? new ForwardingLimit(maxConcurrent) }
    this.servers.set(target, server)
    return server
  }

  /** Drops servers without APIServices: their open requests end, idle connections time out. */
  private dropUnused(remotes: readonly RemoteVersion[]): void {
    if (this.servers.size === 0) return
    const wanted = new Set(remotes.map(({ remote }) => remote))
    for (const target of this.servers.keys()) if (!wanted.has(target)) this.servers.delete(target)
  }
}

class RedirectError extends Error {}

/** Response headers that this server sets itself. */
const ownHeaders = [
  'cache-control',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'strict-transport-security',
]

/** True for headers of priority and fairness (lower case), whose prefix depends on the server's --identity. */
const isFlowHeader = (name: string): boolean =>
  name.startsWith('x-') && (name.endsWith('-pf-flowschema-uid') || name.endsWith('-pf-prioritylevel-uid'))

function sendFailure(exchange: Exchange, thrown: unknown): Handled {
  if (thrown instanceof RedirectError)
    return sendText(exchange, 502, 'the backend attempted to redirect this request, which is not permitted')
  if (!(thrown instanceof UpstreamError)) throw thrown
  return sendText(exchange, 503, `error trying to reach service: ${thrown.message}\n`)
}

function startDiscoveryTimer(exchange: Exchange): () => void {
  const timer = setTimeout(() => {
    if (exchange.response.headersSent) exchange.cut()
    else sendText(exchange, 503, 'error trying to reach service: context deadline exceeded\n')
  }, discoveryTimeoutMs)
  return () => clearTimeout(timer)
}

function sendText(exchange: Exchange, code: number, text: string): Handled {
  sendPlain(exchange, code, text)
  return true
}
