// GET of /openapi/v2 and /openapi/v3: JSON or Protobuf, with ETags, cacheable for a year if the URL has the hash.

import type { Writable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { RemoteOpenApi } from '@cluster-apiserver/api/api/catalog/remote-openapi.js'
import { readQuery } from '@cluster-apiserver/api/api/options/query.js'
import { parseAccept } from '@cluster-apiserver/api/codec/accept-header.js'
import type { EncodingName } from '../../openapi/documents/document-unit.js'
import { type CachedDocument, type OpenApiDocuments, type Published, urlV3 } from '../../openapi/documents/documents.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { Handled } from '../pipeline/filter.js'
import { acceptsGzip, endWith, writeHead } from '../responses/send-response.js'

interface OpenApiSources {
  readonly documents: OpenApiDocuments
  readonly remote?: RemoteOpenApi | undefined
  readonly hasV3: boolean
}

/** Returns false for unknown paths. */
export async function serveOpenApi(
  { documents, remote, hasV3 }: OpenApiSources,
  exchange: Exchange,
  segments: readonly string[],
): Promise<Handled> {
  const [, version, ...rest] = segments
  const request: OpenApiRequest = {
    documents,
    published: { catalog: exchange.catalog, ...(remote === undefined ? {} : { remote }) },
    exchange,
  }
  if (version === 'v2' && rest.length === 0) return exchange.info.path.endsWith('/') ? false : serveV2(request)
  if (version !== 'v3' || !hasV3) return false
  return rest.length === 0 ? serveIndex(request) : serveV3(request, rest.join('/'))
}

interface OpenApiRequest {
  readonly documents: OpenApiDocuments
  readonly published: Published
  readonly exchange: Exchange
}

/** Media types of Protobuf: the older one contains an invalid character. */
const protobufNames = {
  v2: ['com.github.proto-openapi.spec.v2@v1.0+protobuf', 'com.github.proto-openapi.spec.v2.v1.0+protobuf'],
  v3: ['com.github.proto-openapi.spec.v3@v1.0+protobuf', 'com.github.proto-openapi.spec.v3.v1.0+protobuf'],
} as const

/** As in kube-apiserver 1.26. */
const contentTypes: { readonly [Name in EncodingName]: string } = {
  json: 'text/plain; charset=utf-8',
  protobuf: 'application/octet-stream',
}

function negotiateEncoding(exchange: Exchange, version: keyof typeof protobufNames): EncodingName | undefined {
  const names: readonly string[] = protobufNames[version]
  for (const { type, subtype } of parseAccept(exchange.header('accept') || '*/*')) {
    if (type !== '*' && type !== 'application') continue
    if (subtype === '*' || subtype === 'json') return 'json'
    if (names.includes(subtype)) return 'protobuf'
  }
  return undefined
}

async function serveV2({ documents, published, exchange }: OpenApiRequest): Promise<Handled> {
  const encoding = negotiateEncoding(exchange, 'v2')
  if (encoding === undefined) return notAcceptable(exchange, varyV2)
  return sendDocument(exchange, await documents.v2(published, encoding), { contentType: contentTypes[encoding], varied: varyV2 })
}

const serveIndex = async ({ documents, published, exchange }: OpenApiRequest): Promise<Handled> =>
  sendDocument(exchange, await documents.index(published), { contentType: contentTypes.json, varied: [] })

async function serveV3({ documents, published, exchange }: OpenApiRequest, name: string): Promise<Handled> {
  const encoding = negotiateEncoding(exchange, 'v3')
  const document = await documents.v3(published, name, encoding ?? 'json')
  if (document === undefined) return respond(exchange, { code: 404, headers: [] })
  if (encoding === undefined) return notAcceptable(exchange, ['Accept'])
  const hash = readQuery(exchange.info.query).first('hash') ?? ''
  if (hash !== '' && hash !== document.hash) return redirect(exchange, urlV3(name, document.hash))
  const sending = { contentType: contentTypes[encoding], varied: ['Accept'] }
  return sendDocument(exchange, document, hash === '' ? sending : { ...sending, expiresMs: exchange.now + yearMs })
}

const yearMs = 365 * 24 * 60 * 60 * 1000

interface Sending {
  readonly contentType: string
  /** Request headers that the response depends on, for `Vary`. */
  readonly varied: readonly string[]
  /** Set if the URL has the current hash. */
  readonly expiresMs?: number
}

function sendDocument(exchange: Exchange, document: CachedDocument, sending: Sending): Handled {
  const tag = `"${document.hash}"`
  const isCompressed = acceptsGzip(exchange)
  const varied = isCompressed ? [...new Set(['Accept-Encoding', ...sending.varied])] : sending.varied
  const headers = [...(varied.length === 0 ? [] : ['Vary', varied.join(', ')]), 'ETag', tag]
  const caching = sending.expiresMs === undefined ? uncacheable : cacheableUntil(sending.expiresMs)
  if (matchesTag(exchange.header('if-none-match'), tag)) return respond(exchange, { code: 304, caching, headers })
  headers.push('Content-Type', sending.contentType)
  if (isCompressed) headers.push('Content-Encoding', 'gzip')
  const compressed = document.compressed()
  return respond(exchange, { code: 200, caching, headers, body: isCompressed ? compressed : { compressed, bytes: document.bytes } })
}

/** Evaluates If-None-Match. */
const matchesTag = (tags: string, tag: string): boolean =>
  tags.split(',').some((text) => text.trim() === '*' || text.trim().replace(/^W\//, '') === tag)

const varyV2 = ['Accept-Encoding', 'Accept']
const uncacheable = ['Cache-Control', 'no-cache, private']
const cacheableUntil = (untilMs: number): readonly string[] => [
  'Cache-Control',
  'public, immutable',
  'Expires',
  new Date(untilMs).toUTCString(),
]

const notAcceptable = (exchange: Exchange, varied: readonly string[]): Handled =>
  respond(exchange, { code: 406, headers: ['Vary', varied.join(', ')] })

const redirect = (exchange: Exchange, address: string): Handled =>
  respond(exchange, {
    code: 301,
    headers: ['Location', address, 'Content-Type', 'text/html; charset=utf-8'],
    body: Buffer.from(`<a href="${address}">Moved Permanently</a>.\n\n`),
  })

interface OpenApiResponse {
  readonly code: number
  readonly caching?: readonly string[]
  readonly headers: readonly string[]
  readonly body?: Buffer | GzipBody
}

/** A document for a client without gzip, decompressed while it is sent; `bytes`: its decompressed length. */
interface GzipBody {
  readonly compressed: Buffer
  readonly bytes: number
}

/** Sends a response that, unlike with `send`, may lack body and content type. */
function respond(exchange: Exchange, { code, caching = uncacheable, headers, body }: OpenApiResponse): Handled {
  const { response } = exchange
  if (response.headersSent || response.destroyed) return true
  const bytes = body === undefined ? 0 : 'bytes' in body ? body.bytes : body.length
  const length = code === 304 ? [] : ['Content-Length', String(bytes)]
  writeHead(exchange, code, ['Audit-Id', exchange.auditId, ...caching, ...headers, ...length])
  if (body === undefined || exchange.info.method === 'HEAD') response.end()
  else if ('bytes' in body) decompress(exchange, body)
  else endWith(exchange, body)
  return true
}

function decompress(exchange: Exchange, { compressed }: GzipBody): void {
  const gunzip = createGunzip({ chunkSize: 64 * 1024 })
  exchange.onClose(() => gunzip.destroy())
  gunzip.on('error', () => exchange.cut())
  gunzip.pipe(exchange.response as Writable)
  gunzip.end(compressed)
}
