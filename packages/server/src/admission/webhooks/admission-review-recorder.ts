// For people who write hooks: the last reviews that hooks were sent, with what they answered, for sending them again. Kept only where that is
// wanted, bounded in number and in bytes, and without what is secret.

import { parseJson } from '../../codec/json.js'
import type { EndpointAnswer } from '../../net/json-endpoint.js'
import { isRecord } from '../../schema/read.js'
import type { Hook } from './hook.js'
import type { HookStep } from './hook-tallies.js'

export interface RecordedReview {
  /** When it was sent, as RFC 3339. */
  readonly time: string
  readonly configuration: string
  readonly webhook: string
  readonly type: HookStep
  readonly review: unknown
  /** What the hook answered; left out where it did not. */
  readonly answer?: unknown
  readonly error?: string
}

export interface Outcome {
  readonly answer?: EndpointAnswer
  readonly error?: string
}

const mostBytes = 16 << 20
const mostEach = 1 << 20
/** Whoever has one of these could use it. */
const neverKept = new Set(['TokenRequest', 'TokenReview'])
const redacted = Buffer.from('redacted').toString('base64')

/** A recording without what is secret; a value that can be sent to another thread. */
export interface Recording {
  readonly text: string
  readonly time: string
  readonly about: Omit<RecordedReview, 'review' | 'time'>
}

/** Takes a review that a hook was sent, with what came of it. */
export type RecordReview = (hook: Hook, type: HookStep, text: string, outcome: Outcome) => void

/** Undefined for what is too long, or secret as a whole. */
export function recordingOf(hook: Hook, type: HookStep, text: string, { answer, error }: Outcome): Recording | undefined {
  if (text.length > mostEach) return undefined
  const review = withoutSecrets(JSON.parse(text))
  if (review === undefined) return undefined
  const said = answer === undefined ? undefined : isOfSecret(review) ? withoutPatch(answerOf(answer)) : answerOf(answer)
  const about = {
    configuration: hook.configuration,
    webhook: hook.name,
    type,
    ...(said === undefined ? {} : { answer: said }),
    ...(error === undefined ? {} : { error }),
  }
  return { time: new Date().toISOString(), about, text: JSON.stringify(review) }
}

export class ReviewRecorder {
  readonly #most: number
  readonly #kept: Recording[] = []
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  readonly record: RecordReview = (hook, type, text, outcome) => {
    const recording = recordingOf(hook, type, text, outcome)
    if (recording !== undefined) this.keep(recording)
  }

  keep(recording: Recording): void {
    this.#kept.push(recording)
    this.#bytes += sizeOf(recording)
    while (this.#kept.length > this.#most || this.#bytes > mostBytes) {
      const oldest = this.#kept.shift()
      if (oldest !== undefined) this.#bytes -= sizeOf(oldest)
    }
  }

  /** The oldest first, as JSON. */
  text(): string {
    const items = this.#kept.map(({ time, about, text }) => `${JSON.stringify({ time, ...about }).slice(0, -1)},"review":${text}}`)
    return `{"kind":"AdmissionReviewRecordings","items":[${items.join(',')}]}\n`
  }
}

const sizeOf = ({ text, about }: { readonly text: string; readonly about: { readonly answer?: unknown } }): number =>
  text.length + JSON.stringify(about.answer ?? '').length + 200

function answerOf({ status, body }: EndpointAnswer): unknown {
  if (body.length > mostEach) return { status, body: '(too long)' }
  try {
    return parseJson(body).value
  } catch {
    return { status, body: body.toString().slice(0, 1000) }
  }
}

const isOfSecret = (review: unknown): boolean =>
  isRecord(review) && isRecord(review['request']) && isRecord(review['request']['kind']) && review['request']['kind']['kind'] === 'Secret'

/** A patch of a secret holds what it puts there: of the answer only counts what it was. */
function withoutPatch(answer: unknown): unknown {
  const response = isRecord(answer) ? answer['response'] : undefined
  return isRecord(response) ? { response: { uid: response['uid'], allowed: response['allowed'] } } : undefined
}

/** Undefined where nothing of it may be kept. */
function withoutSecrets(review: unknown): unknown {
  if (!isRecord(review) || !isRecord(review['request'])) return undefined
  const { request } = review
  const { kind } = isRecord(request['kind']) ? request['kind'] : {}
  if (typeof kind !== 'string' || neverKept.has(kind)) return undefined
  if (kind !== 'Secret') return review
  return { ...review, request: { ...request, object: withoutData(request['object']), oldObject: withoutData(request['oldObject']) } }
}

/** Names stay, values do not; and what clients note down of what they sent goes. */
function withoutData(secret: unknown): unknown {
  if (!isRecord(secret)) return secret
  const hide = (name: string): object =>
    isRecord(secret[name]) ? { [name]: Object.fromEntries(Object.keys(secret[name]).map((key) => [key, redacted])) } : {}
  const { annotations: _annotations, ...metadata } = isRecord(secret['metadata']) ? secret['metadata'] : {}
  return { ...secret, metadata, ...hide('data'), ...hide('stringData') }
}
