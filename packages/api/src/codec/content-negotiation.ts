// In which form a client wants its answer, and in which one it sent its body: media types against what a resource offers.

import { ApiError, notAcceptable, unsupportedMediaType } from '../api/api-error.js'
import type { Identity } from '../api/identity.js'
import type { Query } from '../api/options/query.js'
import { type AcceptClause, acceptParts, parseAccept } from './accept.js'
import { parseMediaType } from './media-type.js'

export type Format = 'json' | 'yaml' | 'protobuf'

/** Another kind that the answer is turned into. */
export interface Transform {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

export interface Representation {
  readonly format: Format
  readonly as?: Transform
  readonly pretty: boolean
}

/** What a request says about the form of its answer. */
export interface Wish {
  readonly accept: string | undefined
  readonly userAgent: string | undefined
  readonly query: Query
}

export interface Offer {
  readonly identity: Identity
  /** In the order of preference. */
  readonly formats: readonly Format[]
  /** The formats in which an object goes as it is, where not all of them do: custom resources have no Protobuf of their own. */
  readonly plainFormats?: readonly Format[]
  /** Whether Table and metadata alone are to be had. */
  readonly transforms: boolean
  /** False where no table is to be had, though metadata alone are. */
  readonly tables?: boolean
  /** Whether the collection can be watched; only the words of a refusal depend on it. */
  readonly streams?: boolean
  /** Built-in resources are refused by the router, in its words and before anything is looked at; custom ones by the resource. */
  readonly routed: boolean
}

export const allFormats: readonly Format[] = ['json', 'yaml', 'protobuf']
const streamFormats: ReadonlySet<Format> = new Set(['json', 'protobuf'])

export function mediaTypeOf(format: Format, identity: Identity): string {
  return format === 'protobuf' ? identity.protobufMediaType : `application/${format}`
}

/** A watch in JSON keeps the plain media type. */
export const streamMediaTypeOf = (format: Format, identity: Identity): string =>
  format === 'json' ? 'application/json' : `${mediaTypeOf(format, identity)};stream=watch`

/** Throws a 406 that lists what there is. */
export function negotiate(wish: Wish, offer: Offer): Representation {
  const { accept } = wish
  const first = offer.formats[0]
  if (first !== undefined && isIndifferent(accept, first)) return { format: first, pretty: first === 'json' && isPretty(wish) }
  if (offer.routed) checkRoute(accept ?? '', offer)
  const found = choose(accept ?? '', offer)
  if (found === undefined) throw notAcceptable(mediaTypes(offer))
  const pretty = found.format === 'json' && (found.pretty || isPretty(wish))
  return found.as === undefined ? { format: found.format, pretty } : { format: found.format, as: found.as, pretty }
}

/** The same for a stream of events, after {@link negotiate} has chosen: not every format can be cut into events. */
export function checkStream(representation: Representation, offer: Offer): void {
  if (!streamFormats.has(representation.format)) throw notAcceptable(streamMediaTypes(offer))
}

/** The form of an error: never transformed, and indented JSON for a client that would take nothing of what there is. */
export function negotiateError(wish: Wish, identity: Identity): Representation {
  if (isIndifferent(wish.accept, 'json')) return { format: 'json', pretty: isPretty(wish) }
  const found = choose(wish.accept ?? '', { identity, formats: allFormats, transforms: false, routed: false })
  if (found === undefined) return { format: 'json', pretty: true }
  return { format: found.format, pretty: found.format === 'json' && (found.pretty || isPretty(wish)) }
}

/** Nothing was asked for, or the very thing that comes first anyway. */
const isIndifferent = (accept: string | undefined, first: Format): boolean =>
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
      if (!names(clause, mediaTypeOf(format, offer.identity))) continue
      const choice = choiceOf(clause, format, offer)
      if (choice !== undefined) return choice
    }
  }
  return undefined
}

function names(clause: AcceptClause, mediaType: string): boolean {
  if (clause.type === '*') return clause.subtype === '*'
  return clause.subtype === '*' ? mediaType.startsWith(`${clause.type}/`) : mediaType === `${clause.type}/${clause.subtype}`
}

/** What the parameters of a clause ask for, if this format can do it. Parameters that nobody knows are passed over. */
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

/** The router knows no wildcards but the whole one, and no parameters. */
function checkRoute(accept: string, offer: Offer): void {
  checkProduced(accept, offer.streams ? [...mediaTypes(offer), ...streamMediaTypes(offer)] : mediaTypes(offer))
}

/** Whether a client takes one of these media types, word by word as the router compares them. */
export function checkProduced(accept: string, produced: readonly string[]): void {
  const isProduced = (type: string): boolean => type === '*/*' || produced.includes(type)
  if (acceptParts(accept).some((part) => isProduced((part.split(';', 1)[0] ?? '').trim()))) return
  const message = `406: Not Acceptable\n\nAvailable representations: ${produced.join(', ')}`
  throw new ApiError({ code: 406, reason: 'NotAcceptable', message, details: {} })
}

/** `?pretty=` decides; without it, whether the client looks like one behind which a person sits. */
function isPretty(wish: Wish): boolean {
  const asked = wish.query.isEmpty ? undefined : wish.query.first('pretty')
  if (asked) return /^(?:1|t|T|true|TRUE|True)$/.test(asked)
  return wish.userAgent !== undefined && /^(?:curl|Wget|Mozilla\/5\.0)/.test(wish.userAgent)
}

/** The format of a body; JSON if the client does not say. Throws a 415 that lists what is read. */
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

/** Which of the ways to patch a body is; the whole header up to a semicolon must be one of them. */
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
  // The router takes a body that has no length for one that it cannot read, and no body at all for one that nobody can answer.
  const nothing = '\n\nAvailable representations: '
  if (offer.length === '0')
    throw new ApiError({ code: 406, reason: 'NotAcceptable', message: `406: Not Acceptable${nothing}`, details: {} })
  const message = `415: Unsupported Media Type${offer.length === undefined ? nothing : ''}`
  throw new ApiError({ code: 415, reason: 'UnsupportedMediaType', message, details: {} })
}
