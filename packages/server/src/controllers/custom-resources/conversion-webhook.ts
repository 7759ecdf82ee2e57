// Conversion of custom objects by a webhook of their author: a review with all objects there, and the converted ones back.

import { randomUUID } from 'node:crypto'
import { ApiError } from '../../api/api-error.js'
import { type BatchConversion, type ConversionVersions, mostConvertedBytes } from '../../api/conversion.js'
import type { ApiObject, ObjectMeta } from '../../api/object.js'
import { validateAnnotations, validateLabels } from '../../api/validation/labels.js'
import { isLarge } from '../../base/large.js'
import { inPieces } from '../../base/pieces.js'
import { shorten } from '../../base/shorten.js'
import { isListText, isRecordText, sliceItems, sliceRecord } from '../../codec/json-slices.js'
import { AnswerTimeoutError } from '../../net/ask.js'
import { type HookWays, wayToHook } from '../../net/hook-ways.js'
import { type EndpointAnswer, type EndpointSettings, JsonEndpoint } from '../../net/json-endpoint.js'
import { describeNetworkFailure } from '../../net/network-failure.js'
import type { CustomResourceDefinition, WebhookClientConfig } from '../../resources/apiextensions/v1.schema.js'
import { serviceUrl } from '../../resources/core/locate-service.js'
import { JsonSyntaxError, parseJsonCarefully } from '../../schema/json-parse.js'
import { isRecord } from '../../schema/read.js'
import { writeAny } from '../../schema/write.js'

const timeoutMs = 30_000
/** Versions of an object differ in a few fields: an answer that is many times as long as the question is none, and is not even read. */
const answerFactor = 4
const answerAllowance = 1 << 20
/** What one object may grow by if many parts come of it: it is read where it is asked for, and may have been light when that was decided. */
const partsAllowance = 64 << 10
const mostAnswerBytes = answerFactor * mostConvertedBytes + answerAllowance
const knownReviews = ['v1', 'v1beta1']

/** Where a service of the cluster answers: an address, and the name that its certificate must have. */
export type LocateService = (service: NonNullable<WebhookClientConfig['service']>) => ServicePlace

export type ServicePlace = Pick<EndpointSettings, 'url' | 'serverName' | 'address'>

export interface ConversionWebhook {
  readonly convert: BatchConversion
  close(): void
}

export interface WebhookParts extends HookWays {
  /** The group of reviews, in the vocabulary of the server. */
  readonly reviewGroup: string
  readonly locate: LocateService
}

/** Undefined where objects are the same in all versions. */
export function conversionWebhook(definition: CustomResourceDefinition, parts: WebhookParts): ConversionWebhook | undefined {
  const { conversion, names } = definition.spec ?? {}
  const { clientConfig = {}, conversionReviewVersions = [] } = conversion?.webhook ?? {}
  if (conversion?.strategy !== 'Webhook') return undefined
  const kind = names?.kind ?? ''
  const review = conversionReviewVersions.find((version) => knownReviews.includes(version)) ?? 'v1'
  const caller = new WebhookCaller(clientConfig, parts)
  const convert: BatchConversion = async (objects, versions) => {
    const fail = (why: string): ApiError => failure(`conversion webhook for ${versions.from}, Kind=${kind} ${why}`)
    const uid = randomUUID()
    const type = { kind: 'ConversionReview', apiVersion: `${parts.reviewGroup}/${review}` }
    const request = { uid, desiredAPIVersion: versions.to, objects: [] }
    const { text, lengths } = await inPieces(writeReview({ ...type, request }, objects, { apiVersion: versions.from, kind }))
    const answer = await caller.post(text).catch((thrown: unknown) => {
      throw fail(`failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    })
    return inPieces(readAnswer(answer, { uid, ...type }, { objects, lengths, kind, versions, fail }))
  }
  return { convert, close: () => caller.close() }
}

/** In the words of the reference; it has no reason. */
const failure = (message: string): ApiError => new ApiError({ code: 500, message })

/** The connection is made when it is first needed; a service may move meanwhile. */
class WebhookCaller {
  private readonly config: WebhookClientConfig
  private readonly parts: WebhookParts
  private endpoint: JsonEndpoint | undefined
  private key = ''
  private inFlight = 0
  private isClosed = false

  constructor(config: WebhookClientConfig, parts: WebhookParts) {
    this.config = config
    this.parts = parts
  }

  async post(text: string): Promise<Buffer> {
    this.inFlight++
    try {
      return await this.send(text)
    } finally {
      this.inFlight--
      if (this.isClosed) this.close()
    }
  }

  private async send(text: string): Promise<Buffer> {
    const { status, body } = await this.reach(text)
    if (body.length > answerFactor * text.length + answerAllowance) throw new Error('the answer is too long')
    if (status >= 200 && status < 300) return body
    throw new Error(
      `an error on the server (${JSON.stringify(body.toString('utf8', 0, 1024).slice(0, 256))}) has prevented the request from succeeding`,
    )
  }

  private async reach(text: string): Promise<EndpointAnswer> {
    const { url, service } = this.config
    const target = new URL(service === undefined ? (url ?? '') : serviceUrl(service))
    target.searchParams.set('timeout', `${timeoutMs / 1000}s`)
    try {
      return await this.open(target.href).post(text)
    } catch (thrown) {
      const why = thrown instanceof AnswerTimeoutError ? 'context deadline exceeded' : describeNetworkFailure(thrown)
      throw new Error(`Post ${JSON.stringify(target.href)}: ${why}`, { cause: thrown })
    }
  }

  private open(target: string): JsonEndpoint {
    const { url, service, caBundle } = this.config
    const place: ServicePlace = service === undefined ? { url: url ?? '' } : this.parts.locate(service)
    const key = `${place.url} ${place.address?.host} ${place.address?.port}`
    if (this.endpoint !== undefined && this.key === key) return this.endpoint
    // Whoever is on the way to where it was before comes to an end there.
    if (this.inFlight <= 1) this.endpoint?.close()
    this.key = key
    const ca = caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString()
    this.endpoint = new JsonEndpoint(
      { ...place, url: target, ...wayToHook(this.parts, service !== undefined), ...(ca === undefined ? {} : { ca }) },
      { timeoutMs, maxBytes: mostAnswerBytes },
    )
    return this.endpoint
  }

  /** Requests that are on their way are let through first: a definition may change while its objects are read. */
  close(): void {
    this.isClosed = true
    if (this.inFlight > 0) return
    this.endpoint?.close()
    this.endpoint = undefined
  }
}

interface Expected {
  readonly uid: string
  readonly kind: string
  readonly apiVersion: string
}

interface Asked {
  readonly objects: readonly ApiObject[]
  /** Of each as it was sent. */
  readonly lengths: readonly number[]
  readonly kind: string
  readonly versions: ConversionVersions
  readonly fail: (why: string) => ApiError
}

/** The review, with its objects one after the other: each is short, all of them may be not. */
function* writeReview(
  review: object,
  objects: readonly ApiObject[],
  type: { readonly apiVersion: string; readonly kind: string },
): Generator<undefined, { readonly text: string; readonly lengths: readonly number[] }, void> {
  const texts: string[] = []
  for (const object of objects) {
    texts.push(writeAny({ ...object, ...type }))
    yield
  }
  const text = writeAny(review).replace('"objects":[]', () => `"objects":[${texts.join(',')}]`)
  return { text, lengths: texts.map(({ length }) => length) }
}

/** The converted objects out of an answer that may be long: each is parsed by itself. */
function* readAnswer(answer: Buffer, expected: Expected, asked: Asked): Generator<undefined, readonly ApiObject[], void> {
  const { objects, lengths, fail } = asked
  const slices = yield* sliceAnswer(answer, fail)
  readReview(parse(slices.rest, fail), expected, fail)
  if (slices.objects.length !== objects.length) throw fail(`returned ${slices.objects.length} objects, expected ${objects.length}`)
  const accepted: ApiObject[] = []
  for (const [index, bytes] of slices.objects.entries()) {
    if (bytes.length > answerFactor * (lengths[index] ?? 0) + partsAllowance && isLarge(bytes))
      throw fail(`returned invalid object at index ${index}: it has far more parts than the object that was sent`)
    accepted.push(accept(parse(bytes, fail), objects[index] as ApiObject, { ...asked, index }))
    yield
  }
  return accepted
}

function parse(bytes: Buffer, fail: Asked['fail']): unknown {
  try {
    return parseJsonCarefully(bytes.toString()).value
  } catch (thrown) {
    throw fail(notJson(thrown))
  }
}

const notJson = (thrown: unknown): string =>
  `failed: couldn't get version/kind; json parse error: ${thrown instanceof JsonSyntaxError ? thrown.message : 'invalid JSON'}`

/** Of all but the objects, and but the request, which many send back. */
const mostRestBytes = 64 << 10
const mostDepth = 10_000
const tooLong = new Error('the answer is too long')

/** The bytes of each converted object, and the answer without them. */
function* sliceAnswer(
  answer: Buffer,
  fail: Asked['fail'],
): Generator<undefined, { readonly objects: readonly Buffer[]; readonly rest: Buffer }, void> {
  try {
    const members = yield* sliceRecord(answer, { depth: mostDepth })
    const response = members.get('response')
    const list = response && isRecordText(response) ? (yield* sliceRecord(response)).get('convertedObjects') : undefined
    const rest = withoutSlices(answer, [members.get('request'), list])
    // What is there and is no list holds no objects.
    const objects = list && isListText(list) ? yield* sliceItems(list) : []
    if (rest.length <= mostRestBytes) return { objects, rest }
    throw tooLong
  } catch (thrown) {
    if (thrown === tooLong) throw fail('failed: the answer is too long')
    // Where it is wrong the careful parser tells; what it takes is too deep.
    parse(answer.subarray(0, mostRestBytes), fail)
    throw fail(notJson(undefined))
  }
}

/** An empty list stands where they were. */
function withoutSlices(bytes: Buffer, slices: readonly (Buffer | undefined)[]): Buffer {
  const kept: Buffer[] = []
  let at = 0
  for (const slice of slices.filter((each) => each !== undefined).sort((a, b) => a.byteOffset - b.byteOffset)) {
    const from = slice.byteOffset - bytes.byteOffset
    kept.push(bytes.subarray(at, from), Buffer.from('[]'))
    at = from + slice.length
  }
  return Buffer.concat([...kept, bytes.subarray(at)])
}

function readReview(review: unknown, expected: Expected, fail: (why: string) => ApiError): void {
  const { kind, apiVersion, response } = isRecord(review) ? review : ({} as Record<string, unknown>)
  if (kind !== expected.kind || apiVersion !== expected.apiVersion) {
    throw fail(`failed: expected webhook response of ${typeText(expected.apiVersion, expected.kind)}, got ${typeText(apiVersion, kind)}`)
  }
  if (!isRecord(response)) throw fail('failed: no response provided')
  const { uid, result } = response
  if (uid !== expected.uid)
    throw fail(`failed: expected response.uid=${JSON.stringify(expected.uid)}, got ${JSON.stringify(shown(uid ?? ''))}`)
  const { status, message } = isRecord(result) ? result : {}
  if (status === 'Success') return
  const why =
    typeof message === 'string' && message !== ''
      ? shorten(message, mostMessage)
      : `response.result.status was '${shown(status ?? '')}', not 'Success'`
  throw fail(`failed: ${why}`)
}

/** Of what it says to people. */
const mostMessage = 4096

/** What somebody else wrote, as a message repeats it. */
const shown = (value: unknown): string => (typeof value === 'string' ? shorten(value) : typeof value === 'object' ? '{…}' : String(value))

/** As messages show a version and a kind; nothing is shown as such. */
const typeText = (apiVersion: unknown, kind: unknown): string =>
  `${typeof apiVersion === 'string' && apiVersion !== '' ? shorten(apiVersion) : '/'}, Kind=${typeof kind === 'string' ? shorten(kind) : ''}`

interface Accepting extends Asked {
  readonly index: number
}

/** What a webhook may change: everything but metadata, and of those labels and annotations. */
function accept(converted: unknown, sent: ApiObject, { index, kind, versions, fail }: Accepting): ApiObject {
  const refuse = (why: string): ApiError => fail(`returned invalid object: ${why}`)
  if (!isRecord(converted)) throw refuse('an object is expected')
  const { apiVersion, kind: itsKind, metadata, ...rest } = converted
  if (apiVersion !== versions.to) {
    throw fail(`returned invalid object at index ${index}: invalid groupVersion (expected ${versions.to}, received ${shown(apiVersion)})`)
  }
  if (itsKind !== kind) throw fail(`returned invalid object at index ${index}: invalid kind (expected ${kind}, received ${shown(itsKind)})`)
  const refuseMetadata = (why: string): ApiError => fail(`returned invalid metadata: ${why}`)
  if (!isRecord(metadata)) throw refuseMetadata('missing metadata in converted object')
  const mustKeep = (name: 'name' | 'namespace' | 'uid', label: string): void => {
    const before = sent.metadata?.[name] ?? ''
    const after = metadata[name] ?? ''
    if (before !== after) throw refuse(`must have the same ${label}: ${before} != ${shown(after)}`)
  }
  mustKeep('name', 'name')
  mustKeep('namespace', 'namespace')
  mustKeep('uid', 'UID')
  const { labels: _labels, annotations: _annotations, ...same } = sent.metadata ?? {}
  return {
    ...rest,
    metadata: { ...same, ...kept(metadata, 'labels', refuseMetadata), ...kept(metadata, 'annotations', refuseMetadata) },
  } as ApiObject
}

function kept(metadata: Record<string, unknown>, name: 'labels' | 'annotations', refuse: (why: string) => ApiError): Partial<ObjectMeta> {
  const value = metadata[name]
  if (value === undefined || value === null) return {}
  if (!isRecord(value)) throw refuse(`invalid metadata.${name} in converted object: a map is expected`)
  const other = Object.keys(value).find((key) => typeof value[key] !== 'string')
  if (other !== undefined) throw refuse(`metadata.${name}[${shorten(other)}] must be a string in converted object`)
  const texts = value as { readonly [key: string]: string }
  const [problem] = (name === 'labels' ? validateLabels : validateAnnotations)(texts, `metadata.${name}`)
  if (problem !== undefined) throw refuse(`${problem.field}: ${problem.message}`)
  return { [name]: texts }
}
