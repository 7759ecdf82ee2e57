// Errors of webhook calls: failed calls, which failurePolicy covers, and rejections, which it does not.

import { ApiError, type StatusDetails } from '@cluster-apiserver/api/api/api-error.js'
import { quote } from '@cluster-apiserver/api/api/field-error.js'
import { type Status, status as statusSchema } from '@cluster-apiserver/api/api/meta.schema.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { parseJson } from '@cluster-apiserver/api/codec/json/json.js'
import { JsonSyntaxError } from '@cluster-apiserver/api/schema/json/parse-json.js'
import { isRecord, readValue, SchemaReadError } from '@cluster-apiserver/api/schema/json/read.js'
import type { EndpointResponse } from '../../net/outbound/json-endpoint.js'

export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError'
  readonly code: number
  constructor(webhook: string, reason: string, code: number, options?: ErrorOptions) {
    super(`failed calling webhook ${quote(webhook)}: ${reason}`, options)
    this.code = code
  }
}

export class WebhookRejection extends Error {
  override readonly name = 'WebhookRejection'
  readonly error: ApiError
  constructor(error: ApiError) {
    super(error.message)
    this.error = error
  }
}

const minCode = 400
const maxCode = 599
const fallbackCode = 500

export function rejection(webhook: string, { code = 0, reason = '', message = '', details }: Status = {}): WebhookRejection {
  const deniedBy = `admission webhook ${quote(webhook)} denied the request`
  const why = message === '' ? reason : message
  return new WebhookRejection(
    new ApiError({
      // Only HTTP error codes can be sent.
      code: code > maxCode ? fallbackCode : Math.max(code, minCode),
      ...(reason === '' ? {} : { reason }),
      message: why === '' ? `${deniedBy} without explanation` : `${deniedBy}: ${why}`,
      ...(details === undefined ? {} : { details: details as StatusDetails }),
    }),
  )
}

const messageByStatus: { readonly [status: number]: string } = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}
const maxShownBytes = 2048
const maxStatusBytes = 128 << 10

export function describeStatus({ status, body, contentType = '' }: EndpointResponse): string {
  const bodyStatus = statusIn(body)
  if (bodyStatus?.status === 'Failure') return shorten(bodyStatus.message ?? '')
  const isText = contentType === '' || contentType.trim().toLowerCase().startsWith('text/')
  const text = isText ? shorten(body.subarray(0, maxShownBytes).toString().trim()) : 'unknown'
  if (status === 403 || status === 415 || (status === 406 && text !== 'unknown' && text !== '')) return text
  if (status === 406) return 'the server was unable to respond with a content type that the client supports'
  const message = messageByStatus[status]
  if (message !== undefined) return message
  return status >= 500
    ? `an error on the server (${quote(text)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`
}

export function statusIn(body: Uint8Array): Status | undefined {
  if (body.length > maxStatusBytes) return undefined
  try {
    return readStatus(parseJson(body).value)
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError) return undefined
    throw thrown
  }
}

export function readStatus(value: unknown): Status | undefined {
  if (!isRecord(value)) return undefined
  const { kind = 'Status' } = value
  if (kind !== 'Status') return undefined
  try {
    return readValue(statusSchema, value).value as Status
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) return undefined
    throw thrown
  }
}
