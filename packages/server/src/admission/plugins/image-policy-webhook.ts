// Pods are made of images that somebody else's service allows. What it says of the same images counts for a while.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../api/api-error.js'
import type { OnAbort } from '../../api/call.js'
import type { Identity } from '../../api/identity.js'
import { timerMs } from '../../base/clock.js'
import { onceFor } from '../../base/once-for.js'
import { RecentMap } from '../../base/recent-map.js'
import { shorten } from '../../base/shorten.js'
import { AnswerTimeoutError } from '../../net/ask.js'
import type { EndpointAnswer } from '../../net/json-endpoint.js'
import { describeNetworkFailure } from '../../net/network-failure.js'
import { type ImageReview, type ImageReviewSpec, type ImageReviewStatus, imageReview } from '../../resources/imagepolicy/v1alpha1.schema.js'
import { readValue, SchemaReadError } from '../../schema/read.js'
import { writeValue } from '../../schema/write.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import type { ImagePolicySettings } from '../config/image-policy.js'
import { type Pod, refusePod } from '../pods.js'
import { annotateAudit } from '../webhooks/annotate-audit.js'
import { describeStatus, statusIn } from '../webhooks/error-answer.js'

export interface ImagePolicyParts {
  readonly settings: Pick<ImagePolicySettings, 'allowTtlMs' | 'denyTtlMs' | 'retryBackoffMs' | 'defaultAllow'>
  readonly post: (text: string, onAbort: OnAbort | undefined) => Promise<EndpointAnswer>
  /** Milliseconds that only grow. */
  readonly now: () => number
}

interface Kept {
  readonly status: ImageReviewStatus
  readonly untilMs: number
}

const mostKept = 1024
/** A request and its response that are longer together are not kept. */
const mostLetters = 10_000
const mostReason = 4096
const mostAttempts = 5
const pauseGrows = 1.5
const passing: ReadonlySet<number> = new Set([429, 500, 504])

export function imagePolicyWebhook(parts: ImagePolicyParts): Plugin {
  const kept = new RecentMap<string, Kept>(mostKept)
  const statusFor = async (request: AdmissionRequest, spec: ImageReviewSpec): Promise<ImageReviewStatus> => {
    const key = JSON.stringify(spec)
    const known = kept.get(key)
    if (known !== undefined && known.untilMs > parts.now()) return known.status
    const status = await ask(parts, request, spec)
    const ttlMs = status.allowed ? parts.settings.allowTtlMs : parts.settings.denyTtlMs
    const length = key.length + JSON.stringify(status).length
    if (ttlMs > 0 && length < mostLetters) kept.set(key, { status, untilMs: parts.now() + ttlMs })
    return status
  }
  return {
    name: 'ImagePolicyWebhook',
    collections: ['pods'],
    validate: (request) => {
      const { operation, subresource } = request
      if (operation !== 'CREATE' && operation !== 'UPDATE') return undefined
      return subresource === '' || subresource === 'ephemeralcontainers' ? check(request, parts, statusFor) : undefined
    },
  }
}

type FindStatus = (request: AdmissionRequest, spec: ImageReviewSpec) => Promise<ImageReviewStatus>

async function check(request: AdmissionRequest, { settings }: ImagePolicyParts, find: FindStatus): Promise<void> {
  const { remarks } = namesOf(request.identity)
  let status: ImageReviewStatus
  try {
    status = await find(request, specOf(request))
  } catch (thrown) {
    request.call.throwIfAborted()
    if (!(thrown instanceof Error)) throw thrown
    if (settings.defaultAllow) {
      request.annotate(`${remarks}/failed-open`, 'true')
      return
    }
    // It has words of its own for those who may not.
    throw thrown instanceof ApiError ? thrown : refusePod(request, thrown.message)
  }
  annotateAudit(request, remarks, status.auditAnnotations)
  if (status.allowed) return
  const { reason = '' } = status
  throw refusePod(
    request,
    reason === ''
      ? 'one or more images rejected by webhook backend'
      : `image policy webhook backend denied one or more images: ${shorten(reason, mostReason)}`,
  )
}

/** What the identity calls the annotations that are passed on, and the remarks in the audit log. */
const namesOf = onceFor((identity: Identity) => {
  const domain = `.image-policy.${identity.groupSuffix}`
  return { annotations: `${domain}/`, remarks: `imagepolicywebhook${domain}` }
})

function specOf({ object, subresource, namespace, identity }: AdmissionRequest): ImageReviewSpec {
  const { spec = {}, metadata } = (object ?? {}) as Pod
  const containers = subresource === '' ? [...(spec.containers ?? []), ...(spec.initContainers ?? [])] : (spec.ephemeralContainers ?? [])
  const wanted = namesOf(identity).annotations
  const annotations = Object.entries(metadata?.annotations ?? {}).filter(([key]) => key.includes(wanted))
  return {
    containers: containers.map(({ image }) => (image === undefined ? {} : { image })),
    ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
    namespace,
  }
}

/** Asked again with growing pauses while what is wrong may pass. Rejects with one sentence. */
async function ask({ post, settings }: ImagePolicyParts, request: AdmissionRequest, spec: ImageReviewSpec): Promise<ImageReviewStatus> {
  const { identity } = request
  const type = { kind: 'ImageReview', apiVersion: `${identity.group({ stem: 'imagepolicy' })}/v1alpha1` }
  const text = writeValue(imageReview, { ...type, metadata: {}, spec, status: { allowed: false } })
  let pauseMs = settings.retryBackoffMs
  for (let attempt = 1; ; attempt++) {
    const answer = await postOnce(() => post(text, request.call.onAbort))
    const mayPass = answer instanceof Error ? isReset(answer) : passing.has(answer.status) || answer.retryAfter !== undefined
    if (!mayPass || attempt === mostAttempts) return readStatus(answer, type)
    await request.call.waitFor(sleep(timerMs(pauseMs)))
    pauseMs *= pauseGrows
  }
}

const isReset = (error: Error): boolean => (error as NodeJS.ErrnoException).code === 'ECONNRESET'

async function postOnce(post: () => Promise<EndpointAnswer>): Promise<EndpointAnswer | Error> {
  try {
    return await post()
  } catch (thrown) {
    if (thrown instanceof Error) return thrown
    throw thrown
  }
}

function readStatus(answer: EndpointAnswer | Error, type: { readonly kind: string; readonly apiVersion: string }): ImageReviewStatus {
  if (answer instanceof AnswerTimeoutError) throw new Error('context deadline exceeded')
  if (answer instanceof Error) throw new Error(describeNetworkFailure(answer))
  const { status, body } = answer
  if (status < 200 || status > 299) {
    const { reason, message = '' } = statusIn(body) ?? {}
    if (reason === 'Forbidden') throw new ApiError({ code: 403, reason, message: shorten(message, mostReason) })
    throw new Error(describeStatus(answer))
  }
  const { kind = '', apiVersion = '', status: said } = reviewIn(body)
  if ((kind !== '' && kind !== type.kind) || (apiVersion !== '' && apiVersion !== type.apiVersion))
    throw new Error(`the answer is a ${shorten(kind)} of ${shorten(apiVersion)}, not a ${type.kind} of ${type.apiVersion}`)
  return { allowed: false, ...said }
}

function reviewIn(body: Buffer): ImageReview {
  try {
    return readValue(imageReview, JSON.parse(body.toString())).value as ImageReview
  } catch (thrown) {
    if (thrown instanceof SyntaxError) throw new Error('the answer is not JSON')
    if (thrown instanceof SchemaReadError) throw new Error(thrown.message)
    throw thrown
  }
}
