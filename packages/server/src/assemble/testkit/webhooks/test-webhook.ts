// A webhook of a test, and its recorded reviews.

import type { ReviewFunction, ReviewRequest, ReviewResponse } from './review-functions.js'
import type { WebhookKind } from './webhook-spec.js'

/** The response of a webhook to a review, or why there is none. */
export interface ReviewOutcome {
  /** `response` of an AdmissionReview or ConversionReview, `status` of another review. */
  readonly response?: ReviewResponse
  /** Why there is no response that the server accepts. */
  readonly error?: string
}

export interface TestReview<Kind extends WebhookKind = WebhookKind> extends ReviewOutcome {
  /** ISO 8601. */
  readonly time: string
  readonly request: ReviewRequest<Kind>
}

export interface ReplayedReview<Kind extends WebhookKind = WebhookKind> {
  readonly request: ReviewRequest<Kind>
  readonly before: ReviewOutcome
  readonly after: ReviewOutcome
  /** True if the server would do the same: patches are compared by their result. */
  readonly isSame: boolean
}

/** A webhook of a test. Its reviews are recorded: the last 1,000, at most 16 MiB. */
export interface TestWebhook<Kind extends WebhookKind = WebhookKind> {
  readonly kind: Kind
  /** Name of the webhook and of its configuration; of the CustomResourceDefinition for a conversion webhook. */
  readonly name: string
  readonly url: string
  /** The oldest first. */
  readonly reviews: readonly TestReview<Kind>[]
  /** Errors that the function threw, the oldest first; the last 1,000. */
  readonly errors: readonly unknown[]
  /** Answers the recorded reviews with another function. The server is not called. */
  replay(answer: ReviewFunction<Kind>): Promise<readonly ReplayedReview<Kind>[]>
  /** Writes the recorded reviews to a file, for `replayReviews` and `cluster-apiserver admission replay`. */
  save(path: string): void
  /** Removes the registration. Requests are not reviewed from now on. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
