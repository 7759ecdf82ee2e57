// Errors of the client, distinguished by `kind`, and by `reason` if the server returned a Status.

import type { StatusCause, StatusDetails } from '@cluster-apiserver/api/api/api-error.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'

/** Known Status reasons; servers may send other reasons. */
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

export interface StatusBody {
  readonly kind?: 'Status'
  readonly status?: string
  readonly code?: number
  readonly reason?: Reason | (string & {})
  readonly message?: string
  readonly details?: StatusDetails
  readonly metadata?: { readonly continue?: string; readonly resourceVersion?: string }
}

/** The server responded with an error Status. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly kind = 'status'
  readonly code: number
  readonly reason: Reason | (string & {})
  readonly status: StatusBody

  constructor(status: StatusBody, code = status.code ?? 500) {
    super(status.message ?? `the server responded with ${code}`)
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

/** No response, or the connection broke before the end of the response. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly kind = 'connection'
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

export const closedError = (): ConnectionError => new ConnectionError('the client was closed', { code: closedCode })
export const isClosedError = (thrown: unknown): boolean =>
  isClientError(thrown) && thrown.kind === 'connection' && thrown.code === closedCode

/** The response cannot be parsed or violates the protocol. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly kind = 'protocol'
}

/** The request exceeded its timeout. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
  readonly kind = 'timeout'
}

/** The client configuration is incomplete or invalid. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly kind = 'configuration'
}

/** A credential plugin or credential file provided no credential. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError'
  readonly kind = 'credential'
}

/** Errors of requests, except the abort reason of the caller's signal and TypeErrors for invalid arguments. */
export type ClientError = StatusError | ConnectionError | ProtocolError | TimeoutError | ConfigError | CredentialError

const errorKinds: ReadonlySet<unknown> = new Set<ClientError['kind']>([
  'status',
  'connection',
  'protocol',
  'timeout',
  'configuration',
  'credential',
])

/** Compares `kind`, not the class: works across copies of this library and in Jest, which replaces globals. */
export const isClientError = (thrown: unknown): thrown is ClientError =>
  Object.prototype.toString.call(thrown) === '[object Error]' && errorKinds.has((thrown as Partial<ClientError>).kind)

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
/** The resourceVersion or continue token is too old: 410. */
export const isExpired = (thrown: unknown): thrown is StatusError =>
  isStatusError(thrown) && (thrown.code === 410 || thrown.reason === 'Expired' || thrown.reason === 'Gone')

/** The resourceVersion is newer than the server's state: 504 with cause ResourceVersionTooLarge. */
export const isVersionTooLarge = (thrown: unknown): thrown is StatusError =>
  isStatusError(thrown) && thrown.code === 504 && thrown.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge')

/** Wraps an error of a transport in a ConnectionError; abort reasons and errors of this library stay as they are. */
export function connectionError(thrown: unknown, where: string, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason
  if (isClientError(thrown)) return thrown
  return new ConnectionError(`${where}: ${errorMessage(thrown)}`, thrown)
}

/** Result of a request for callers that branch instead of catching. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ClientError }

/** Returns the result of a request as a value. Rethrows errors that are not ClientErrors, such as abort reasons. */
export async function outcomeOf<T>(request: Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await request }
  } catch (thrown) {
    if (isClientError(thrown)) return { ok: false, error: thrown }
    throw thrown
  }
}
