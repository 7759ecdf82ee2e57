// Requests for versions that another server answers for: found before anything of ours is, and passed on to it.

import type { ApiServiceSource, RemoteTarget, RemoteVersion, ServiceAddress } from '../api/api-services.js'
import type { RemoteDiscovery } from '../api/discovered.js'
import type { RemoteOpenApi } from '../api/remote-openapi.js'
import { removeHeader } from '../net/forwarded-headers.js'
import type { AnswerHead } from '../net/reverse-proxy.js'
import type { CertificateTally } from '../net/shown-certificate.js'
import type { Dial } from '../net/tunnel.js'
import { Upstream } from '../net/upstream.js'
import { UpstreamError } from '../net/upstream-error.js'
import type { Exchange } from './exchange.js'
import { extensionHeaders, pathToForward } from './extension-request.js'
import { ForwardingRoom, forwardExchange } from './forward-exchange.js'
import type { Answered } from './pipeline.js'
import { isLongRunning } from './priority.js'
import { sendPlain } from './respond.js'

export interface ExtensionParts {
  readonly services: ApiServiceSource
  /** What the others have said of what they serve. */
  readonly documents: { readonly discovery: RemoteDiscovery; readonly openApi: RemoteOpenApi }
  /** Host and port where a service is reached now; throws where there is none. */
  readonly locate: (service: ServiceAddress) => string
  /** PEM of what this server shows the others; undefined: nothing. The same value until it changes. */
  readonly clientPair: () => ClientPair | undefined
  readonly rejectsRedirects: boolean
  /** Whether a header, in small letters, is one by which extension servers would believe somebody else's word on who the user is. */
  readonly isVouching: (name: string) => boolean
  readonly room: ForwardingRoom
  /** Counts what extension servers show of themselves. */
  readonly tally?: CertificateTally | undefined
  /** The way to them; left out: directly. */
  readonly dial?: Dial | undefined
}

interface ClientPair {
  readonly cert: string
  readonly key: string
}

/** How many requests one server may have to answer at a time; those that last count until they have begun. One that does not answer shall not hold all. */
const mostWaiting = 400

interface Reached {
  readonly pair: ClientPair | undefined
  readonly upstream: Upstream
  readonly room: ForwardingRoom
}

/** Whoever wants to know what is served does not wait for somebody who cannot say. */
const discoveryMs = 5000

export class Extensions {
  readonly services: ApiServiceSource
  readonly documents: ExtensionParts['documents']
  private readonly parts: ExtensionParts
  private readonly upstreams = new Map<RemoteTarget, Reached>()
  private readonly unfollow: () => void

  constructor(parts: ExtensionParts) {
    this.services = parts.services
    this.documents = parts.documents
    this.parts = parts
    this.unfollow = parts.services.onChange(({ remotes }) => this.forget(remotes))
  }

  /** Who answers, if it is not this server. */
  find({ info }: Exchange): RemoteVersion | undefined {
    const { current } = this.services
    if (current.remotes.length === 0 || info.path.startsWith('//')) return undefined
    if (info.isResource) return current.remote(info.group, info.version)
    const [, root, group = '', version = '', ...rest] = info.path.split('/')
    if (root === 'api') return current.remote('', 'v1')
    if (root === 'openapi') return this.findDocument(group, [version, ...rest])
    return root === 'apis' && version !== '' && rest.every((word) => word === '') ? current.remote(group, version) : undefined
  }

  /** Documents of version 3 belong to who answers for what they tell of. */
  private findDocument(version: string, [root, group = '', name = '', ...rest]: readonly string[]): RemoteVersion | undefined {
    if (version !== 'v3' || root !== 'apis' || rest.length > 0) return undefined
    return this.documents.openApi.addresses.has(`apis/${group}/${name}`) ? this.services.current.remote(group, name) : undefined
  }

  async serve(exchange: Exchange, version: RemoteVersion): Promise<Answered> {
    if (!version.isAvailable) return plain(exchange, 503, 'service unavailable\n')
    const path = pathToForward(exchange)
    if (path === undefined) return plain(exchange, 404, '404 page not found\n')
    let host: string
    try {
      host = this.parts.locate(version.remote.service)
    } catch {
      return plain(exchange, 503, 'service unavailable\n')
    }
    const { info } = exchange
    exchange.isLongRunning = isLongRunning(info)
    const { upstream, room } = this.reach(version.remote)
    const leaveWaiting = room.enter(exchange)
    this.parts.room.enter(exchange)
    exchange.lifecycle.tell('delegated', exchange)
    const stopWaiting = info.isResource ? undefined : answerSoon(exchange)
    try {
      await forwardExchange(exchange, {
        upstream,
        url: new URL(`https://${host}`),
        path,
        changeHeaders: (headers) => extensionHeaders(headers, { exchange, host, isVouching: this.parts.isVouching }),
        inspect: (head) => {
          this.inspect(head)
          if (exchange.isLongRunning) leaveWaiting()
        },
        // Whoever only asks for another protocol waits like everybody else.
        onUpgrade: () => {
          exchange.isLongRunning = true
          leaveWaiting()
        },
      })
    } catch (thrown) {
      return answerFailure(exchange, thrown)
    } finally {
      stopWaiting?.()
    }
    return true
  }

  close(): void {
    this.unfollow()
    for (const { upstream } of this.upstreams.values()) upstream.close()
    this.upstreams.clear()
  }

  private inspect(head: AnswerHead): void {
    const isRedirect = head.code >= 300 && head.code <= 399 && head.headers.some((name, i) => i % 2 === 0 && /^location$/i.test(name))
    if (isRedirect && this.parts.rejectsRedirects) throw new RedirectError()
    for (const name of notPassedBack) removeHeader(head.headers, name)
    const flowNames = head.headers.filter((name, i) => i % 2 === 0 && isFlowHeader(name.toLowerCase()))
    for (const name of flowNames) removeHeader(head.headers, name)
  }

  /** Connections are kept as long as both sides show the same. */
  private reach(target: RemoteTarget): Reached {
    const pair = this.parts.clientPair()
    const known = this.upstreams.get(target)
    if (known !== undefined && known.pair === pair) return known
    const { service, ca, isInsecure } = target
    const serverName = `${service.name}.${service.namespace}.svc`
    const upstream = new Upstream({
      ...pair,
      ...(ca === '' ? {} : { ca }),
      insecure: isInsecure,
      serverName,
      tally: this.parts.tally,
      dial: this.parts.dial,
    })
    const reached = { pair, upstream, room: known?.room ?? new ForwardingRoom(mostWaiting) }
    this.upstreams.set(target, reached)
    return reached
  }

  /** What is under way to one that is gone comes to its own end; connections without a request end after a while. */
  private forget(remotes: readonly RemoteVersion[]): void {
    if (this.upstreams.size === 0) return
    const wanted = new Set(remotes.map(({ remote }) => remote))
    for (const target of this.upstreams.keys()) if (!wanted.has(target)) this.upstreams.delete(target)
  }
}

class RedirectError extends Error {}

/** Said by this server already, or for it to say: who may read its answers in a browser. */
const notPassedBack = [
  'cache-control',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'strict-transport-security',
]

/** Which flow a request was counted in, under whatever brand: it is this server's flows that clients are told of. */
const isFlowHeader = (name: string): boolean =>
  name.startsWith('x-') && (name.endsWith('-pf-flowschema-uid') || name.endsWith('-pf-prioritylevel-uid'))

function answerFailure(exchange: Exchange, thrown: unknown): Answered {
  if (thrown instanceof RedirectError) return plain(exchange, 502, 'the backend attempted to redirect this request, which is not permitted')
  if (!(thrown instanceof UpstreamError)) throw thrown
  return plain(exchange, 503, `error trying to reach service: ${thrown.message}\n`)
}

/** Gives what ends it. */
function answerSoon(exchange: Exchange): () => void {
  const timer = setTimeout(() => {
    if (exchange.response.headersSent) exchange.cut()
    else plain(exchange, 503, 'error trying to reach service: context deadline exceeded\n')
  }, discoveryMs)
  return () => clearTimeout(timer)
}

function plain(exchange: Exchange, code: number, text: string): Answered {
  sendPlain(exchange, code, text)
  return true
}
