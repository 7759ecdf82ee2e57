// What can go wrong for a client, as values that a program can tell apart: by `kind`, and for answers of the server by `reason`.

import type { StatusCause, StatusDetails } from '../api/api-error.js'

/** The reasons that servers give; others may come. */
export type Reason =
  | 'AlreadyExists'
  | 'BadRequest'
  | 'Conflict'
  | 'Expired'
  | 'Forbidden'
  | 'Gone'
  | 'InternalError'
  | 'Invalid'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'NotFound'
  | 'RequestEntityTooLarge'
  | 'ServerTimeout'
  | 'ServiceUnavailable'
  | 'Timeout'
  | 'TooManyRequests'
  | 'Unauthorized'
  | 'UnsupportedMediaType'

/** A Status as it comes over the wire. */
export interface StatusAnswer {
  readonly kind?: 'Status'
  readonly status?: string
  readonly code?: number
  readonly reason?: Reason | (string & {})
  readonly message?: string
  readonly details?: StatusDetails
  readonly metadata?: { readonly continue?: string; readonly resourceVersion?: string }
}

/** The server answered, and said no. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly kind = 'status'
  readonly code: number
  readonly reason: Reason | (string & {})
  readonly status: StatusAnswer

  constructor(status: StatusAnswer, code = status.code ?? 500) {
    super(status.message ?? `the server answered ${code}`)
    this.code = code
    this.reason = status.reason ?? ''
    this.status = status
  }

  get details(): StatusDetails {
    return this.status.details ?? {}
  }

  get causes(): readonly StatusCause[] {
    return this.status.details?.causes ?? []
  }

  get retryAfterSeconds(): number | undefined {
    return this.status.details?.retryAfterSeconds
  }
}

/** No answer came, or it broke off. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly kind = 'connection'
  /** Such as `ECONNREFUSED`, where the system says one. */
  readonly code: string

  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.code = codeOf(cause)
  }
}

const codeOf = (cause: unknown): string => {
  const code = (cause as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : ''
}

const closedCode = 'ERR_CLIENT_CLOSED'

/** What a client that was closed answers every request with. */
export const closedError = (): ConnectionError => new ConnectionError('the client was closed', { code: closedCode })
export const isClosedError = (thrown: unknown): boolean =>
  isClientError(thrown) && thrown.kind === 'connection' && thrown.code === closedCode

/** An answer came that cannot be understood. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly kind = 'protocol'
}

/** It took longer than the caller allowed. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
  readonly kind = 'timeout'
}

/** The client configuration does not say what it must. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly kind = 'configuration'
}

/** A credential plugin, or a file with a credential, did not give one. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError'
  readonly kind = 'credential'
}

/** Everything that requests fail with, but for the reason of the caller's own AbortSignal. */
export type ClientError = StatusError | ConnectionError | ProtocolError | TimeoutError | ConfigError | CredentialError

const kinds: ReadonlySet<unknown> = new Set<ClientError['kind']>([
  'status',
  'connection',
  'protocol',
  'timeout',
  'configuration',
  'credential',
])

/**
 * By what they say they are: two copies of this library in one process know each other's errors, also where each has globals of its own, as in
 * tests that Jest runs.
 */
export const isClientError = (thrown: unknown): thrown is ClientError =>
  Object.prototype.toString.call(thrown) === '[object Error]' && kinds.has((thrown as Partial<ClientError>).kind)

const isStatusError = (thrown: unknown): thrown is StatusError => isClientError(thrown) && thrown.kind === 'status'

const hasReason =
  (reason: Reason) =>
  (thrown: unknown): thrown is StatusError =>
    isStatusError(thrown) && thrown.reason === reason

export const isNotFound = (thrown: unknown): thrown is StatusError => isStatusError(thrown) && thrown.code === 404
export const isAlreadyExists = hasReason('AlreadyExists')
export const isConflict = hasReason('Conflict')
export const isForbidden = hasReason('Forbidden')
export const isInvalid = hasReason('Invalid')
export const isUnauthorized = (thrown: unknown): thrown is StatusError => isStatusError(thrown) && thrown.code === 401
/** The version from which a list or a watch was to go on is not kept any more. */
export const isExpired = (thrown: unknown): thrown is StatusError =>
  isStatusError(thrown) && (thrown.code === 410 || thrown.reason === 'Expired' || thrown.reason === 'Gone')

/** The server has not seen the version from which it was to read or watch, and did not see it within the time that it waits. */
export const isVersionTooLarge = (thrown: unknown): thrown is StatusError =>
  isStatusError(thrown) && thrown.code === 504 && thrown.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge')

/** How a request ended, for callers who would rather branch than catch. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ClientError }

/** The outcome of a request as a value. What is no error of a request (an abort, a mistake in the program) is thrown on. */
export async function outcomeOf<T>(request: Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await request }
  } catch (thrown) {
    if (isClientError(thrown)) return { ok: false, error: thrown }
    throw thrown
  }
}
