// Converts the kubelet's error response to a log request into the Status that kube-apiserver returns.

import { ApiError, badRequest } from '@cluster-apiserver/api/api/api-error.js'
import type { UpstreamRefusal } from '../../net/proxy/upstream-error.js'

interface RequestedLog {
  readonly resource: string
  readonly name: string
}

interface StatusText {
  readonly reason: string
  readonly message?: string
}

const statusTexts: { readonly [code: number]: StatusText } = {
  401: { reason: 'Unauthorized', message: 'the server has asked for the client to provide credentials' },
  // Without `message`, the text of the kubelet's response is used.
  403: { reason: 'Forbidden' },
  404: { reason: 'NotFound', message: 'the server could not find the requested resource' },
  405: { reason: 'MethodNotAllowed', message: 'the server does not allow this method on the requested resource' },
  406: { reason: 'NotAcceptable' },
  409: { reason: 'Conflict', message: 'the server reported a conflict' },
  415: { reason: 'UnsupportedMediaType' },
  422: { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
  429: { reason: 'TooManyRequests', message: 'the server has received too many requests and has asked us to try again later' },
  503: { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' },
  504: {
    reason: 'Timeout',
    message: 'the server was unable to return a response in the time allotted, but may still be processing the request',
  },
}

export function kubeletError({ code, text }: UpstreamRefusal, { resource, name }: RequestedLog): ApiError {
  if (code === 400) return badRequest(text)
  if (code === 500)
    return new ApiError({
      code,
      reason: 'InternalError',
      message: `Internal error occurred: ${text}`,
      details: { causes: [{ message: text }] },
    })
  const { reason, message } = statusTextOf(code, text)
  return new ApiError({
    code,
    ...(reason === '' ? {} : { reason }),
    message: `${message ?? text} ( ${resource} ${name})`,
    details: { name, kind: resource },
  })
}

function statusTextOf(code: number, text: string): StatusText {
  const known = statusTexts[code]
  if (known !== undefined) return known
  if (code > 500)
    return {
      reason: 'InternalError',
      message: `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`,
    }
  return { reason: '', message: `the server responded with the status code ${code} but did not return more information` }
}
