// Recorder of AdmissionReviews for webhook authors (`--recorded-admission-reviews`): bounded in number and bytes, without secrets.

import { parseJson } from '@cluster-apiserver/api/codec/json/json.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import type { EndpointResponse } from '../../net/outbound/json-endpoint.js'
import type { Webhook } from './webhook.js'
import type { WebhookStep } from './webhook-counters.js'

export interface RecordedReview {
  readonly time: string
  readonly configuration: string
  readonly webhook: string
  readonly type: WebhookStep
  readonly review: unknown
  readonly answer?: unknown
  readonly error?: string
}

interface Outcome {
  readonly response?: EndpointResponse
  readonly error?: string
}

const maxBytes = 16 << 20
const maxReviewChars = 1 << 20
/** Kinds whose reviews contain usable tokens. */
const neverRecorded = new Set(['TokenRequest', 'TokenReview'])
const redacted = Buffer.from('redacted').toString('base64')

/** Recording without secrets; can be sent to another thread. */
interface Recording {
  readonly text: string
  readonly time: string
  readonly about: Omit<RecordedReview, 'review' | 'time'>
}

export type RecordReview = (webhook: Webhook, type: WebhookStep, text: string, outcome: Outcome) => void

/** Returns undefined if the review is too long or must not be recorded. */
function recordingOf(webhook: Webhook, type: WebhookStep, text: string, { response, error }: Outcome): Recording | undefined {
  if (text.length > maxReviewChars) return undefined
  const review = withoutSecrets(JSON.parse(text))
  if (review === undefined) return undefined
  const recordedResponse =
    response === undefined ? undefined : isSecretReview(review) ? withoutPatch(responseContent(response)) : responseContent(response)
  const about = {
    configuration: webhook.configuration,
    webhook: webhook.name,
    type,
    ...(recordedResponse === undefined ? {} : { answer: recordedResponse }),
    ...(error === undefined ? {} : { error }),
  }
  return { time: new Date().toISOString(), about, text: JSON.stringify(review) }
}

export class ReviewRecorder {
  readonly #maxReviews: number
  readonly #recordings: Recording[] = []
  #bytes = 0

  constructor(maxReviews: number) {
    this.#maxReviews = maxReviews
  }

  readonly record: RecordReview = (webhook, type, text, outcome) => {
    const recording = recordingOf(webhook, type, text, outcome)
    if (recording !== undefined) this.add(recording)
  }

  add(recording: Recording): void {
    this.#recordings.push(recording)
    this.#bytes += sizeOf(recording)
    while (this.#recordings.length > this.#maxReviews || this.#bytes > maxBytes) {
      const oldest = this.#recordings.shift()
      if (oldest !== undefined) this.#bytes -= sizeOf(oldest)
    }
  }

  text(): string {
    const items = this.#recordings.map(({ time, about, text }) => `${JSON.stringify({ time, ...about }).slice(0, -1)},"review":${text}}`)
    return `{"kind":"AdmissionReviewRecordings","items":[${items.join(',')}]}\n`
  }
}

const sizeOf = ({ text, about }: { readonly text: string; readonly about: { readonly answer?: unknown } }): number =>
  text.length + JSON.stringify(about.answer ?? '').length + 200

function responseContent({ status, body }: EndpointResponse): unknown {
  if (body.length > maxReviewChars) return { status, body: '(too long)' }
  try {
    return parseJson(body).value
  } catch {
    return { status, body: body.toString().slice(0, 1000) }
  }
}

const isSecretReview = (review: unknown): boolean =>
  isRecord(review) && isRecord(review['request']) && isRecord(review['request']['kind']) && review['request']['kind']['kind'] === 'Secret'

/** The patch of a Secret contains its values; only `uid` and `allowed` are recorded. */
function withoutPatch(answer: unknown): unknown {
  const response = isRecord(answer) ? answer['response'] : undefined
  return isRecord(response) ? { response: { uid: response['uid'], allowed: response['allowed'] } } : undefined
}

function withoutSecrets(review: unknown): unknown {
  if (!isRecord(review) || !isRecord(review['request'])) return undefined
  const { request } = review
  const { kind } = isRecord(request['kind']) ? request['kind'] : {}
  if (typeof kind !== 'string' || neverRecorded.has(kind)) return undefined
  if (kind !== 'Secret') return review
  return { ...review, request: { ...request, object: withoutData(request['object']), oldObject: withoutData(request['oldObject']) } }
}

/** Keeps the keys of a Secret; drops values and annotations, which may contain the last applied configuration. */
function withoutData(secret: unknown): unknown {
  if (!isRecord(secret)) return secret
  const hide = (name: string): object =>
    isRecord(secret[name]) ? { [name]: Object.fromEntries(Object.keys(secret[name]).map((key) => [key, redacted])) } : {}
  const { annotations: _annotations, ...metadata } = isRecord(secret['metadata']) ? secret['metadata'] : {}
  return { ...secret, metadata, ...hide('data'), ...hide('stringData') }
}
