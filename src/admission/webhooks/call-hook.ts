// One hook is asked about one request: sent the review, waited for within its time and that of the request, and its answer read.

import { badRequest } from '../../api/api-error.js'
import { quote } from '../../api/field-error.js'
import { qualifiedName } from '../../api/validation/text-rules.js'
import { AnswerTimeoutError } from '../../net/ask.js'
import type { EndpointAnswer } from '../../net/json-endpoint.js'
import { describeNetworkFailure } from '../../net/network-failure.js'
import type { AdmissionResponse } from '../../resources/admission/v1.schema.js'
import type { ServiceObjects } from '../../resources/core/locate-service.js'
import type { AdmissionRequest } from '../admission.js'
import type { Hook } from './hook.js'
import type { FindCredentials, HookClients, HookPlace } from './hook-clients.js'
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
/** What no header can say is not said. */
const control = /\p{Cc}/u
/** What remarks of one answer may take together in the audit log. */
const mostRemarkLength = 64 << 10
const mostRemarks = 100

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
  remark(request, name, response)
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
  const leftMs = deadlineMs === undefined ? hook.timeoutMs : Math.max(1, deadlineMs - performance.now())
  const timeoutMs = Math.min(hook.timeoutMs, leftMs)
  const place = placeOf(hook, timeoutMs, parts)
  try {
    return await place.post({ text, timeoutMs, onAbort, credentials: parts.credentials, services: parts.services })
  } catch (thrown) {
    // The request itself is over: that is no failure of the hook.
    caller.throwIfAborted()
    const why = thrown instanceof AnswerTimeoutError ? 'context deadline exceeded' : describeNetworkFailure(thrown)
    throw new HookCallError(hook.name, `failed to call webhook: Post ${quote(place.url)}: ${why}`, badStatus, { cause: thrown })
  }
}

function placeOf({ client, name }: Hook, timeoutMs: number, { clients }: CallParts): HookPlace {
  try {
    return clients.placeOf(client, timeoutMs)
  } catch (thrown) {
    throw new HookCallError(name, `could not get REST client: ${(thrown as Error).message}`, badStatus, { cause: thrown })
  }
}

/** A hook may say something for the audit log, under its own name; what makes no name with that is left out. */
function remark(request: AdmissionRequest, name: string, { auditAnnotations = {} }: AdmissionResponse): void {
  let length = 0
  let count = 0
  for (const key in auditAnnotations) {
    const value = auditAnnotations[key] ?? ''
    const full = `${name}/${key}`
    length += key.length + value.length
    if (++count > mostRemarks || length > mostRemarkLength) return
    if (qualifiedName(full).length === 0) request.annotate(full, value)
  }
}
