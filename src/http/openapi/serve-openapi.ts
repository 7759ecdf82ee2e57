// The answers below `/openapi`: in JSON or Protobuf, with tags so that nothing is sent twice, and for good where the address says
// which content it means.

import type { Writable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { readQuery } from '../../api/options/query.js'
import type { RemoteOpenApi } from '../../api/remote-openapi.js'
import { parseAccept } from '../../codec/accept.js'
import type { Exchange } from '../exchange.js'
import type { Answered } from '../pipeline.js'
import { acceptsGzip, endWith, withStreamRoom, writeHead } from '../respond.js'
import { addressV3, type KeptDocument, type OpenApiDocuments, type Published } from './documents.js'
import type { FormName } from './unit.js'

export interface OpenApiSite {
  readonly documents: OpenApiDocuments
  /** What other servers have said; left out: there are none. */
  readonly remote?: RemoteOpenApi | undefined
}

/** True when there was something to answer; `words` are the parts of the path, with `openapi` first. */
export async function serveOpenApi({ documents, remote }: OpenApiSite, exchange: Exchange, words: readonly string[]): Promise<Answered> {
  const [, version, ...rest] = words
  const asked: Asked = { documents, about: { catalog: exchange.catalog, ...(remote === undefined ? {} : { remote }) }, exchange }
  if (version === 'v2' && rest.length === 0) return exchange.info.path.endsWith('/') ? false : serveV2(asked)
  if (version !== 'v3') return false
  return rest.length === 0 ? serveIndex(asked) : serveV3(asked, rest.join('/'))
}

interface Asked {
  readonly documents: OpenApiDocuments
  readonly about: Published
  readonly exchange: Exchange
}

/** By these names clients ask for Protobuf; the older one has a character in it that no media type may have. */
const protobufNames = {
  v2: ['com.github.proto-openapi.spec.v2@v1.0+protobuf', 'com.github.proto-openapi.spec.v2.v1.0+protobuf'],
  v3: ['com.github.proto-openapi.spec.v3@v1.0+protobuf', 'com.github.proto-openapi.spec.v3.v1.0+protobuf'],
} as const

/** What clients of this release get as the type of the content, which they know without. */
const contentTypes: { readonly [Form in FormName]: string } = {
  json: 'text/plain; charset=utf-8',
  protobuf: 'application/octet-stream',
}

function formFor(exchange: Exchange, version: keyof typeof protobufNames): FormName | undefined {
  const names: readonly string[] = protobufNames[version]
  for (const { type, subtype } of parseAccept(exchange.header('accept') || '*/*')) {
    if (type !== '*' && type !== 'application') continue
    if (subtype === '*' || subtype === 'json') return 'json'
    if (names.includes(subtype)) return 'protobuf'
  }
  return undefined
}

async function serveV2({ documents, about, exchange }: Asked): Promise<Answered> {
  const form = formFor(exchange, 'v2')
  if (form === undefined) return notAcceptable(exchange, varying)
  return sendDocument(exchange, await documents.v2(about, form), { contentType: contentTypes[form], varied: varying })
}

const serveIndex = async ({ documents, about, exchange }: Asked): Promise<Answered> =>
  sendDocument(exchange, await documents.index(about), { contentType: contentTypes.json, varied: [] })

async function serveV3({ documents, about, exchange }: Asked, name: string): Promise<Answered> {
  const form = formFor(exchange, 'v3')
  if (form === undefined) return notAcceptable(exchange, ['Accept'])
  const document = await documents.v3(about, name, form)
  if (document === undefined) return answer(exchange, { code: 404, headers: [] })
  const wanted = readQuery(exchange.info.query).first('hash') ?? ''
  if (wanted !== '' && wanted !== document.hash) return redirect(exchange, addressV3(name, document.hash))
  const sending = { contentType: contentTypes[form], varied: ['Accept'] }
  return sendDocument(exchange, document, wanted === '' ? sending : { ...sending, keepUntilMs: exchange.now + yearMs })
}

const yearMs = 365 * 24 * 60 * 60 * 1000

interface Sending {
  readonly contentType: string
  /** The headers of the request on which the answer depends; that it is compressed is added. */
  readonly varied: readonly string[]
  /** Set where the address names the content, which then never changes. */
  readonly keepUntilMs?: number
}

async function sendDocument(exchange: Exchange, document: KeptDocument, sending: Sending): Promise<Answered> {
  const tag = `"${document.hash}"`
  const isCompressed = acceptsGzip(exchange)
  const varied = isCompressed ? [...new Set(['Accept-Encoding', ...sending.varied])] : sending.varied
  const headers = [...(varied.length === 0 ? [] : ['Vary', varied.join(', ')]), 'ETag', tag]
  const caching = sending.keepUntilMs === undefined ? changing : kept(sending.keepUntilMs)
  if (isKnown(exchange.header('if-none-match'), tag)) return answer(exchange, { code: 304, caching, headers })
  headers.push('Content-Type', sending.contentType)
  if (isCompressed) headers.push('Content-Encoding', 'gzip')
  const compressed = await document.compressed()
  return answer(exchange, { code: 200, caching, headers, body: isCompressed ? compressed : { compressed, bytes: document.bytes } })
}

/** Whether the client has this content already: one of the tags that it sent is this one. */
const isKnown = (tags: string, tag: string): boolean =>
  tags.split(',').some((text) => text.trim() === '*' || text.trim().replace(/^W\//, '') === tag)

/** Of the document that was there first, whether compressed or not. */
const varying = ['Accept-Encoding', 'Accept']
const changing = ['Cache-Control', 'no-cache, private']
const kept = (untilMs: number): readonly string[] => ['Cache-Control', 'public, immutable', 'Expires', new Date(untilMs).toUTCString()]

const notAcceptable = (exchange: Exchange, varied: readonly string[]): Answered =>
  answer(exchange, { code: 406, headers: ['Vary', varied.join(', ')] })

const redirect = (exchange: Exchange, address: string): Answered =>
  answer(exchange, {
    code: 301,
    headers: ['Location', address, 'Content-Type', 'text/html; charset=utf-8'],
    body: Buffer.from(`<a href="${address}">Moved Permanently</a>.\n\n`),
  })

interface PlainAnswer {
  readonly code: number
  readonly caching?: readonly string[]
  readonly headers: readonly string[]
  readonly body?: Buffer | Unpacked
}

/** What is unpacked while it is sent, as its client takes it: it may have many megabytes. */
interface Unpacked {
  readonly compressed: Buffer
  /** How long it is then. */
  readonly bytes: number
}

/** Answers here may have no content, and then no type of it either, which other answers always have. */
function answer(exchange: Exchange, { code, caching = changing, headers, body }: PlainAnswer): Answered {
  const { response } = exchange
  if (response.headersSent || response.destroyed) return true
  const bytes = body === undefined ? 0 : 'bytes' in body ? body.bytes : body.length
  const length = code === 304 ? [] : ['Content-Length', String(bytes)]
  writeHead(exchange, code, ['Audit-Id', exchange.auditId, ...caching, ...headers, ...length])
  if (body === undefined || exchange.info.method === 'HEAD') response.end()
  else if ('bytes' in body) unpack(exchange, body)
  else endWith(exchange, body)
  return true
}

function unpack(exchange: Exchange, { compressed }: Unpacked): void {
  const unpacked = createGunzip({ chunkSize: 64 * 1024 })
  withStreamRoom(exchange)
  exchange.onLeave(() => unpacked.destroy())
  unpacked.on('error', () => exchange.cut())
  unpacked.pipe(exchange.response as Writable)
  unpacked.end(compressed)
}
