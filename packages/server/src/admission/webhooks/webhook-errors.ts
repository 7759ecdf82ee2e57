// What somebody else's service says where it answers with an error of HTTP, in the words of the reference.

import { quote } from '../../api/field-error.js'
import { type Status, status as statusSchema } from '../../api/meta.schema.js'
import { shorten } from '../../base/shorten.js'
import { parseJson } from '../../codec/json.js'
import type { EndpointAnswer } from '../../net/json-endpoint.js'
import { JsonSyntaxError } from '../../schema/json-parse.js'
import { isRecord, readValue, SchemaReadError } from '../../schema/read.js'

const messages: { readonly [status: number]: string } = {
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
const mostShown = 2048
/** What is longer tells nobody anything. */
const mostStatusBytes = 128 << 10

/** What an error of HTTP says, in the words of the reference: its own where it is a Status. */
export function describeStatus({ status, body, contentType = '' }: EndpointAnswer): string {
  const said = statusIn(body)
  if (said?.status === 'Failure') return shorten(said.message ?? '')
  const isText = contentType === '' || contentType.trim().toLowerCase().startsWith('text/')
  const text = isText ? shorten(body.subarray(0, mostShown).toString().trim()) : 'unknown'
  if (status === 403 || status === 415 || (status === 406 && text !== 'unknown' && text !== '')) return text
  if (status === 406) return 'the server was unable to respond with a content type that the client supports'
  const known = messages[status]
  if (known !== undefined) return known
  return status >= 500
    ? `an error on the server (${quote(text)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`
}

/** The Status in a body; undefined where there is none. */
export function statusIn(body: Uint8Array): Status | undefined {
  if (body.length > mostStatusBytes) return undefined
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
