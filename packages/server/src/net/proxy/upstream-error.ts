// Errors of upstream servers, with the messages of kube-apiserver.

import { networkErrorMessage } from '../outbound/network-error-message.js'

interface UpstreamErrorOptions extends ErrorOptions {
  readonly isTls?: boolean
  readonly isConnected?: boolean
}

export class UpstreamError extends Error {
  readonly isTls: boolean
  /** False if the connection failed. */
  readonly isConnected: boolean

  constructor(message: string, { isTls = false, isConnected = true, cause }: UpstreamErrorOptions = {}) {
    super(message, { cause })
    this.isTls = isTls
    this.isConnected = isConnected
  }
}

/** A response that the caller refused, with its body as text. */
export class UpstreamRefusal extends Error {
  readonly code: number
  readonly text: string

  constructor(code: number, text: string) {
    super(`status ${code}`)
    this.code = code
    this.text = text
  }
}

export function upstreamError(thrown: unknown, isConnected: boolean): UpstreamError {
  if (thrown instanceof UpstreamError) return thrown
  const { code } = thrown as NodeJS.ErrnoException
  const message = code === 'HPE_HEADER_OVERFLOW' ? headersTooLong : networkErrorMessage(thrown)
  const isTls = message.startsWith('x509:') || message.startsWith('tls:')
  return new UpstreamError(message, { isTls, isConnected: isConnected && !isTls, cause: thrown })
}

const headersTooLong = 'net/http: HTTP/1.x transport connection broken: the response headers are too long'
