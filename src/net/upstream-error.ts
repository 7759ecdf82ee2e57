// Why somebody else's server did not answer, in the words in which clients of the reference know it.

import { hostOf, portOf } from './upstream.js'

/** Nothing of an answer has come. */
export class UpstreamError extends Error {
  /** Whether its certificate, or ours, was the reason. */
  readonly isTls: boolean

  constructor(message: string, isTls = false, cause?: unknown) {
    super(message, { cause })
    this.isTls = isTls
  }
}

/** The way of a request: what failed is said with it. */
export interface Way {
  readonly url: URL
  readonly isConnected: boolean
}

export function upstreamError(thrown: unknown, way: Way): UpstreamError {
  if (thrown instanceof UpstreamError) return thrown
  const error = thrown as NodeJS.ErrnoException & { readonly reason?: string }
  const code = error.code ?? ''
  const tls = tlsProblem(code, error, way)
  if (tls !== undefined) return new UpstreamError(tls, true, error)
  return new UpstreamError(way.isConnected ? (brokenWords[code] ?? error.message) : dialProblem(code, error, way), false, error)
}

const brokenWords: { readonly [code: string]: string } = {
  ECONNRESET: 'EOF',
  EPIPE: 'write: broken pipe',
  HPE_HEADER_OVERFLOW: 'net/http: HTTP/1.x transport connection broken: the headers of the answer are too long',
}

const dialWords: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connect: connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'connect: connection timed out',
}

function dialProblem(code: string, error: Error, { url }: Way): string {
  const host = hostOf(url)
  const at = `${host.includes(':') ? `[${host}]` : host}:${portOf(url)}`
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${host}: no such host`
  if (code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: server misbehaving`
  return `dial tcp ${at}: ${dialWords[code] ?? error.message}`
}

const unknownAuthorities: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

function tlsProblem(code: string, { message, reason }: Error & { readonly reason?: string }, { url }: Way): string | undefined {
  if (unknownAuthorities.has(code)) return 'x509: certificate signed by unknown authority'
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') return 'x509: certificate has expired or is not yet valid'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `x509: certificate is not valid for ${hostOf(url)}${reason === undefined ? '' : ` (${reason})`}`
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG')
    return 'http: server gave HTTP response to HTTPS client'
  return code.startsWith('CERT_') || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') ? `tls: ${message}` : undefined
}
