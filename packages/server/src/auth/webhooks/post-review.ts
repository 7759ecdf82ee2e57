// Posts a TokenReview or SubjectAccessReview to a webhook, retries temporary failures with backoff, and decodes the status.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { decodeJsonObject, type ExpectedType } from '@cluster-apiserver/api/codec/decode-object.js'
import type { EndpointResponse } from '../../net/outbound/json-endpoint.js'

export interface ReviewEndpoint {
  readonly post: (document: unknown) => Promise<EndpointResponse>
  readonly sleep: (ms: number) => Promise<unknown>
}

interface Review {
  readonly kind: string
  readonly apiVersion: string
}

type ReviewSchema = ExpectedType['schema']

/** Enough for ten thousand groups; authorization checks all groups with every request. */
const maxResponseBytes = 512 << 10
const maxAttempts = 5
const initialBackoffMs = 500
const backoffFactor = 1.5
const maxBackoffMs = 5000
const retriableStatuses: ReadonlySet<number> = new Set([429, 500, 504])

/** Resolves with the status of the response, which must have the kind and version of the request. Rejects with a short reason. */
export async function postReview<Status>(endpoint: ReviewEndpoint, review: Review, schema: ReviewSchema): Promise<Partial<Status>> {
  let backoffMs = initialBackoffMs
  for (let attempt = 1; ; attempt++) {
    const response = await postOnce(endpoint, review)
    if (response !== undefined && !isRetriable(response)) {
      await turnBudget.yieldIfSpent()
      return readStatus<Status>(response, review, schema)
    }
    if (attempt === maxAttempts) throw new Error(response === undefined ? 'connection reset' : `status ${response.status}`)
    await endpoint.sleep(response?.retryAfter === undefined ? backoffMs : Math.min(response.retryAfter * 1000, maxBackoffMs))
    backoffMs *= backoffFactor
  }
}

const isRetriable = ({ status, retryAfter }: EndpointResponse): boolean =>
  retriableStatuses.has(status) || (status >= 400 && retryAfter !== undefined)

/** Resolves with undefined on ECONNRESET: the webhook may have closed an idle connection. */
async function postOnce({ post }: ReviewEndpoint, review: Review): Promise<EndpointResponse | undefined> {
  try {
    return await post(review)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ECONNRESET') return undefined
    throw thrown
  }
}

/** Decodes with the schema of the kind: one field of a wrong type (`denied: "true"`) makes the whole response invalid. */
function readStatus<Status>({ status: code, body }: EndpointResponse, { kind, apiVersion }: Review, schema: ReviewSchema): Partial<Status> {
  if (code < 200 || code > 299) throw new Error(`status ${code}`)
  if (body.length > maxResponseBytes) throw new Error(`the response is longer than ${maxResponseBytes} bytes`)
  try {
    const { status } = decodeJsonObject(body, { kind, apiVersion, schema }).object as { readonly status?: Partial<Status> }
    return status ?? {}
  } catch (thrown) {
    if (thrown instanceof ApiError) throw new Error(`the response is not a ${kind} of ${apiVersion}`, { cause: thrown })
    throw thrown
  }
}
