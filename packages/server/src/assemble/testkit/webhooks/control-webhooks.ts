// Test webhooks for the control API: specs and results are JSON, and reviews are forwarded to a server on loopback or get a fixed response.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { isRecord } from '@cluster-apiserver/api/patch/json-value.js'
import type { ReviewFunction } from './review-functions.js'
import { forwardResponder, functionResponder, type Responder } from './review-responders.js'
import type { ReplayedReview, TestReview } from './test-webhook.js'
import type { OpenWebhook, TestWebhooks } from './test-webhooks.js'
import { checkSpec, type WebhookKind } from './webhook-spec.js'

interface WebhookInfo {
  readonly id: string
  readonly kind: WebhookKind
  readonly name: string
  readonly url: string
  readonly reviews: number
}

/** `body`: a spec with either `forwardTo`, an http URL of this machine, or `response`, a value that a function may return. Throws a TypeError. */
export async function createControlWebhook(webhooks: TestWebhooks, body: unknown): Promise<WebhookInfo> {
  const { spec, target } = splitBody(body)
  checkSpec(spec)
  try {
    return infoOf(await webhooks.openWith(spec, responderOf(spec.kind, target)))
  } catch (thrown) {
    if (thrown instanceof ApiError && invalidCodes.includes(thrown.status.code)) throw new TypeError(`webhook: ${thrown.message}`)
    throw thrown
  }
}

/** Codes of a webhook configuration that the API refuses. */
const invalidCodes: readonly number[] = [400, 422]

export const listControlWebhooks = (webhooks: TestWebhooks): readonly WebhookInfo[] => webhooks.list.map(infoOf)

/** Undefined if there is no webhook with this id. */
export const reviewsOfWebhook = (webhooks: TestWebhooks, id: string): readonly TestReview[] | undefined => webhooks.find(id)?.reviews

/** Repeats the recorded reviews at `forwardTo` or with `response`; by default as the webhook responds. Undefined for an unknown id. */
export async function replayControlWebhook(
  webhooks: TestWebhooks,
  id: string,
  body: unknown = {},
): Promise<readonly ReplayedReview[] | undefined> {
  const webhook = webhooks.find(id)
  if (webhook === undefined) return undefined
  const { spec, target } = splitBody(body)
  const [unknown] = Object.keys(spec)
  if (unknown !== undefined) throw new TypeError(`webhook: unknown field "${unknown}"; a replay has only forwardTo or response`)
  if (Object.keys(target).length === 0) return await webhook.replayWith(webhook.responder)
  const responder = responderOf(webhook.kind, target)
  try {
    return await webhook.replayWith(responder)
  } finally {
    responder.close()
  }
}

/** False if there is no webhook with this id. */
export async function deleteControlWebhook(webhooks: TestWebhooks, id: string): Promise<boolean> {
  const webhook = webhooks.find(id)
  await webhook?.close()
  return webhook !== undefined
}

const infoOf = ({ id, kind, name, url, reviews }: OpenWebhook): WebhookInfo => ({ id, kind, name, url, reviews: reviews.length })

interface Target {
  readonly forwardTo?: unknown
  readonly response?: unknown
}

function splitBody(body: unknown): { readonly spec: object; readonly target: Target } {
  if (!isRecord(body)) throw new TypeError('webhook: the body must be an object')
  const { forwardTo, response, ...spec } = body
  return { spec, target: { ...(forwardTo === undefined ? {} : { forwardTo }), ...(response === undefined ? {} : { response }) } }
}

function responderOf(kind: WebhookKind, { forwardTo, response }: Target): Responder {
  if ((forwardTo === undefined) === (response === undefined)) throw new TypeError('webhook: give either forwardTo or response')
  if (forwardTo !== undefined) return forwardResponder(kind, forwardTo)
  if (kind === 'conversion') throw new TypeError('webhook: a conversion webhook needs forwardTo; it has no fixed response')
  return functionResponder(kind, (() => response) as ReviewFunction)
}
