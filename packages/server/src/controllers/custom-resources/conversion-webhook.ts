// Conversion webhook of a CRD: sends a ConversionReview with all objects, and validates the returned objects.

import { randomUUID } from 'node:crypto'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import {
  type BatchConversion,
  type ConversionVersions,
  maxConvertedBytes,
} from '@cluster-apiserver/api/api/definition/conversion-webhook.js'
import type { ApiObject, ObjectMeta } from '@cluster-apiserver/api/api/object.js'
import { validateAnnotations, validateLabels } from '@cluster-apiserver/api/api/validation/metadata/labels.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { isLarge } from '@cluster-apiserver/api/base/large-input.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { isListText, isRecordText, sliceItems, sliceRecord } from '@cluster-apiserver/api/codec/json/json-slices.js'
import type { CustomResourceDefinition, WebhookClientConfig } from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import { serviceUrl } from '@cluster-apiserver/api/resources/core/service/service-endpoint-address.js'
import { JsonSyntaxError, parseJsonCarefully } from '@cluster-apiserver/api/schema/json/parse-json.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import { writeAny } from '@cluster-apiserver/api/schema/json/write.js'
import { ResponseTimeoutError } from '../../net/outbound/http-client.js'
import { type EndpointResponse, type EndpointSettings, JsonEndpoint } from '../../net/outbound/json-endpoint.js'
import { networkErrorMessage } from '../../net/outbound/network-error-message.js'
import { cleanPathOf } from '../../net/outbound/open-socket.js'
import { type WebhookDials, webhookDial } from '../../net/outbound/webhook-dial.js'

const timeoutMs = 30_000
/** A response may have 4 times the length of the request plus 1 MiB; a longer one is not parsed. */
const responseFactor = 4
const responseAllowanceBytes = 1 << 20
/** One converted object with many values may have 4 times its sent length plus 64 KiB, because it is parsed on the event loop. */
const objectAllowanceBytes = 64 << 10
const maxResponseBytes = responseFactor * maxConvertedBytes + responseAllowanceBytes
const knownReviewVersions = ['v1', 'v1beta1']

/** Resolves a Service to an address and the server name of its certificate. */
export type LocateService = (service: NonNullable<WebhookClientConfig['service']>) => ServiceAddress

type ServiceAddress = Pick<EndpointSettings, 'url' | 'serverName' | 'address'>

export interface ConversionWebhook {
  readonly convert: BatchConversion
  close(): void
}

export interface WebhookParts extends WebhookDials {
  readonly reviewGroup: string
  readonly locate: LocateService
}

/** Undefined if the strategy is not Webhook. */
export function conversionWebhook(crd: CustomResourceDefinition, parts: WebhookParts): ConversionWebhook | undefined {
  const { conversion, names } = crd.spec ?? {}
  const { clientConfig = {}, conversionReviewVersions = [] } = conversion?.webhook ?? {}
  if (conversion?.strategy !== 'Webhook') return undefined
  const kind = names?.kind ?? ''
  const review = conversionReviewVersions.find((version) => knownReviewVersions.includes(version)) ?? 'v1'
  const caller = new WebhookCaller(crd.metadata?.name ?? '', clientConfig, parts)
  const convert: BatchConversion = async (objects, versions) => {
    const fail = (reason: string): ApiError => failure(`conversion webhook for ${versions.from}, Kind=${kind} ${reason}`)
    const uid = randomUUID()
    const type = { kind: 'ConversionReview', apiVersion: `${parts.reviewGroup}/${review}` }
    const request = { uid, desiredAPIVersion: versions.to, objects: [] }
    const { text, lengths } = await writeReview({ ...type, request }, objects, { apiVersion: versions.from, kind })
    const body = await caller.post(text).catch((thrown: unknown) => {
      throw fail(`failed: ${errorMessage(thrown)}`)
    })
    return await readResponse(body, { uid, ...type }, { objects, lengths, kind, versions, fail })
  }
  return { convert, close: () => caller.close() }
}

/** Has no `reason`, as in kube-apiserver. */
const failure = (message: string): ApiError => new ApiError({ code: 500, message })

class WebhookCaller {
  /** Name of the CRD. */
  private readonly name: string
  private readonly config: WebhookClientConfig
  private readonly parts: WebhookParts
  private endpoint: JsonEndpoint | undefined
  private key = ''
  private inFlight = 0
  private isClosed = false

  constructor(name: string, config: WebhookClientConfig, parts: WebhookParts) {
    this.name = name
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
    const { status, body } = await this.connect(text)
    if (body.length > responseFactor * text.length + responseAllowanceBytes) throw new Error('the answer is too long')
    if (status >= 200 && status < 300) return body
    throw new Error(
      `an error on the server (${JSON.stringify(body.toString('utf8', 0, 1024).slice(0, 256))}) has prevented the request from succeeding`,
    )
  }

  private async connect(text: string): Promise<EndpointResponse> {
    const { url, service } = this.config
    const target = new URL(service === undefined ? (url ?? '') : serviceUrl(service))
    target.pathname = cleanPathOf(target)
    target.searchParams.set('timeout', `${timeoutMs / 1000}s`)
    try {
      this.parts.refuse?.(this.name, target.href)
      return await this.endpointFor(target.href).post(text)
    } catch (thrown) {
      const reason = thrown instanceof ResponseTimeoutError ? 'context deadline exceeded' : networkErrorMessage(thrown)
      throw new Error(`Post ${JSON.stringify(target.href)}: ${reason}`, { cause: thrown })
    }
  }

  private endpointFor(target: string): JsonEndpoint {
    const { url, service, caBundle } = this.config
    const address: ServiceAddress = service === undefined ? { url: url ?? '' } : this.parts.locate(service)
    const key = `${address.url} ${address.address?.host} ${address.address?.port}`
    if (this.endpoint !== undefined && this.key === key) return this.endpoint
    // Requests in flight finish on the previous endpoint.
    if (this.inFlight <= 1) this.endpoint?.close()
    this.key = key
    const ca = caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString()
    this.endpoint = new JsonEndpoint(
      { ...address, url: target, ...webhookDial(this.parts, service !== undefined), ...(ca === undefined ? {} : { ca }) },
      { timeoutMs, maxBytes: maxResponseBytes },
    )
    return this.endpoint
  }

  close(): void {
    this.isClosed = true
    if (this.inFlight > 0) return
    this.endpoint?.close()
    this.endpoint = undefined
  }
}

interface ExpectedReview {
  readonly uid: string
  readonly kind: string
  readonly apiVersion: string
}

interface SentReview {
  readonly objects: readonly ApiObject[]
  readonly lengths: readonly number[]
  readonly kind: string
  readonly versions: ConversionVersions
  readonly fail: (reason: string) => ApiError
}

async function writeReview(
  review: object,
  objects: readonly ApiObject[],
  type: { readonly apiVersion: string; readonly kind: string },
): Promise<{ readonly text: string; readonly lengths: readonly number[] }> {
  const texts: string[] = []
  for (const object of objects) {
    texts.push(writeAny({ ...object, ...type }))
    await turnBudget.yieldIfSpent()
  }
  const text = writeAny(review).replace('"objects":[]', () => `"objects":[${texts.join(',')}]`)
  return { text, lengths: texts.map(({ length }) => length) }
}

async function readResponse(body: Buffer, expected: ExpectedReview, sent: SentReview): Promise<readonly ApiObject[]> {
  const { objects, lengths, fail } = sent
  const slices = sliceResponse(body, fail)
  readReview(parse(slices.rest, fail), expected, fail)
  if (slices.objects.length !== objects.length) throw fail(`returned ${slices.objects.length} objects, expected ${objects.length}`)
  const accepted: ApiObject[] = []
  for (const [index, bytes] of slices.objects.entries()) {
    if (bytes.length > responseFactor * (lengths[index] ?? 0) + objectAllowanceBytes && isLarge(bytes))
      throw fail(`returned invalid object at index ${index}: it has far more parts than the object that was sent`)
    accepted.push(checkConverted(parse(bytes, fail), objects[index] as ApiObject, { ...sent, index }))
    await turnBudget.yieldIfSpent()
  }
  return accepted
}

function parse(bytes: Buffer, fail: SentReview['fail']): unknown {
  try {
    return parseJsonCarefully(bytes.toString()).value
  } catch (thrown) {
    throw fail(notJson(thrown))
  }
}

const notJson = (thrown: unknown): string =>
  `failed: couldn't get version/kind; json parse error: ${thrown instanceof JsonSyntaxError ? thrown.message : 'invalid JSON'}`

/** Limit of the response without `convertedObjects` and `request`; many webhooks return the `request` too. */
const maxRestBytes = 64 << 10
const maxDepth = 10_000
const tooLongError = new Error('the answer is too long')

function sliceResponse(body: Buffer, fail: SentReview['fail']): { readonly objects: readonly Buffer[]; readonly rest: Buffer } {
  try {
    const members = sliceRecord(body, { depth: maxDepth })
    const response = members.get('response')
    const list = response && isRecordText(response) ? sliceRecord(response).get('convertedObjects') : undefined
    const rest = withoutSlices(body, [members.get('request'), list])
    const objects = list && isListText(list) ? sliceItems(list) : []
    if (rest.length <= maxRestBytes) return { objects, rest }
    throw tooLongError
  } catch (thrown) {
    if (thrown === tooLongError) throw fail('failed: the answer is too long')
    parse(body.subarray(0, maxRestBytes), fail)
    throw fail(notJson(undefined))
  }
}

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

function readReview(review: unknown, expected: ExpectedReview, fail: (reason: string) => ApiError): void {
  const { kind, apiVersion, response } = isRecord(review) ? review : ({} as Record<string, unknown>)
  if (kind !== expected.kind || apiVersion !== expected.apiVersion) {
    throw fail(`failed: expected webhook response of ${typeText(expected.apiVersion, expected.kind)}, got ${typeText(apiVersion, kind)}`)
  }
  if (!isRecord(response)) throw fail('failed: no response provided')
  const { uid, result } = response
  if (uid !== expected.uid)
    throw fail(`failed: expected response.uid=${JSON.stringify(expected.uid)}, got ${JSON.stringify(describeValue(uid ?? ''))}`)
  const { status, message } = isRecord(result) ? result : {}
  if (status === 'Success') return
  const reason =
    typeof message === 'string' && message !== ''
      ? shorten(message, maxMessageChars)
      : `response.result.status was '${describeValue(status ?? '')}', not 'Success'`
  throw fail(`failed: ${reason}`)
}

const maxMessageChars = 4096

const describeValue = (value: unknown): string =>
  typeof value === 'string' ? shorten(value) : typeof value === 'object' ? '{…}' : String(value)

const typeText = (apiVersion: unknown, kind: unknown): string =>
  `${typeof apiVersion === 'string' && apiVersion !== '' ? shorten(apiVersion) : '/'}, Kind=${typeof kind === 'string' ? shorten(kind) : ''}`

interface SentObject extends SentReview {
  readonly index: number
}

/** Of the metadata, only labels and annotations are taken over; a changed name, namespace or uid is an error. */
function checkConverted(converted: unknown, sent: ApiObject, { index, kind, versions, fail }: SentObject): ApiObject {
  const refuse = (reason: string): ApiError => fail(`returned invalid object: ${reason}`)
  if (!isRecord(converted)) throw refuse('an object is expected')
  const { apiVersion, kind: convertedKind, metadata, ...rest } = converted
  if (apiVersion !== versions.to) {
    throw fail(
      `returned invalid object at index ${index}: invalid groupVersion (expected ${versions.to}, received ${describeValue(apiVersion)})`,
    )
  }
  if (convertedKind !== kind)
    throw fail(`returned invalid object at index ${index}: invalid kind (expected ${kind}, received ${describeValue(convertedKind)})`)
  const refuseMetadata = (reason: string): ApiError => fail(`returned invalid metadata: ${reason}`)
  if (!isRecord(metadata)) throw refuseMetadata('missing metadata in converted object')
  const mustKeep = (name: 'name' | 'namespace' | 'uid', label: string): void => {
    const before = sent.metadata?.[name] ?? ''
    const after = metadata[name] ?? ''
    if (before !== after) throw refuse(`must have the same ${label}: ${before} != ${describeValue(after)}`)
  }
  mustKeep('name', 'name')
  mustKeep('namespace', 'namespace')
  mustKeep('uid', 'UID')
  const { labels: _labels, annotations: _annotations, ...unchanged } = sent.metadata ?? {}
  return {
    ...rest,
    metadata: { ...unchanged, ...checkedMap(metadata, 'labels', refuseMetadata), ...checkedMap(metadata, 'annotations', refuseMetadata) },
  } as ApiObject
}

function checkedMap(
  metadata: Record<string, unknown>,
  name: 'labels' | 'annotations',
  refuse: (reason: string) => ApiError,
): Partial<ObjectMeta> {
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
