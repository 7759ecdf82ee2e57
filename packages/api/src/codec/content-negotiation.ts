// Content negotiation: the representation of a response from the Accept header, the format of a body from its Content-Type.

import { ApiError, notAcceptable, unsupportedMediaType } from '../api/api-error.js'
import type { Identity } from '../api/identity.js'
import type { Query } from '../api/options/query.js'
import { type AcceptClause, acceptParts, parseAccept } from './accept-header.js'

export type Format = 'json' | 'yaml' | 'protobuf'

export interface Transform {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

export interface Representation {
  readonly format: Format
  readonly as?: Transform
  readonly pretty: boolean
}

export interface ResponsePreferences {
  readonly accept: string | undefined
  readonly userAgent: string | undefined
  readonly query: Query
}

export interface Offer {
  readonly identity: Identity
  readonly formats: readonly Format[]
  /** Formats of bodies, and of responses except Table and PartialObjectMetadata: custom resources have no Protobuf. */
  readonly plainFormats?: readonly Format[]
  readonly transforms: boolean
  readonly tables?: boolean
  /** True: the message of a 406 also lists the media types of watch streams. */
  readonly streams?: boolean
  /** Built-in resources get a 406 from the router, custom ones from the resource, with other messages. */
  readonly routed: boolean
}

export const allFormats: readonly Format[] = ['json', 'yaml', 'protobuf']
const streamFormats: ReadonlySet<Format> = new Set(['json', 'protobuf'])

export function mediaTypeOf(format: Format, identity: Identity): string {
  return format === 'protobuf' ? identity.protobufMediaType : `application/${format}`
}

export const streamMediaTypeOf = (format: Format, identity: Identity): string =>
  format === 'json' ? 'application/json' : `${mediaTypeOf(format, identity)};stream=watch`

/** Throws a 406. */
export function negotiate(preferences: ResponsePreferences, offer: Offer): Representation {
  const { accept } = preferences
  const first = offer.formats[0]
  if (first !== undefined && acceptsDefault(accept, first)) return { format: first, pretty: first === 'json' && isPretty(preferences) }
  if (offer.routed) checkRoute(accept ?? '', offer)
  const found = choose(accept ?? '', offer)
  if (found === undefined) throw notAcceptable(mediaTypes(offer))
  const pretty = found.format === 'json' && (found.pretty || isPretty(preferences))
  return found.as === undefined ? { format: found.format, pretty } : { format: found.format, as: found.as, pretty }
}

export function checkStream(representation: Representation, offer: Offer): void {
  if (!streamFormats.has(representation.format)) throw notAcceptable(streamMediaTypes(offer))
}

/** Errors are never Tables. Returns undefined if nothing is acceptable. */
export function negotiateError(preferences: ResponsePreferences, identity: Identity): Representation | undefined {
  if (acceptsDefault(preferences.accept, 'json')) return { format: 'json', pretty: isPretty(preferences) }
  const found = choose(preferences.accept ?? '', { identity, formats: allFormats, transforms: false, routed: false })
  return found && { format: found.format, pretty: found.format === 'json' && (found.pretty || isPretty(preferences)) }
}

const acceptsDefault = (accept: string | undefined, first: Format): boolean =>
  accept === undefined || accept === '' || accept === '*/*' || (first === 'json' && (accept === 'application/json' || accept === jsonOrAny))
const jsonOrAny = 'application/json, */*'

const mediaTypes = (offer: Offer): readonly string[] => offer.formats.map((format) => mediaTypeOf(format, offer.identity))
const streamMediaTypes = (offer: Offer): readonly string[] =>
  offer.formats.filter((format) => streamFormats.has(format)).map((format) => `${mediaTypeOf(format, offer.identity)};stream=watch`)

interface Choice {
  readonly format: Format
  readonly as?: Transform
  readonly pretty: boolean
}

function choose(accept: string, offer: Offer): Choice | undefined {
  for (const clause of parseAccept(accept)) {
    for (const format of offer.formats) {
      if (!matchesMediaType(clause, mediaTypeOf(format, offer.identity))) continue
      const choice = choiceOf(clause, format, offer)
      if (choice !== undefined) return choice
    }
  }
  return undefined
}

function matchesMediaType(clause: AcceptClause, mediaType: string): boolean {
  if (clause.type === '*') return clause.subtype === '*'
  return clause.subtype === '*' ? mediaType.startsWith(`${clause.type}/`) : mediaType === `${clause.type}/${clause.subtype}`
}

function choiceOf(clause: AcceptClause, format: Format, offer: Offer): Choice | undefined {
  const { parameters } = clause
  const stream = parameters.get('stream')
  if (stream && (stream !== 'watch' || !streamFormats.has(format))) return undefined
  if ((parameters.get('sv') ?? 'v1') !== 'v1') return undefined
  const pretty = parameters.get('pretty') === '1'
  if (!parameters.has('as') && !parameters.has('g') && !parameters.has('v'))
    return (offer.plainFormats ?? offer.formats).includes(format) ? { format, pretty } : undefined
  const as = offer.transforms ? transformOf(parameters, offer.identity) : undefined
  if (as === undefined || (as.kind === 'Table' && (format === 'protobuf' || offer.tables === false))) return undefined
  return { format, as, pretty }
}

function transformOf(parameters: ReadonlyMap<string, string>, identity: Identity): Transform | undefined {
  const kind = parameters.get('as')
  const version = parameters.get('v')
  if (parameters.get('g') !== identity.group({ stem: 'meta' })) return undefined
  if (version !== 'v1' && version !== 'v1beta1') return undefined
  if (kind !== 'Table' && kind !== 'PartialObjectMetadata' && kind !== 'PartialObjectMetadataList') return undefined
  return { kind, version }
}

function checkRoute(accept: string, offer: Offer): void {
  checkProduced(accept, offer.streams ? [...mediaTypes(offer), ...streamMediaTypes(offer)] : mediaTypes(offer))
}

export function checkProduced(accept: string, produced: readonly string[]): void {
  const isProduced = (type: string): boolean => type === '*/*' || produced.includes(type)
  if (acceptParts(accept).some((part) => isProduced((part.split(';', 1)[0] ?? '').trim()))) return
  const message = `406: Not Acceptable\n\nAvailable representations: ${produced.join(', ')}`
  throw new ApiError({ code: 406, reason: 'NotAcceptable', message, details: {} })
}

/** `?pretty=` decides; without it, true for the User-Agents of curl, Wget and browsers. */
function isPretty(preferences: ResponsePreferences): boolean {
  const requested = preferences.query.isEmpty ? undefined : preferences.query.first('pretty')
  if (requested) return /^(?:1|t|T|true|TRUE|True)$/.test(requested)
  return preferences.userAgent !== undefined && /^(?:curl|Wget|Mozilla\/5\.0)/.test(preferences.userAgent)
}

/** Format of a body; without a Content-Type the first format of the offer. Throws a 415. */
export function negotiateBody(contentType: string | undefined, offer: Pick<Offer, 'identity' | 'formats' | 'plainFormats'>): Format {
  const readable = offer.plainFormats ?? offer.formats
  if (contentType === 'application/json' && readable.includes('json')) return 'json'
  const first = readable[0]
  if (!contentType && first !== undefined) return first
  const mediaType = parseMediaType(contentType ?? '')
  const format = readable.find((candidate) => mediaTypeOf(candidate, offer.identity) === mediaType)
  if (format === undefined) throw unsupportedMediaType(offer.formats.map((candidate) => mediaTypeOf(candidate, offer.identity)))
  return format
}

/** Patch type of a Content-Type: the text before a semicolon must equal it. Throws a 415 or 406. */
export function negotiatePatch<T extends string>(
  contentType: string | undefined,
  offer: { readonly types: readonly T[]; readonly routed: boolean; readonly length: string | undefined },
): T {
  const text = contentType ?? ''
  const semicolon = text.indexOf(';')
  const type = semicolon > 0 ? text.slice(0, semicolon) : text
  const found = offer.types.find((candidate) => candidate === type)
  if (found !== undefined) return found
  if (!offer.routed) throw unsupportedMediaType(offer.types)
  // kube-apiserver's router returns 415 for bodies of unknown length and 406 for empty ones.
  const emptyList = '\n\nAvailable representations: '
  if (offer.length === '0')
    throw new ApiError({ code: 406, reason: 'NotAcceptable', message: `406: Not Acceptable${emptyList}`, details: {} })
  const message = `415: Unsupported Media Type${offer.length === undefined ? emptyList : ''}`
  throw new ApiError({ code: 415, reason: 'UnsupportedMediaType', message, details: {} })
}

const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
const typePattern = new RegExp(`^${token}(?:/${token})?$`)
const parameterPattern = new RegExp(`\\s*;\\s*(${token})\\s*=\\s*(?:${token}|"(?:[^"\\\\]|\\\\[^\\n\\r])*")`, 'y')
const endPattern = /\s*(?:;\s*)?$/y

const maxHeaderLength = 4096
const maxParameters = 32

export function parseMediaType(header: string): string | undefined {
  if (header.length > maxHeaderLength) return undefined
  const semicolon = header.indexOf(';')
  const type = (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase()
  if (!typePattern.test(type)) return undefined
  return semicolon < 0 || hasValidParameters(header, semicolon) ? type : undefined
}

function hasValidParameters(header: string, from: number): boolean {
  const seen = new Set<string>()
  for (let at = from; !matchesAt(endPattern, header, at); at = parameterPattern.lastIndex) {
    parameterPattern.lastIndex = at
    const name = parameterPattern.exec(header)?.[1]?.toLowerCase()
    if (name === undefined || seen.has(name) || seen.size === maxParameters) return false
    seen.add(name)
  }
  return true
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}
