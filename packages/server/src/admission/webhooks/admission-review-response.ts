// AdmissionReview response: decoded, and checked for version and request uid.

import { quote } from '@cluster-apiserver/api/api/field-error.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { parseJson } from '@cluster-apiserver/api/codec/json/json.js'
import { type AdmissionResponse, type AdmissionReview, admissionReview } from '@cluster-apiserver/api/resources/admission/v1.schema.js'
import { JsonSyntaxError } from '@cluster-apiserver/api/schema/json/parse-json.js'
import { isRecord, readValue, SchemaReadError } from '@cluster-apiserver/api/schema/json/read.js'
import type { EndpointResponse } from '../../net/outbound/json-endpoint.js'
import { reviewKind } from './admission-review-request.js'
import type { ReviewVersion } from './webhook.js'
import { describeStatus, readStatus } from './webhook-errors.js'

export class BadReviewError extends Error {
  override readonly name = 'BadReviewError'
  readonly code: number
  constructor(message: string, code: number) {
    super(message)
    this.code = code
  }
}

const badRequest = 400
const unavailable = 503
const failedCall = 'failed to call webhook'

/** Decodes the body as JSON whatever its Content-Type. */
export function readReview(reply: EndpointResponse, apiVersion: string): AdmissionReview {
  const { status, body } = reply
  if (status < 200 || status > 206) throw new BadReviewError(`${failedCall}: ${describeStatus(reply)}`, status)
  if (body.length === 0) throw badCall('the response has no body')
  const value = parse(body)
  if (!isRecord(value)) throw badCall('the response is not an object')
  const { kind, apiVersion: version } = value
  if (kind === 'Status') {
    const { message = '' } = readStatus(value) ?? {}
    throw badCall(message)
  }
  if ((kind && kind !== reviewKind) || (version && version !== apiVersion))
    throw badCall(`the response is a ${describe(kind)} of ${describe(version)}, not a ${reviewKind} of ${apiVersion}`)
  try {
    return readValue(admissionReview, value).value as AdmissionReview
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) throw badCall(thrown.message)
    throw thrown
  }
}

const describe = (value: unknown): string => (typeof value === 'string' ? shorten(value) : '{…}')
const badCall = (why: string): BadReviewError => new BadReviewError(`${failedCall}: ${why}`, badRequest)

function parse(body: Uint8Array): unknown {
  try {
    return parseJson(body).value
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError) throw badCall(`couldn't get version/kind; json parse error: ${thrown.message}`)
    throw thrown
  }
}

interface ExpectedReview {
  readonly uid: string
  readonly version: ReviewVersion
  readonly apiVersion: string
  readonly mayPatch: boolean
}

export function checkResponse({ response, kind = '', apiVersion = '' }: AdmissionReview, expected: ExpectedReview): AdmissionResponse {
  if (response === undefined) throw invalid('webhook response was absent')
  if (expected.version === 'v1beta1') return asV1beta1(response, expected)
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

/** kube-apiserver never validated v1beta1 responses, and webhooks rely on that. */
function asV1beta1(response: AdmissionResponse, { mayPatch }: ExpectedReview): AdmissionResponse {
  const { patch, patchType: _patchType, ...rest } = response
  return mayPatch && patch ? { ...rest, patch, patchType: 'JSONPatch' } : rest
}

const invalid = (why: string): BadReviewError => new BadReviewError(`received invalid webhook response: ${why}`, unavailable)
