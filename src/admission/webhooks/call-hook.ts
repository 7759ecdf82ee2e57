// One hook is asked about one request: sent the review, waited for within its time and that of the request, and its answer read.

import { setTimeout as sleep } from 'node:timers/promises'
import { badRequest } from '../../api/api-error.js'
import { quote } from '../../api/field-error.js'
import { AnswerTimeoutError } from '../../net/ask.js'
import type { EndpointAnswer } from '../../net/json-endpoint.js'
import { describeNetworkFailure } from '../../net/network-failure.js'
import type { CertificateFlaw } from '../../net/shown-certificate.js'
import type { AdmissionResponse } from '../../resources/admission/v1.schema.js'
import type { ServiceObjects } from '../../resources/core/locate-service.js'
import type { AdmissionRequest } from '../admission.js'
import { annotateAudit } from './annotate-audit.js'
import type { Hook } from './hook.js'
import type { FindCredentials, HookClients, HookPlace, HookPost } from './hook-clients.js'
import { HookCallError, rejection } from './hook-errors.js'
import type { Candidate } from './hook-list.js'
import { BadAnswerError, checkResponse, readReview } from './review-answer.js'
import type { RecordReview } from './review-recorder.js'
import { reviewApiVersion, reviewText } from './review-text.js'

export interface CallParts {
  readonly clients: HookClients
  readonly credentials: FindCredentials
  readonly services: ServiceObjects
  readonly newUid: () => string
  readonly mayPatch: boolean
  /** Left out: nothing is recorded. */
  readonly record?: RecordReview | undefined
}

const badStatus = 400
/** How often a hook is asked again that wants to be asked later. */
const mostRetries = 10
/** What no header can say is not said. */
const control = /\p{Cc}/u

/** What an allowing hook says. Rejects with a HookCallError, a HookRejection, or an error that no policy forgives. */
export async function callHook({ hook, as }: Candidate, request: AdmissionRequest, parts: CallParts): Promise<AdmissionResponse> {
  const { name, review: version } = hook
  if (request.dryRun && !hook.allowsDryRun) throw badRequest(`admission webhook ${quote(name)} does not support dry run`)
  if (version === undefined) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)'
    throw new HookCallError(name, `could not create admission objects: ${why}`, badStatus)
  }
  const uid = parts.newUid()
  const apiVersion = reviewApiVersion(request.identity, version)
  const text = await reviewText(request, { uid, version, as })
  const answer = await recorded({ hook, as }, request, text, parts)
  let response: AdmissionResponse
  try {
    response = checkResponse(readReview(answer, apiVersion), { uid, version, apiVersion, mayPatch: parts.mayPatch })
  } catch (thrown) {
    if (thrown instanceof BadAnswerError) throw new HookCallError(name, thrown.message, thrown.code)
    throw thrown
  }
  annotateAudit(request, name, response.auditAnnotations)
  for (const warning of response.warnings ?? []) if (!control.test(warning)) request.call.warn(warning)
  if (response.allowed !== true) throw rejection(name, response.status)
  return response
}

function recorded(candidate: Candidate, request: AdmissionRequest, text: string, parts: CallParts): Promise<EndpointAnswer> {
  const { record } = parts
  const posting = post(candidate, request, text, parts)
  if (record === undefined) return posting
  const step = parts.mayPatch ? 'admit' : 'validating'
  return posting.then(
    (answer) => {
      record(candidate.hook, step, text, { answer })
      return answer
    },
    (thrown: unknown) => {
      record(candidate.hook, step, text, { error: thrown instanceof Error ? thrown.message : String(thrown) })
      throw thrown
    },
  )
}

async function post({ hook }: Candidate, request: AdmissionRequest, text: string, parts: CallParts): Promise<EndpointAnswer> {
  const { onAbort, caller } = request.call
  const { deadlineMs } = caller
  const begunMs = performance.now()
  const leftMs = deadlineMs === undefined ? hook.timeoutMs : Math.max(1, deadlineMs - begunMs)
  const timeoutMs = Math.min(hook.timeoutMs, leftMs)
  const place = placeOf(hook, timeoutMs, parts)
  try {
    const { credentials, services } = parts
    const onFlaw = (flaw: CertificateFlaw): void => annotateFlaw(request, place.host, flaw)
    const answer = await place.post({ text, timeoutMs, onAbort, credentials, services, onFlaw })
    if (answer.retryAfter === undefined || !isPassing(answer.status)) return answer
    return await postLater(answer, place, request, {
      text,
      onAbort,
      credentials,
      services,
      onFlaw,
      lateAtMs: begunMs + timeoutMs,
      timeoutMs,
    })
  } catch (thrown) {
    // The request itself is over: that is no failure of the hook.
    caller.throwIfAborted()
    const why = thrown instanceof AnswerTimeoutError ? 'context deadline exceeded' : describeNetworkFailure(thrown)
    throw new HookCallError(hook.name, `failed to call webhook: Post ${quote(place.url)}: ${why}`, badStatus, { cause: thrown })
  }
}

const flaws: { readonly [flaw in CertificateFlaw]: { readonly id: string; readonly reason: string } } = {
  lacksNames: { id: 'missing-san', reason: 'relies on a legacy Common Name field instead of the SAN extension for subject validation' },
  isSha1: { id: 'insecure-sha1', reason: 'uses an insecure SHA-1 signature' },
}

/** Whoever runs such a hook is to be found by the requests that it delays or stops. */
function annotateFlaw(request: AdmissionRequest, host: string, flaw: CertificateFlaw): void {
  const { id, reason } = flaws[flaw]
  request.annotate(request.identity.label(host, `${id}.invalid-cert`), reason)
}

interface Later extends HookPost {
  readonly lateAtMs: number
}

/** Like other clients, the server asks again when it is told to, within the time of the hook. */
async function postLater(first: EndpointAnswer, place: HookPlace, request: AdmissionRequest, later: Later): Promise<EndpointAnswer> {
  let answer = first
  for (let retries = 0; retries < mostRetries && isPassing(answer.status); retries++) {
    const { retryAfter } = answer
    if (retryAfter === undefined || !Number.isInteger(retryAfter)) return answer
    const leftMs = later.lateAtMs - performance.now() - retryAfter * 1000
    if (leftMs <= 0) throw new AnswerTimeoutError(later.timeoutMs)
    await request.call.waitFor(sleep(retryAfter * 1000, undefined, { ref: false }))
    answer = await place.post({ ...later, timeoutMs: leftMs })
  }
  return answer
}

const isPassing = (status: number): boolean => status === 429 || status >= 500

function placeOf({ client, name }: Hook, timeoutMs: number, { clients }: CallParts): HookPlace {
  try {
    return clients.placeOf(client, timeoutMs)
  } catch (thrown) {
    throw new HookCallError(name, `could not get REST client: ${(thrown as Error).message}`, badStatus, { cause: thrown })
  }
}
