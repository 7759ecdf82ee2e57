// Subresources that lead to what runs somewhere else: logs, commands in containers, ports, and whatever pods, services and nodes serve.

import type { Transform, Writable } from 'node:stream'
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from 'node:zlib'
import { ApiError, badRequest, notThere } from '../api/api-error.js'
import type { ConnectionName } from '../api/definition.js'
import { own } from '../base/own.js'
import { shorten } from '../base/shorten.js'
import { headerOf, removeHeader, setHeader } from '../net/forwarded-headers.js'
import { type AnswerHead, isUpgradable } from '../net/reverse-proxy.js'
import type { Upstream } from '../net/upstream.js'
import { UpstreamError, UpstreamRefusal } from '../net/upstream-error.js'
import { webSocketWish } from '../net/web-socket.js'
import { connect } from '../verbs/connect.js'
import type { Location, Trust } from '../verbs/special/signatures.js'
import { refusalOf } from './agent-refusal.js'
import type { Exchange } from './exchange.js'
import { type Destination, type ForwardingRoom, forwardExchange } from './forward-exchange.js'
import { HtmlLinks } from './html-links.js'
import type { Answered } from './pipeline.js'
import { join, type ProxyPlace, rewriteLink } from './proxy-links.js'
import { headersBeside, sendNothing, sendPlain, writeHead } from './respond.js'
import type { Target } from './target.js'
import { beginLog, logProtocolOf } from './web-socket-log.js'

/** What it takes to go anywhere else. */
export interface Reach {
  readonly upstreams: { readonly [Who in Trust]: Upstream }
  readonly room: ForwardingRoom
  /** Of each connection whose protocol was changed, in each direction; left out: any number. */
  readonly bytesPerSecond?: number | undefined
  readonly logTallies?: LogTallies
}

/** Who counts how logs were asked for, and whose agents had no good certificate. */
export interface LogTallies {
  count(isChecked: boolean): void
  countTlsFailure(): void
}

export async function serveConnection(target: Target, to: ConnectionName): Promise<Answered> {
  const { exchange, server, query } = target
  exchange.isLongRunning = true
  server.reach?.room.enter(exchange)
  const subpath = subpathOf(exchange)
  const location = await connect(server.engine, target.call, { to, catalog: exchange.catalog, query, subpath })
  // What there is nothing of has neither a type nor a length.
  if (location === undefined) sendNothing(exchange)
  else if (server.reach === undefined) throw notThere('this server reaches nobody else')
  else if (to === 'log') await passLog(target, server.reach, location)
  else if (to === 'proxyToNode' || to === 'proxyToPod' || to === 'proxyToService') await passProxied(exchange, server.reach, location)
  else await passStreams(exchange, server.reach, location)
  return true
}

/** What is asked for behind the name of the subresource; a slash at the end stays. */
function subpathOf({ info }: Exchange): string {
  const words = info.parts.slice(3)
  const path = words.length === 0 ? '' : `/${words.join('/')}`
  return info.path.endsWith('/') && !path.endsWith('/') ? `${path}/` : path
}

function urlOf({ scheme, host, port }: Location): URL {
  const name = host.includes(':') ? `[${host}]` : host
  const suffix = port === undefined ? '' : `:${port}`
  const text = `${scheme}://${name}${suffix}`
  // Nodes say themselves what they are called, and may say anything; so may clients of ports. Whoever could write an @ there would choose the
  // host, past everything that was asked of the address.
  const isWritten = /^[A-Za-z0-9._:[\]-]+$/.test(name) && (port === undefined || /^\d{1,5}$/.test(port))
  if (!isWritten || !URL.canParse(text)) throw unreachable(`dial tcp: lookup ${name}${shorten(suffix)}: no such host`)
  return new URL(text)
}

const unreachable = (why: string): ApiError => notThere(`error trying to reach service: ${why}`)

/** Something went wrong behind this server: there is no reason that programs could go by. */
const plainError = (message: string, cause: unknown): ApiError => new ApiError({ code: 500, message }, { cause })

const withQuery = (path: string, query: string): string => `${encodePath(path)}${query === '' ? '' : `?${encodeRest(query)}`}`

/** What may stand in a path stays, everything else is escaped. */
export const encodePath = (path: string): string =>
  encodeURIComponent(path === '' ? '/' : path)
    .replace(/%(?:2F|24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
    .replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

const encodeRest = (query: string): string => query.replace(/[^\x21-\x7e]/g, (letter) => encodeURIComponent(letter))

const isGood = ({ code }: AnswerHead): boolean => code >= 200 && code <= 206

/** A log is asked for by the server itself: of the client's request nothing is passed on but its options. */
async function passLog({ exchange, call }: Target, reach: Reach, location: Location): Promise<void> {
  const wish = webSocketWish(exchange.request, exchange.response)
  const protocol = wish && logProtocolOf(wish)
  const url = urlOf(location)
  const path = withQuery(location.path, location.query ?? '')
  const isChecked = location.trust === 'agent'
  let messages: Writable | undefined
  reach.logTallies?.count(isChecked)
  const destination: Destination = {
    upstream: reach.upstreams[location.trust],
    url,
    path,
    isOwn: true,
    changeHeaders: (headers) => {
      headers.length = 0
      headers.push('Host', url.host, 'User-Agent', 'cluster-apiserver')
    },
    isRefusal: (head) => !isGood(head),
    begin: () => {
      if (wish === undefined) writeHead(exchange, 200, [...headersBeside(exchange), 'Content-Type', 'text/plain'])
      else if (protocol === undefined || wish.refusal !== undefined) throw new HandshakeRefused()
      else messages = beginLog(exchange, wish, protocol)
    },
    into: () => messages,
  }
  try {
    await forwardExchange(exchange, destination)
  } catch (thrown) {
    if (thrown instanceof HandshakeRefused) {
      const { code, text, headers } = wish?.refusal ?? { code: 403, text: 'requested protocol(s) are not supported' }
      sendPlain(exchange, code, text, headers)
      return
    }
    if (thrown instanceof UpstreamRefusal && !(thrown.code >= 300 && thrown.code < 400))
      throw refusalOf(thrown, { resource: `${call.resource.name}/log`, name: call.name })
    const isTls = thrown instanceof UpstreamError && thrown.isTls
    if (isTls && isChecked) reach.logTallies?.countTlsFailure()
    const why = thrown instanceof UpstreamRefusal ? 'redirects forbidden' : thrown instanceof UpstreamError ? thrown.message : undefined
    if (why === undefined) throw thrown
    throw plainError(`Get "${url.origin}${path}": ${why}`, thrown)
  }
}

/** There is a log, and its client and this server do not agree on how to speak of it. */
class HandshakeRefused extends Error {}

/** Commands, terminals and ports are spoken to in another protocol, or not at all. */
async function passStreams(exchange: Exchange, reach: Reach, location: Location): Promise<void> {
  if (!isUpgradable(exchange.response)) throw badRequest('Upgrade request required')
  const path = withQuery(location.path, location.query ?? '')
  try {
    await forwardExchange(exchange, {
      upstream: reach.upstreams[location.trust],
      url: urlOf(location),
      path,
      bytesPerSecond: reach.bytesPerSecond,
    })
  } catch (thrown) {
    throw upgradeFailure(thrown)
  }
}

function upgradeFailure(thrown: unknown): unknown {
  if (!(thrown instanceof UpstreamError)) return thrown
  return plainError(thrown.isConnected ? thrown.message : `error dialing backend: ${thrown.message}`, thrown)
}

async function passProxied(exchange: Exchange, reach: Reach, location: Location): Promise<void> {
  const { info, response } = exchange
  const isUpgrade = isUpgradable(response)
  if (!isUpgrade && location.path === '' && (info.method === 'GET' || info.method === 'HEAD')) {
    // Links of a page without a slash at its end would lead somewhere else.
    const query = info.query === '' ? '' : `?${info.query}`
    writeHead(exchange, 301, [...headersBeside(exchange), 'Location', `${info.path}/${query}`, 'Content-Length', '0'])
    response.end()
    return
  }
  const url = urlOf(location)
  const place = placeOf(exchange, location, url)
  const destination: Destination = {
    upstream: reach.upstreams[location.trust],
    url,
    path: withQuery(location.path, info.query),
    serverName: location.serverName,
    bytesPerSecond: reach.bytesPerSecond,
    ...(isUpgrade
      ? {}
      : {
          changeHeaders: (headers) => setHeader(headers, 'X-Forwarded-Uri', join(place.prefix, encodePath(location.path))),
          transforms: (head) => rewriteLinks(head, place),
        }),
  }
  try {
    await forwardExchange(exchange, destination)
  } catch (thrown) {
    if (isUpgrade) throw upgradeFailure(thrown)
    throw thrown instanceof UpstreamError ? unreachable(thrown.message) : thrown
  }
}

function placeOf({ info, request }: Exchange, { path }: Location, { host }: URL): ProxyPlace {
  const asked = decoded(info.path)
  const suffix = asked.endsWith('/') && !path.endsWith('/') ? `${path}/` : path
  const requestHost = request.headers[':authority'] ?? request.headers.host
  return {
    // It becomes a part of links.
    prefix: encodePath(suffix !== '' && asked.endsWith(suffix) ? asked.slice(0, -suffix.length) : asked),
    host,
    requestHost: typeof requestHost === 'string' ? requestHost : '',
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const crossOriginHeaders = [
  'Access-Control-Allow-Credentials',
  'Access-Control-Allow-Headers',
  'Access-Control-Allow-Methods',
  'Access-Control-Allow-Origin',
]

/** Links in the head and, of pages, in the body. Which scripts may read it, this server says. */
function rewriteLinks({ headers }: AnswerHead, place: ProxyPlace): readonly Transform[] {
  for (const name of crossOriginHeaders) removeHeader(headers, name)
  const location = headerOf(headers, 'location')
  if (location !== undefined && location !== '') {
    setHeader(headers, 'Location', rewriteLink(location, place))
    return []
  }
  const [type = ''] = (headerOf(headers, 'content-type') ?? '').split(';')
  if (type.trim() !== 'text/html') return []
  const coding = own(codings, headerOf(headers, 'content-encoding') ?? '')
  if (coding === undefined) return []
  removeHeader(headers, 'content-length')
  return coding(new HtmlLinks((link) => rewriteLink(link, place)))
}

/** How a page may be packed; others are passed on as they are. */
const codings: { readonly [name: string]: (links: Transform) => readonly Transform[] } = {
  '': (links) => [links],
  gzip: (links) => [createGunzip(), links, createGzip()],
  deflate: (links) => [createInflateRaw(), links, createDeflateRaw()],
}
