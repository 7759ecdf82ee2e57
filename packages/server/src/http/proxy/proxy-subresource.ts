// The proxy subresources of nodes, pods and services: forwards requests, and rewrites links of HTML pages to lead through the proxy.

import type { Transform } from 'node:stream'
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from 'node:zlib'
import { own } from '@cluster-apiserver/api/base/own-property.js'
import { headerOf, removeHeader, setHeader } from '../../net/proxy/forwarded-headers.js'
import { isUpgradable, type ResponseHead } from '../../net/proxy/reverse-proxy.js'
import { UpstreamError } from '../../net/proxy/upstream-error.js'
import type { Location } from '../../verbs/virtual/virtual-resource-types.js'
import type { Exchange } from '../pipeline/exchange.js'
import { commonHeaders, writeHead } from '../responses/send-response.js'
import { encodePath, unreachable, upgradeError, withQuery } from './backend-url.js'
import { type Backends, backendOf } from './backends.js'
import { type Destination, forwardRequest } from './forward-request.js'
import { HtmlLinks } from './html-links.js'
import { joinPaths, type ProxyOrigin, rewriteLink } from './proxy-links.js'

export async function serveProxy(exchange: Exchange, backends: Backends, location: Location): Promise<void> {
  const { info, response } = exchange
  const isUpgrade = isUpgradable(response)
  if (!isUpgrade && location.path === '' && (info.method === 'GET' || info.method === 'HEAD')) {
    // Relative links of a page resolve only with the trailing slash.
    const query = info.query === '' ? '' : `?${info.query}`
    writeHead(exchange, 301, [...commonHeaders(exchange), 'Location', `${info.path}/${query}`, 'Content-Length', '0'])
    response.end()
    return
  }
  const { upstream, url } = backendOf(backends, location)
  const origin = originOf(exchange, location, url)
  const destination: Destination = {
    upstream,
    url,
    path: withQuery(location.path, info.query),
    serverName: location.serverName,
    bytesPerSecond: backends.bytesPerSecond,
    ...(isUpgrade
      ? {}
      : {
          changeHeaders: (headers) => setHeader(headers, 'X-Forwarded-Uri', joinPaths(origin.prefix, encodePath(location.path))),
          transforms: (head) => rewriteLinks(head, origin),
        }),
  }
  try {
    await forwardRequest(exchange, destination)
  } catch (thrown) {
    if (isUpgrade) throw upgradeError(thrown)
    throw thrown instanceof UpstreamError ? unreachable(thrown.message) : thrown
  }
}

function originOf({ info, request }: Exchange, { path }: Location, { host }: URL): ProxyOrigin {
  const requested = decoded(info.path)
  const suffix = requested.endsWith('/') && !path.endsWith('/') ? `${path}/` : path
  const requestHost = request.headers[':authority'] ?? request.headers.host
  return {
    // Encoded, because rewritten links start with the prefix.
    prefix: encodePath(suffix !== '' && requested.endsWith(suffix) ? requested.slice(0, -suffix.length) : requested),
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

/** Rules for this server's origin: CORS, and service workers for paths of others, such as the console. */
const originHeaders = [
  'Access-Control-Allow-Credentials',
  'Access-Control-Allow-Headers',
  'Access-Control-Allow-Methods',
  'Access-Control-Allow-Origin',
  'Service-Worker-Allowed',
]

/** Rewrites the Location header or the links of an HTML body, and removes headers with rules for this server's origin. */
function rewriteLinks({ headers }: ResponseHead, origin: ProxyOrigin): readonly Transform[] {
  for (const name of originHeaders) removeHeader(headers, name)
  const location = headerOf(headers, 'location')
  if (location !== undefined && location !== '') {
    setHeader(headers, 'Location', rewriteLink(location, origin))
    return []
  }
  const [type = ''] = (headerOf(headers, 'content-type') ?? '').split(';')
  if (type.trim() !== 'text/html') return []
  const rewriter = own(rewriters, headerOf(headers, 'content-encoding') ?? '')
  if (rewriter === undefined) return []
  removeHeader(headers, 'content-length')
  return rewriter(new HtmlLinks((link) => rewriteLink(link, origin)))
}

/** By content encoding; bodies in other encodings are not rewritten. */
const rewriters: { readonly [name: string]: (links: Transform) => readonly Transform[] } = {
  '': (links) => [links],
  gzip: (links) => [createGunzip(), links, createGzip()],
  deflate: (links) => [createInflateRaw(), links, createDeflateRaw()],
}
