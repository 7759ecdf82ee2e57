// Recorded reviews of a test webhook: bounded, replayed against another responder, saved in the format of `admission replay`.

import { readFileSync, writeFileSync } from 'node:fs'
import { isEqual, isRecord } from '@cluster-apiserver/api/patch/json-value.js'
import type { RecordedReview } from '../../../admission/webhooks/admission-review-recorder.js'
import { effectOf, membersOf, type ReviewFunction, type ReviewRequest, type ReviewResponse } from './review-functions.js'
import { functionResponder, type Responder, type ReviewDocument } from './review-responders.js'
import type { ReplayedReview, ReviewOutcome, TestReview } from './test-webhook.js'
import type { WebhookKind } from './webhook-spec.js'

/** A recorded review whose outcome is set later. */
interface Recording {
  readonly time: string
  readonly review: ReviewDocument
  outcome: ReviewOutcome
  bytes: number
}

const maxRecordings = 1000
const maxBytes = 16 << 20

export class ReviewRecordings {
  readonly #list: Recording[] = []
  #bytes = 0

  get list(): readonly Recording[] {
    return this.#list
  }

  add(review: ReviewDocument, bytes: number): Recording {
    const recording: Recording = { time: new Date().toISOString(), review, outcome: {}, bytes: 0 }
    this.#list.push(recording)
    this.grow(recording, bytes)
    return recording
  }

  /** Drops the oldest recordings beyond the limits. */
  grow(recording: Recording, bytes: number): void {
    if (!this.#list.includes(recording)) return
    recording.bytes += bytes
    this.#bytes += bytes
    while (this.#list.length > maxRecordings || this.#bytes > maxBytes) this.#bytes -= this.#list.shift()?.bytes ?? 0
  }
}

export const reviewOf = (kind: WebhookKind, { time, review, outcome }: Recording): TestReview => ({
  time,
  request: requestIn(kind, review),
  ...outcome,
})

const requestIn = (kind: WebhookKind, review: ReviewDocument): ReviewRequest => review[membersOf(kind).request] as ReviewRequest

type ReplayInput = Pick<Recording, 'review' | 'outcome'>

/** One after another, in the recorded order. */
export async function replay(
  kind: WebhookKind,
  recordings: readonly ReplayInput[],
  responder: Responder,
): Promise<readonly ReplayedReview[]> {
  const replayed: ReplayedReview[] = []
  for (const { review, outcome: before } of [...recordings]) {
    const { outcome: after } = await responder.respond(review)
    const request = requestIn(kind, review)
    const isSame = before.error === after.error && isEqual(effectOf(request, before.response), effectOf(request, after.response))
    replayed.push({ request, before, after, isSame })
  }
  return replayed
}

const typesByKind: { readonly [Kind in WebhookKind]: string } = {
  validating: 'validating',
  mutating: 'admit',
  conversion: 'conversion',
  token: 'token',
  authorization: 'authorization',
  imagePolicy: 'imagePolicy',
}

type SavedReview = Omit<RecordedReview, 'type'> & { readonly type: string }

/** Readable by its owner only: reviews may contain Secrets and tokens. */
export function saveRecordings(
  path: string,
  { kind, name }: { readonly kind: WebhookKind; readonly name: string },
  list: readonly Recording[],
): void {
  const { response: responseMember } = membersOf(kind)
  const items = list.map(({ time, review, outcome: { response, error } }): SavedReview => {
    const { kind: reviewKind, apiVersion } = review
    return {
      time,
      configuration: name,
      webhook: name,
      type: typesByKind[kind],
      review,
      ...(response === undefined ? {} : { answer: { kind: reviewKind, apiVersion, [responseMember]: response } }),
      ...(error === undefined ? {} : { error }),
    }
  })
  writeFileSync(path, `${JSON.stringify({ kind: 'AdmissionReviewRecordings', items })}\n`, { mode: 0o600 })
}

/** Answers saved reviews with a function of the same kind of webhook. */
export async function replayReviews<Kind extends WebhookKind>(
  path: string,
  kind: Kind,
  call: ReviewFunction<Kind>,
): Promise<readonly ReplayedReview<Kind>[]> {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
  const items = isRecord(value) ? value['items'] : undefined
  if (!Array.isArray(items)) throw new Error(`replayReviews: ${path} has no recorded reviews`)
  const recordings = (items as readonly SavedReview[])
    .filter(({ type }) => type === typesByKind[kind])
    .map(({ review, answer, error }): ReplayInput => {
      const response = isRecord(answer) ? (answer[membersOf(kind).response] as ReviewResponse | undefined) : undefined
      return {
        review: review as ReviewDocument,
        outcome: { ...(response === undefined ? {} : { response }), ...(error === undefined ? {} : { error }) },
      }
    })
  if (recordings.length === 0) throw new Error(`replayReviews: ${path} has no reviews of kind ${kind}`)
  return (await replay(kind, recordings, functionResponder(kind, call))) as readonly ReplayedReview<Kind>[]
}
