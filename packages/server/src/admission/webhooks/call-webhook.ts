// Calls one webhook for one request, within the timeouts of webhook and request, and applies the failure policy of the webhook.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, badRequest } from '@cluster-apiserver/api/api/api-error.js'
import { quote } from '@cluster-apiserver/api/api/field-error.js'
import { qualifiedName } from '@cluster-apiserver/api/api/validation/name-formats.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { AdmissionResponse } from '@cluster-apiserver/api/resources/admission/v1.schema.js'
import type { ServiceObjects } from '@cluster-apiserver/api/resources/core/service/service-endpoint-address.js'
import { ResponseTimeoutError } from '../../net/outbound/http-client.js'
import type { EndpointResponse } from '../../net/outbound/json-endpoint.js'
import { networkErrorMessage } from '../../net/outbound/network-error-message.js'
import type { CertificateFlaw } from '../../net/tls/certificate-flaws.js'
import type { AdmissionRequest } from '../admission-plugin.js'
import type { RecordReview } from './admission-review-recorder.js'
import { reviewApiVersion, reviewText } from './admission-review-request.js'
import { BadReviewError, checkResponse, readReview } from './admission-review-response.js'
import type { Candidate, Webhook } from './webhook.js'
import type { FindCredentials, WebhookClients, WebhookEndpoint, WebhookPost } from './webhook-clients.js'
import type { WebhookCounters, WebhookStep } from './webhook-counters.js'
import { rejection, WebhookCallError, WebhookRejection } from './webhook-errors.js'

export interface CallParts {
  readonly clients: WebhookClients
  readonly credentials: FindCredentials
  readonly services: ServiceObjects
  readonly newUid: () => string
  readonly mayPatch: boolean
  readonly record?: RecordReview | undefined
}

const badRequestCode = 400
const maxRetries = 10
const controlCharacter = /\p{Cc}/u

/** Resolves with an allowing response. Rejects with WebhookCallError, WebhookRejection, or an error that failurePolicy does not cover. */
export async function callWebhook(
  { webhook, matched }: Candidate,
  request: AdmissionRequest,
  parts: CallParts,
): Promise<AdmissionResponse> {
  const { name, reviewVersion: version } = webhook
  if (request.dryRun && !webhook.supportsDryRun) throw badRequest(`admission webhook ${quote(name)} does not support dry run`)
  if (version === undefined) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)'
    throw new WebhookCallError(name, `could not create admission objects: ${why}`, badRequestCode)
  }
  const uid = parts.newUid()
  const apiVersion = reviewApiVersion(request.identity, version)
  const text = await reviewText(request, { uid, version, matched })
  const reply = await postRecorded({ webhook, matched }, request, text, parts)
  let response: AdmissionResponse
  try {
    response = checkResponse(readReview(reply, apiVersion), { uid, version, apiVersion, mayPatch: parts.mayPatch })
  } catch (thrown) {
    if (thrown instanceof BadReviewError) throw new WebhookCallError(name, thrown.message, thrown.code)
    throw thrown
  }
  annotateAudit(request, name, response.auditAnnotations)
  for (const warning of response.warnings ?? []) if (!controlCharacter.test(warning)) request.call.warn(warning)
  if (response.allowed !== true) throw rejection(name, response.status)
  return response
}

function postRecorded(candidate: Candidate, request: AdmissionRequest, text: string, parts: CallParts): Promise<EndpointResponse> {
  const { record } = parts
  const posting = post(candidate, request, text, parts)
  if (record === undefined) return posting
  const step = parts.mayPatch ? 'admit' : 'validating'
  return posting.then(
    (reply) => {
      record(candidate.webhook, step, text, { response: reply })
      return reply
    },
    (thrown: unknown) => {
      record(candidate.webhook, step, text, { error: errorMessage(thrown) })
      throw thrown
    },
  )
}

async function post({ webhook }: Candidate, request: AdmissionRequest, text: string, parts: CallParts): Promise<EndpointResponse> {
  const { onAbort, caller } = request.call
  const { deadlineMs } = caller
  const startMs = performance.now()
  const leftMs = deadlineMs === undefined ? webhook.timeoutMs : Math.max(1, deadlineMs - startMs)
  const timeoutMs = Math.min(webhook.timeoutMs, leftMs)
  const endpoint = endpointFor(webhook, timeoutMs, parts)
  try {
    const { credentials, services } = parts
    const onFlaw = (flaw: CertificateFlaw): void => annotateFlaw(request, endpoint.host, flaw)
    const reply = await endpoint.post({ name: webhook.name, text, timeoutMs, onAbort, credentials, services, onFlaw })
    if (reply.retryAfter === undefined || !isRetriable(reply.status)) return reply
    return await retryPost(reply, endpoint, request, {
      name: webhook.name,
      text,
      onAbort,
      credentials,
      services,
      onFlaw,
      endsAtMs: startMs + timeoutMs,
      timeoutMs,
    })
  } catch (thrown) {
    // An aborted request is not a failure of the webhook.
    caller.throwIfAborted()
    const why = thrown instanceof ResponseTimeoutError ? 'context deadline exceeded' : networkErrorMessage(thrown)
    throw new WebhookCallError(webhook.name, `failed to call webhook: Post ${quote(endpoint.url)}: ${why}`, badRequestCode, {
      cause: thrown,
    })
  } finally {
    caller.addLatency?.(parts.mayPatch ? 'mutating-webhook' : 'validating-webhook', performance.now() - startMs)
  }
}

const flawAnnotations: { readonly [flaw in CertificateFlaw]: { readonly id: string; readonly reason: string } } = {
  lacksNames: { id: 'missing-san', reason: 'relies on a legacy Common Name field instead of the SAN extension for subject validation' },
  isSha1: { id: 'insecure-sha1', reason: 'uses an insecure SHA-1 signature' },
}

function annotateFlaw(request: AdmissionRequest, host: string, flaw: CertificateFlaw): void {
  const { id, reason } = flawAnnotations[flaw]
  request.annotate(request.identity.label(host, `${id}.invalid-cert`), reason)
}

interface RetriedPost extends WebhookPost {
  readonly endsAtMs: number
}

/** Honours Retry-After, within the timeout of the webhook. */
async function retryPost(
  first: EndpointResponse,
  endpoint: WebhookEndpoint,
  request: AdmissionRequest,
  retried: RetriedPost,
): Promise<EndpointResponse> {
  let reply = first
  for (let retries = 0; retries < maxRetries && isRetriable(reply.status); retries++) {
    const { retryAfter } = reply
    if (retryAfter === undefined || !Number.isInteger(retryAfter)) return reply
    const leftMs = retried.endsAtMs - performance.now() - retryAfter * 1000
    if (leftMs <= 0) throw new ResponseTimeoutError(retried.timeoutMs)
    await request.call.waitFor(sleep(retryAfter * 1000, undefined, { ref: false }))
    reply = await endpoint.post({ ...retried, timeoutMs: leftMs })
  }
  return reply
}

const isRetriable = (status: number): boolean => status === 429 || status >= 500

function endpointFor({ client, name }: Webhook, timeoutMs: number, { clients }: CallParts): WebhookEndpoint {
  try {
    return clients.endpointOf(client, timeoutMs)
  } catch (thrown) {
    throw new WebhookCallError(name, `could not get REST client: ${(thrown as Error).message}`, badRequestCode, { cause: thrown })
  }
}

const maxAnnotations = 100
const maxAnnotationChars = 64 << 10

export function annotateAudit(
  request: AdmissionRequest,
  prefix: string,
  annotations: { readonly [key: string]: string | undefined } = {},
): void {
  let characters = 0
  let count = 0
  for (const key in annotations) {
    const value = annotations[key] ?? ''
    const name = `${prefix}/${key}`
    characters += key.length + value.length
    if (++count > maxAnnotations || characters > maxAnnotationChars) return
    if (qualifiedName(name).length === 0) request.annotate(name, value)
  }
}

interface FailurePolicyParts {
  readonly counters: WebhookCounters
  readonly step: WebhookStep
  readonly failedOpen: () => void
}

const okCode = 200

/** Counts the call and applies failurePolicy. Resolves with undefined if the call failed and the policy is Ignore. */
export async function withFailurePolicy<T>(
  webhook: Webhook,
  request: AdmissionRequest,
  { counters, step, failedOpen }: FailurePolicyParts,
  callAndApply: () => Promise<T>,
): Promise<T | undefined> {
  const { name, shouldFailOpen } = webhook
  const { operation, call } = request
  const labels = { name, step, operation }
  const startMs = performance.now()
  const observe = (rejected: boolean, code: number): void => {
    counters.observe(labels, rejected, code, (performance.now() - startMs) / 1000)
  }
  try {
    const result = await callAndApply()
    observe(false, okCode)
    return result
  } catch (thrown) {
    call.throwIfAborted()
    if (thrown instanceof WebhookRejection) {
      observe(true, thrown.error.status.code)
      counters.rejected(labels, 'no_error', thrown.error.status.code)
      throw thrown.error
    }
    if (!(thrown instanceof WebhookCallError)) {
      observe(true, 0)
      counters.rejected(labels, 'apiserver_internal_error', 0)
      throw thrown
    }
    observe(!shouldFailOpen, thrown.code)
    if (!shouldFailOpen) {
      counters.rejected(labels, 'calling_webhook_error', thrown.code)
      throw ApiError.from(thrown)
    }
    counters.failedOpen(labels)
    failedOpen()
    return undefined
  }
}
