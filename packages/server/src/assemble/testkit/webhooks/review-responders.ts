// Responders of test webhooks: a function of the test, or a server on loopback to which reviews are forwarded.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { isRecord } from '@cluster-apiserver/api/patch/json-value.js'
import { JsonEndpoint } from '../../../net/outbound/json-endpoint.js'
import { membersOf, type ReviewFunction, type ReviewRequest, respondTo } from './review-functions.js'
import type { ReviewOutcome } from './test-webhook.js'
import type { SentResponse } from './webhook-listener.js'
import type { WebhookKind } from './webhook-spec.js'

export interface ReviewDocument {
  readonly kind: string
  readonly apiVersion: string
  readonly [member: string]: unknown
}

export interface Responder {
  /** Never rejects. */
  respond(review: ReviewDocument): Promise<{ readonly sent: SentResponse; readonly outcome: ReviewOutcome }>
  close(): void
}

export function functionResponder(kind: WebhookKind, call: ReviewFunction, onError?: (thrown: unknown) => void): Responder {
  if (typeof call !== 'function') throw new TypeError('webhook: the second argument must be the function that answers the reviews')
  const members = membersOf(kind)
  return {
    respond: async (review) => {
      try {
        const response = await respondTo(kind, call, review[members.request] as ReviewRequest)
        const { kind: reviewKind, apiVersion } = review
        const text = JSON.stringify({ kind: reviewKind, apiVersion, [members.response]: response })
        return { sent: { status: 200, text, headers: { 'content-type': 'application/json' } }, outcome: { response } }
      } catch (thrown) {
        onError?.(thrown)
        return failed(500, errorMessage(thrown))
      }
    },
    close: () => undefined,
  }
}

const failed = (status: number, error: string) => ({ sent: { status, text: error }, outcome: { error } })

const forwardTimeoutMs = 30_000
const maxShownChars = 500

/** Redirects are not followed. */
export function forwardResponder(kind: WebhookKind, forwardTo: unknown): Responder {
  const endpoint = new JsonEndpoint({ url: loopbackUrl(forwardTo) }, { timeoutMs: forwardTimeoutMs })
  return {
    respond: async (review) => {
      try {
        const { status, body, retryAfter, contentType = '' } = await endpoint.post(review)
        const headers = {
          ...(contentType === '' ? {} : { 'content-type': contentType }),
          ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
        }
        return { sent: { status, text: body.toString(), headers }, outcome: outcomeOf(kind, status, body.toString()) }
      } catch (thrown) {
        return failed(502, `forwarding the review failed: ${errorMessage(thrown)}`)
      }
    },
    close: () => endpoint.close(),
  }
}

function outcomeOf(kind: WebhookKind, status: number, text: string): ReviewOutcome {
  if (status < 200 || status > 299) return { error: `status ${status}: ${text.slice(0, maxShownChars)}` }
  const response = reviewIn(text)?.[membersOf(kind).response]
  return isRecord(response) ? { response } : { error: `the response is not a review: ${text.slice(0, maxShownChars)}` }
}

export function reviewIn(text: string): ReviewDocument | undefined {
  try {
    const review: unknown = JSON.parse(text)
    return isRecord(review) ? (review as ReviewDocument) : undefined
  } catch {
    return undefined
  }
}

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** The test kit must not send objects to other machines. */
function loopbackUrl(forwardTo: unknown): string {
  const url = typeof forwardTo === 'string' && URL.canParse(forwardTo) ? new URL(forwardTo) : undefined
  if (url?.protocol !== 'http:' || !loopbackHosts.has(url.hostname) || url.username !== '' || url.password !== '')
    throw new TypeError('webhook: forwardTo must be a URL such as http://127.0.0.1:8080/validate: http, and a host of this machine')
  return url.href
}
