// ImagePolicyWebhook plugin: posts an ImageReview for the images of a pod, and caches the result.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { OnAbort } from '@cluster-apiserver/api/api/call.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import { RecentMap, weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import {
  type ImageReview,
  type ImageReviewSpec,
  type ImageReviewStatus,
  imageReview,
} from '@cluster-apiserver/api/resources/imagepolicy/v1alpha1.schema.js'
import { readValue, SchemaReadError } from '@cluster-apiserver/api/schema/json/read.js'
import { writeValue } from '@cluster-apiserver/api/schema/json/write.js'
import { ResponseTimeoutError } from '../../net/outbound/http-client.js'
import type { EndpointResponse } from '../../net/outbound/json-endpoint.js'
import { networkErrorMessage } from '../../net/outbound/network-error-message.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import type { ImagePolicySettings } from '../config/plugin-configs.js'
import { type Pod, refuseRequest } from '../pod-requests.js'
import { annotateAudit } from '../webhooks/call-webhook.js'
import { describeStatus, statusIn } from '../webhooks/webhook-errors.js'

export interface ImagePolicyParts {
  readonly settings: Pick<ImagePolicySettings, 'allowTtlMs' | 'denyTtlMs' | 'retryBackoffMs' | 'defaultAllow'>
  readonly post: (text: string, onAbort: OnAbort | undefined) => Promise<EndpointResponse>
  /** Monotonic clock in milliseconds. */
  readonly now: () => number
}

interface CachedReview {
  readonly status: ImageReviewStatus
  readonly expiresAtMs: number
}

const maxCachedReviews = 1024
/** Reviews whose request and response are longer together are not cached. */
const maxCachedChars = 10_000
const maxReasonChars = 4096
const maxAttempts = 5
const backoffFactor = 1.5
const retriableStatuses: ReadonlySet<number> = new Set([429, 500, 504])

export function imagePolicyWebhook(parts: ImagePolicyParts): Plugin {
  const cache = new RecentMap<string, CachedReview>(maxCachedReviews)
  const statusFor = async (request: AdmissionRequest, spec: ImageReviewSpec): Promise<ImageReviewStatus> => {
    const key = JSON.stringify(spec)
    const cached = cache.get(key)
    if (cached !== undefined && cached.expiresAtMs > parts.now()) return cached.status
    const status = await requestReview(parts, request, spec)
    const ttlMs = status.allowed ? parts.settings.allowTtlMs : parts.settings.denyTtlMs
    const length = key.length + JSON.stringify(status).length
    if (ttlMs > 0 && length < maxCachedChars) cache.set(key, { status, expiresAtMs: parts.now() + ttlMs })
    return status
  }
  return {
    name: 'ImagePolicyWebhook',
    collections: ['pods'],
    validate: async (request) => {
      const { operation, subresource } = request
      if (operation !== 'CREATE' && operation !== 'UPDATE') return undefined
      return subresource === '' || subresource === 'ephemeralcontainers' ? check(request, parts, statusFor) : undefined
    },
  }
}

type FindStatus = (request: AdmissionRequest, spec: ImageReviewSpec) => Promise<ImageReviewStatus>

async function check(request: AdmissionRequest, { settings }: ImagePolicyParts, find: FindStatus): Promise<void> {
  const { auditPrefix } = namesOf(request.identity)
  let status: ImageReviewStatus
  try {
    status = await find(request, specOf(request))
  } catch (thrown) {
    request.call.throwIfAborted()
    if (!(thrown instanceof Error)) throw thrown
    if (settings.defaultAllow) {
      request.annotate(`${auditPrefix}/failed-open`, 'true')
      return
    }
    throw thrown instanceof ApiError ? thrown : refuseRequest(request, thrown.message)
  }
  annotateAudit(request, auditPrefix, status.auditAnnotations)
  if (status.allowed) return
  const { reason = '' } = status
  throw refuseRequest(
    request,
    reason === ''
      ? 'one or more images rejected by webhook backend'
      : `image policy webhook backend denied one or more images: ${shorten(reason, maxReasonChars)}`,
  )
}

const namesOf = weakMemoize((identity: Identity) => {
  const domain = `.image-policy.${identity.groupSuffix}`
  return { annotationDomain: `${domain}/`, auditPrefix: `imagepolicywebhook${domain}` }
})

function specOf({ object, subresource, namespace, identity }: AdmissionRequest): ImageReviewSpec {
  const { spec = {}, metadata } = (object ?? {}) as Pod
  const containers = subresource === '' ? [...(spec.containers ?? []), ...(spec.initContainers ?? [])] : (spec.ephemeralContainers ?? [])
  const { annotationDomain } = namesOf(identity)
  const annotations = Object.entries(metadata?.annotations ?? {}).filter(([key]) => key.includes(annotationDomain))
  return {
    containers: containers.map(({ image }) => (image === undefined ? {} : { image })),
    ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
    namespace,
  }
}

/** Retries temporary failures with backoff. Rejects with a short reason. */
async function requestReview(
  { post, settings }: ImagePolicyParts,
  request: AdmissionRequest,
  spec: ImageReviewSpec,
): Promise<ImageReviewStatus> {
  const { identity } = request
  const type = { kind: 'ImageReview', apiVersion: `${identity.group({ stem: 'imagepolicy' })}/v1alpha1` }
  const text = writeValue(imageReview, { ...type, metadata: {}, spec, status: { allowed: false } })
  let backoffMs = settings.retryBackoffMs
  for (let attempt = 1; ; attempt++) {
    const response = await postOnce(() => post(text, request.call.onAbort))
    const isRetriable =
      response instanceof Error ? isReset(response) : retriableStatuses.has(response.status) || response.retryAfter !== undefined
    if (!isRetriable || attempt === maxAttempts) return readStatus(response, type)
    await request.call.waitFor(sleep(timerMs(backoffMs)))
    backoffMs *= backoffFactor
  }
}

const isReset = (error: Error): boolean => (error as NodeJS.ErrnoException).code === 'ECONNRESET'

async function postOnce(post: () => Promise<EndpointResponse>): Promise<EndpointResponse | Error> {
  try {
    return await post()
  } catch (thrown) {
    if (thrown instanceof Error) return thrown
    throw thrown
  }
}

function readStatus(response: EndpointResponse | Error, type: { readonly kind: string; readonly apiVersion: string }): ImageReviewStatus {
  if (response instanceof ResponseTimeoutError) throw new Error('context deadline exceeded')
  if (response instanceof Error) throw new Error(networkErrorMessage(response))
  const { status, body } = response
  if (status < 200 || status > 299) {
    const { reason, message = '' } = statusIn(body) ?? {}
    if (reason === 'Forbidden') throw new ApiError({ code: 403, reason, message: shorten(message, maxReasonChars) })
    throw new Error(describeStatus(response))
  }
  const { kind = '', apiVersion = '', status: reviewStatus } = reviewIn(body)
  if ((kind !== '' && kind !== type.kind) || (apiVersion !== '' && apiVersion !== type.apiVersion))
    throw new Error(`the response is a ${shorten(kind)} of ${shorten(apiVersion)}, not a ${type.kind} of ${type.apiVersion}`)
  return { allowed: false, ...reviewStatus }
}

function reviewIn(body: Buffer): ImageReview {
  try {
    return readValue(imageReview, JSON.parse(body.toString())).value as ImageReview
  } catch (thrown) {
    if (thrown instanceof SyntaxError) throw new Error('the response is not JSON')
    if (thrown instanceof SchemaReadError) throw new Error(thrown.message)
    throw thrown
  }
}
