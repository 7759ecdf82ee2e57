// Why somebody else's server did not answer, in the words in which clients of the reference know it.

import { describeNetworkFailure } from './network-failure.js'

interface UpstreamErrorOptions extends ErrorOptions {
  readonly isTls?: boolean
  readonly isConnected?: boolean
}

/** Nothing of an answer has come. */
export class UpstreamError extends Error {
  /** Whether its certificate, or ours, was the reason. */
  readonly isTls: boolean
  /** Whether it was reached at all. */
  readonly isConnected: boolean

  constructor(message: string, { isTls = false, isConnected = true, cause }: UpstreamErrorOptions = {}) {
    super(message, { cause })
    this.isTls = isTls
    this.isConnected = isConnected
  }
}

/** An answer that is none, as its reader said. */
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
  const words = code === 'HPE_HEADER_OVERFLOW' ? tooLong : describeNetworkFailure(thrown)
  const isTls = words.startsWith('x509:') || words.startsWith('tls:')
  return new UpstreamError(words, { isTls, isConnected: isConnected && !isTls, cause: thrown })
}

const tooLong = 'net/http: HTTP/1.x transport connection broken: the headers of the answer are too long'
