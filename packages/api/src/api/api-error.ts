// The one error that leaves the server: everything a Status says. Whatever else is thrown becomes one through `ApiError.from`.

import { listSome, shorten } from '../base/shorten.js'
import { type FieldError, mostErrors, quote } from './field-error.js'

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
  /** What the Status says about a list: an expired page names a token to go on with. */
  readonly metadata?: { readonly continue?: string }
}

/** Which resource an error speaks of: `{ group, resource }` names a collection, and `kind` an object of it. */
export interface Subject {
  readonly group: string
  readonly resource: string
  readonly kind: string
}

export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: StatusBody
  constructor(status: StatusBody, options?: ErrorOptions) {
    const message = shorten(status.message, mostMessage)
    super(message, options)
    this.status = message === status.message ? status : { ...status, message }
  }

  /** The one door: an error of any making, as the Status that the client shall see. */
  static from(thrown: unknown): ApiError {
    if (thrown instanceof ApiError) return thrown
    const text = shorten(thrown instanceof Error ? thrown.message : String(thrown), mostInternal)
    return new ApiError(
      { code: 500, reason: 'InternalError', message: `Internal error occurred: ${text}`, details: { causes: [{ message: text }] } },
      { cause: thrown },
    )
  }
}

/** The words of an error that nobody foresaw may hold anything. */
const mostInternal = 1024
/** What no message passes: a hundred errors with a place, a value and a reason each. */
const mostMessage = 128 * 1024

const qualified = (name: string, group: string): string => (group === '' ? name : `${name}.${group}`)
const resourceDetails = (subject: Subject, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name: shorten(name) }),
  ...(subject.group === '' ? {} : { group: subject.group }),
  kind: subject.resource,
})
const kindDetails = (subject: Subject, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name: shorten(name) }),
  ...(subject.group === '' ? {} : { group: subject.group }),
  ...(subject.kind === '' ? {} : { kind: subject.kind }),
})

export const badRequest = (message: string): ApiError => new ApiError({ code: 400, reason: 'BadRequest', message })

export const notFound = (subject: Subject, name: string): ApiError =>
  new ApiError({
    code: 404,
    reason: 'NotFound',
    message: `${qualified(subject.resource, subject.group)} ${quote(name)} not found`,
    details: resourceDetails(subject, name),
  })

export const alreadyExists = (subject: Subject, name: string): ApiError =>
  new ApiError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${qualified(subject.resource, subject.group)} ${quote(name)} already exists`,
    details: resourceDetails(subject, name),
  })

export const conflict = (subject: Subject, name: string, why: string): ApiError =>
  new ApiError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualified(subject.resource, subject.group)} ${quote(name)}: ${why}`,
    details: resourceDetails(subject, name),
  })

export const forbidden = (subject: Subject, name: string, why: string): ApiError =>
  new ApiError({
    code: 403,
    reason: 'Forbidden',
    message:
      subject.resource === ''
        ? `forbidden: ${why}`
        : name === ''
          ? `${qualified(subject.resource, subject.group)} is forbidden: ${why}`
          : `${qualified(subject.resource, subject.group)} ${quote(name)} is forbidden: ${why}`,
    details: resourceDetails(subject, name),
  })

/** What validation found, in one answer: of very many errors the first ones, and how many more there are. */
export function invalid(subject: Pick<Subject, 'group' | 'kind'>, name: string, errors: readonly FieldError[]): ApiError {
  const told = errors.slice(0, mostErrors).map((error) => ({ ...error, field: shorten(error.field) }))
  const lines = [...new Set(told.map((error) => `${error.field}: ${error.message}`))]
  const text = lines.length === 1 && errors.length <= mostErrors ? lines[0] : `[${listSome(lines, errors.length - told.length)}]`
  return new ApiError({
    code: 422,
    reason: 'Invalid',
    message: `${qualified(subject.kind, subject.group)} ${quote(name)} is invalid: ${text}`,
    details: {
      ...kindDetails({ ...subject, resource: '' }, name),
      causes: told.map((error) => ({ reason: error.reason, message: error.message, field: error.field })),
    },
  })
}

export const methodNotSupported = (subject: Subject, verb: string): ApiError =>
  new ApiError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: `${verb} is not supported on resources of kind "${qualified(subject.resource, subject.group)}"`,
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

/** The time of a request is up, or its client has gone: what it asked for is not done any more. */
export const requestTimedOut = (): ApiError =>
  new ApiError({ code: 504, reason: 'Timeout', message: 'Timeout: request did not complete within the allotted timeout', details: {} })

/** `comesAgain` where to wait for the version and ask again is how clients read: with one page after the other it is not. */
export const tooLargeResourceVersion = (asked: number | string, current: number, comesAgain: boolean): ApiError =>
  new ApiError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      ...(comesAgain ? { retryAfterSeconds: 1 } : {}),
    },
  })

export const requestEntityTooLarge = (why: string): ApiError =>
  new ApiError({ code: 413, reason: 'RequestEntityTooLarge', message: `Request entity too large: ${why}` })

export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError =>
  new ApiError({ code: 429, reason: 'TooManyRequests', message, details: { retryAfterSeconds } })

/** What may be there in a moment: clients come again by themselves. */
export const unavailable = (message: string): ApiError =>
  new ApiError({ code: 503, reason: 'ServiceUnavailable', message, details: { retryAfterSeconds: 1 } })

/** What is not there, and will not be because somebody asks again. */
export const notThere = (message: string): ApiError => new ApiError({ code: 503, reason: 'ServiceUnavailable', message })

/** Another draw of the name may be free. */
export function generatedNameExists(subject: Subject, name: string): ApiError {
  const { status } = alreadyExists(subject, name)
  const message = `${status.message}, the server was not able to generate a unique name for the object`
  return new ApiError({ ...status, message, details: { ...status.details, retryAfterSeconds: 1 } })
}
