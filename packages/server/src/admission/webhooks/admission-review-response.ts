// What a hook answered, checked: it is an AdmissionReview of the version that was sent, for the request that was sent.

import { quote } from '../../api/field-error.js'
import { shorten } from '../../base/shorten.js'
import { parseJson } from '../../codec/json.js'
import type { EndpointAnswer } from '../../net/json-endpoint.js'
import { type AdmissionResponse, type AdmissionReview, admissionReview } from '../../resources/admission/v1.schema.js'
import { JsonSyntaxError } from '../../schema/json-parse.js'
import { isRecord, readValue, SchemaReadError } from '../../schema/read.js'
import { describeStatus, readStatus } from './error-answer.js'
import type { ReviewVersion } from './hook.js'
import { reviewKind } from './review-text.js'

/** Why an answer does not count. */
export class BadAnswerError extends Error {
  override readonly name = 'BadAnswerError'
  readonly code: number
  constructor(message: string, code: number) {
    super(message)
    this.code = code
  }
}

const badRequest = 400
const unavailable = 503
const failedCall = 'failed to call webhook'

/** The review in an answer. Whatever type the answer says it has, it is read as JSON. */
export function readReview(answer: EndpointAnswer, apiVersion: string): AdmissionReview {
  const { status, body } = answer
  if (status < 200 || status > 206) throw new BadAnswerError(`${failedCall}: ${describeStatus(answer)}`, status)
  if (body.length === 0) throw badCall('the answer has no body')
  const value = parse(body)
  if (!isRecord(value)) throw badCall('the answer is not an object')
  const { kind, apiVersion: version } = value
  if (kind === 'Status') {
    const { message = '' } = readStatus(value) ?? {}
    throw badCall(message)
  }
  if ((kind && kind !== reviewKind) || (version && version !== apiVersion))
    throw badCall(`the answer is a ${word(kind)} of ${word(version)}, not a ${reviewKind} of ${apiVersion}`)
  try {
    return readValue(admissionReview, value).value as AdmissionReview
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) throw badCall(thrown.message)
    throw thrown
  }
}

const word = (value: unknown): string => (typeof value === 'string' ? shorten(value) : '{…}')
const badCall = (why: string): BadAnswerError => new BadAnswerError(`${failedCall}: ${why}`, badRequest)

function parse(body: Uint8Array): unknown {
  try {
    return parseJson(body).value
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError) throw badCall(`couldn't get version/kind; json parse error: ${thrown.message}`)
    throw thrown
  }
}

export interface ExpectedAnswer {
  readonly uid: string
  readonly version: ReviewVersion
  readonly apiVersion: string
  readonly mayPatch: boolean
}

/** The response with what the version allows it to leave out. */
export function checkResponse({ response, kind = '', apiVersion = '' }: AdmissionReview, expected: ExpectedAnswer): AdmissionResponse {
  if (response === undefined) throw invalid('webhook response was absent')
  if (expected.version === 'v1beta1') return asFirstVersion(response, expected)
  const { uid = '', patch = '', patchType } = response
  if (uid !== expected.uid) throw invalid(`expected response.uid=${quote(expected.uid)}, got ${quote(shorten(uid))}`)
  if (kind !== reviewKind || apiVersion !== expected.apiVersion)
    throw invalid(`expected webhook response of ${expected.apiVersion}, Kind=${reviewKind}, got ${apiVersion || '/'}, Kind=${kind}`)
  if (expected.mayPatch) {
    if (patch !== '' && patchType === undefined) throw invalid('webhook returned response.patch but not response.patchType')
    if (patch === '' && patchType !== undefined) throw invalid('webhook returned response.patchType but not response.patch')
    if (patchType === '') throw invalid('webhook returned invalid response.patchType of ""')
    return response
  }
  if (patch !== '') throw invalid('validating webhook may not return response.patch')
  if (patchType !== undefined) throw invalid('validating webhook may not return response.patchType')
  return response
}

/** Of the first version nobody ever checked anything, and hooks rely on that. */
function asFirstVersion(response: AdmissionResponse, { mayPatch }: ExpectedAnswer): AdmissionResponse {
  const { patch, patchType: _patchType, ...rest } = response
  return mayPatch && patch ? { ...rest, patch, patchType: 'JSONPatch' } : rest
}

const invalid = (why: string): BadAnswerError => new BadAnswerError(`received invalid webhook response: ${why}`, unavailable)
