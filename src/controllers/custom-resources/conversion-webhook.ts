// Conversion of custom objects by a webhook of their author: a review with all objects there, and the converted ones back.

import { randomUUID } from 'node:crypto'
import { ApiError } from '../../api/api-error.js'
import { type BatchConversion, type ConversionVersions, mostConvertedBytes } from '../../api/conversion.js'
import type { ApiObject, ObjectMeta } from '../../api/object.js'
import { validateAnnotations, validateLabels } from '../../api/validation/labels.js'
import { type EndpointSettings, JsonEndpoint } from '../../net/json-endpoint.js'
import type { CustomResourceDefinition, WebhookClientConfig } from '../../resources/apiextensions/v1.schema.js'
import { isRecord } from '../../schema/read.js'
import { writeAny } from '../../schema/write.js'

const timeoutMs = 30_000
/** Versions of an object differ in a few fields: an answer that is many times as long as the question is none, and is not even read. */
const answerFactor = 4
const answerAllowance = 1 << 20
const mostAnswerBytes = answerFactor * mostConvertedBytes + answerAllowance
const knownReviews = ['v1', 'v1beta1']

/** Where a service of the cluster answers: an address, and the name that its certificate must have. */
export type LocateService = (service: NonNullable<WebhookClientConfig['service']>) => ServicePlace

export type ServicePlace = Pick<EndpointSettings, 'url' | 'serverName' | 'address'>

export interface ConversionWebhook {
  readonly convert: BatchConversion
  close(): void
}

export interface WebhookParts {
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
  const caller = new WebhookCaller(clientConfig, parts.locate)
  const convert: BatchConversion = async (objects, versions) => {
    const fail = (why: string): ApiError => failure(`conversion webhook for ${versions.from}, Kind=${kind} ${why}`)
    const uid = randomUUID()
    const typed = objects.map((object) => ({ ...object, apiVersion: versions.from, kind }))
    const type = { kind: 'ConversionReview', apiVersion: `${parts.reviewGroup}/${review}` }
    const request = { uid, desiredAPIVersion: versions.to, objects: typed }
    const answer = await caller.post(writeAny({ ...type, request })).catch((thrown: unknown) => {
      throw fail(`failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    })
    const converted = readReview(answer, { uid, ...type }, fail)
    if (converted.length !== objects.length) throw fail(`returned ${converted.length} objects, expected ${objects.length}`)
    return converted.map((object, i) => accept(object, objects[i] as ApiObject, { index: i, kind, versions, fail }))
  }
  return { convert, close: () => caller.close() }
}

/** In the words of the reference; it has no reason. */
const failure = (message: string): ApiError => new ApiError({ code: 500, message })

/** The connection is made when it is first needed; a service may move meanwhile. */
class WebhookCaller {
  private readonly config: WebhookClientConfig
  private readonly locate: LocateService
  private endpoint: JsonEndpoint | undefined
  private key = ''
  private inFlight = 0
  private isClosed = false

  constructor(config: WebhookClientConfig, locate: LocateService) {
    this.config = config
    this.locate = locate
  }

  async post(text: string): Promise<string> {
    this.inFlight++
    try {
      return await this.send(text)
    } finally {
      this.inFlight--
      if (this.isClosed) this.close()
    }
  }

  private async send(text: string): Promise<string> {
    const { status, body } = await this.open().post(text)
    if (body.length > answerFactor * text.length + answerAllowance) throw new Error('the answer is too long')
    if (status >= 200 && status < 300) return body.toString()
    throw new Error(`an error on the server (${JSON.stringify(body.toString().slice(0, 256))}) has prevented the request from succeeding`)
  }

  private open(): JsonEndpoint {
    const { url, service, caBundle } = this.config
    const place: ServicePlace = service === undefined ? { url: url ?? '' } : this.locate(service)
    const key = `${place.url} ${place.address?.host} ${place.address?.port}`
    if (this.endpoint !== undefined && this.key === key) return this.endpoint
    // Whoever is on the way to where it was before comes to an end there.
    if (this.inFlight <= 1) this.endpoint?.close()
    this.key = key
    const ca = caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString()
    const target = new URL(place.url)
    target.searchParams.set('timeout', `${timeoutMs / 1000}s`)
    this.endpoint = new JsonEndpoint(
      { ...place, url: target.href, ...(ca === undefined ? {} : { ca }) },
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

function readReview(text: string, expected: Expected, fail: (why: string) => ApiError): readonly unknown[] {
  let review: unknown
  try {
    review = JSON.parse(text)
  } catch {
    throw fail('failed: the answer is not JSON')
  }
  const response = isRecord(review) ? review['response'] : undefined
  if (!isRecord(review) || review['kind'] !== expected.kind || review['apiVersion'] !== expected.apiVersion || !isRecord(response)) {
    throw fail(`failed: expected a ${expected.kind} of ${expected.apiVersion} with a response`)
  }
  const { uid, result, convertedObjects } = response
  if (uid !== expected.uid) throw fail(`failed: expected response.uid=${JSON.stringify(expected.uid)}, got ${JSON.stringify(uid)}`)
  const { status, message } = isRecord(result) ? result : {}
  if (status !== 'Success') throw fail(`failed: ${typeof message === 'string' && message !== '' ? message : 'unknown reason'}`)
  return Array.isArray(convertedObjects) ? convertedObjects : []
}

interface Accepting {
  readonly index: number
  readonly kind: string
  readonly versions: ConversionVersions
  readonly fail: (why: string) => ApiError
}

/** What a webhook may change: everything but metadata, and of those labels and annotations. */
function accept(converted: unknown, sent: ApiObject, { index, kind, versions, fail }: Accepting): ApiObject {
  const refuse = (why: string): ApiError => fail(`returned invalid object: ${why}`)
  if (!isRecord(converted)) throw refuse('an object is expected')
  const { apiVersion, kind: itsKind, metadata, ...rest } = converted
  if (apiVersion !== versions.to) {
    throw fail(`returned invalid object at index ${index}: invalid groupVersion (expected ${versions.to}, received ${String(apiVersion)})`)
  }
  if (itsKind !== kind)
    throw fail(`returned invalid object at index ${index}: invalid kind (expected ${kind}, received ${String(itsKind)})`)
  if (!isRecord(metadata)) throw refuse('missing metadata')
  const mustKeep = (name: 'name' | 'namespace' | 'uid', label: string): void => {
    const before = sent.metadata?.[name] ?? ''
    const after = metadata[name] ?? ''
    if (before !== after) throw refuse(`must have the same ${label}: ${before} != ${String(after)}`)
  }
  mustKeep('name', 'name')
  mustKeep('namespace', 'namespace')
  mustKeep('uid', 'UID')
  const { labels: _labels, annotations: _annotations, ...same } = sent.metadata ?? {}
  return { ...rest, metadata: { ...same, ...kept(metadata, 'labels', refuse), ...kept(metadata, 'annotations', refuse) } } as ApiObject
}

function kept(metadata: Record<string, unknown>, name: 'labels' | 'annotations', refuse: (why: string) => ApiError): Partial<ObjectMeta> {
  const value = metadata[name]
  if (value === undefined || value === null) return {}
  if (!isRecord(value) || Object.values(value).some((text) => typeof text !== 'string'))
    throw refuse(`metadata.${name} must be a map of texts`)
  const texts = value as { readonly [key: string]: string }
  const [problem] = (name === 'labels' ? validateLabels : validateAnnotations)(texts, `metadata.${name}`)
  if (problem !== undefined) throw refuse(`${problem.field}: ${problem.message}`)
  return { [name]: texts }
}
