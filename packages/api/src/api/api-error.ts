// ApiError: an error with HTTP status code and Status body. `ApiError.from` turns any other thrown value into an InternalError.

import { errorMessage } from '../base/error-message.js'
import { listSome, shorten } from '../base/shorten.js'
import { type FieldError, maxErrors, quote } from './field-error.js'

export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

export interface StatusBody {
  readonly code: number
  readonly reason?: string
  readonly message: string
  readonly details?: StatusDetails
  readonly metadata?: { readonly continue?: string }
}

/** Resource that an error is about. */
export interface ErrorSubject {
  readonly group: string
  readonly resource: string
  readonly kind: string
}

export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: StatusBody
  constructor(status: StatusBody, options?: ErrorOptions) {
    const message = shorten(status.message, maxMessageLength)
    super(message, options)
    this.status = message === status.message ? status : { ...status, message }
  }

  static from(thrown: unknown): ApiError {
    if (thrown instanceof ApiError) return thrown
    const text = shorten(errorMessage(thrown), maxInternalMessageLength)
    return new ApiError(
      { code: 500, reason: 'InternalError', message: `Internal error occurred: ${text}`, details: { causes: [{ message: text }] } },
      { cause: thrown },
    )
  }
}

/** Characters of an unexpected error in an InternalError message; errors up to twice as long are kept whole. */
const maxInternalMessageLength = 1024
/** Characters of a shortened Status message; messages up to twice as long are kept whole. 100 field errors fit. */
const maxMessageLength = 128 * 1024

const nameWithGroup = (name: string, group: string): string => (group === '' ? name : `${name}.${group}`)
const resourceDetails = (subject: ErrorSubject, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name: shorten(name) }),
  ...(subject.group === '' ? {} : { group: subject.group }),
  kind: subject.resource,
})
const kindDetails = (subject: ErrorSubject, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name: shorten(name) }),
  ...(subject.group === '' ? {} : { group: subject.group }),
  ...(subject.kind === '' ? {} : { kind: subject.kind }),
})

export const badRequest = (message: string): ApiError => new ApiError({ code: 400, reason: 'BadRequest', message })

export const notFound = (subject: ErrorSubject, name: string): ApiError =>
  new ApiError({
    code: 404,
    reason: 'NotFound',
    message: `${nameWithGroup(subject.resource, subject.group)} ${quote(name)} not found`,
    details: resourceDetails(subject, name),
  })

export const alreadyExists = (subject: ErrorSubject, name: string): ApiError =>
  new ApiError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${nameWithGroup(subject.resource, subject.group)} ${quote(name)} already exists`,
    details: resourceDetails(subject, name),
  })

export const conflict = (subject: ErrorSubject, name: string, detail: string): ApiError =>
  new ApiError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${nameWithGroup(subject.resource, subject.group)} ${quote(name)}: ${detail}`,
    details: resourceDetails(subject, name),
  })

export const forbidden = (subject: ErrorSubject, name: string, detail: string): ApiError =>
  new ApiError({
    code: 403,
    reason: 'Forbidden',
    message:
      subject.resource === ''
        ? `forbidden: ${detail}`
        : name === ''
          ? `${nameWithGroup(subject.resource, subject.group)} is forbidden: ${detail}`
          : `${nameWithGroup(subject.resource, subject.group)} ${quote(name)} is forbidden: ${detail}`,
    details: resourceDetails(subject, name),
  })

export function invalid(subject: Pick<ErrorSubject, 'group' | 'kind'>, name: string, errors: readonly FieldError[]): ApiError {
  const reported = errors.slice(0, maxErrors).map((error) => ({ ...error, field: shorten(error.field) }))
  const lines = [...new Set(reported.map((error) => `${error.field}: ${error.message}`))]
  const text = lines.length === 1 && errors.length <= maxErrors ? lines[0] : `[${listSome(lines, errors.length - reported.length)}]`
  return new ApiError({
    code: 422,
    reason: 'Invalid',
    message: `${nameWithGroup(subject.kind, subject.group)} ${quote(name)} is invalid: ${text}`,
    details: {
      ...kindDetails({ ...subject, resource: '' }, name),
      causes: reported.map((error) => ({ reason: error.reason, message: error.message, field: error.field })),
    },
  })
}

export const methodNotSupported = (subject: ErrorSubject, verb: string): ApiError =>
  new ApiError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: `${verb} is not supported on resources of kind "${nameWithGroup(subject.resource, subject.group)}"`,
    details: resourceDetails(subject, ''),
  })

export const unauthorized = (message = 'Unauthorized'): ApiError => new ApiError({ code: 401, reason: 'Unauthorized', message })

export const expired = (message: string): ApiError => new ApiError({ code: 410, reason: 'Expired', message })

export const unsupportedMediaType = (accepted: readonly string[]): ApiError =>
  new ApiError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  })

export const notAcceptable = (accepted: readonly string[]): ApiError =>
  new ApiError({
    code: 406,
    reason: 'NotAcceptable',
    message: `only the following media types are accepted: ${accepted.join(', ')}`,
  })

export const requestTimedOut = (): ApiError =>
  new ApiError({ code: 504, reason: 'Timeout', message: 'Timeout: request did not complete within the allotted timeout', details: {} })

/** `hasRetryAfter`: the response asks the client to retry after 1 s. */
export const tooLargeResourceVersion = (requested: number | string, current: number, hasRetryAfter: boolean): ApiError =>
  new ApiError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${requested}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      ...(hasRetryAfter ? { retryAfterSeconds: 1 } : {}),
    },
  })

export const requestEntityTooLarge = (detail: string): ApiError =>
  new ApiError({ code: 413, reason: 'RequestEntityTooLarge', message: `Request entity too large: ${detail}` })

export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError =>
  new ApiError({ code: 429, reason: 'TooManyRequests', message, details: { retryAfterSeconds } })

export const unavailable = (message: string): ApiError =>
  new ApiError({ code: 503, reason: 'ServiceUnavailable', message, details: { retryAfterSeconds: 1 } })

export const unavailableWithoutRetry = (message: string): ApiError => new ApiError({ code: 503, reason: 'ServiceUnavailable', message })

export function generatedNameExists(subject: ErrorSubject, name: string): ApiError {
  const { status } = alreadyExists(subject, name)
  const message = `${status.message}, the server was not able to generate a unique name for the object`
  return new ApiError({ ...status, message, details: { ...status.details, retryAfterSeconds: 1 } })
}
