// An error response of the control API: an HTTP status and the text of its member `error`.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'

type ErrorStatus = 400 | 401 | 404 | 405 | 409 | 413 | 503

export class ControlError extends Error {
  override readonly name = 'ControlError'
  readonly status: ErrorStatus
  /** Allowed methods, for the header of status 405. */
  readonly allow: readonly string[] | undefined

  constructor(status: ErrorStatus, message: string, allow?: readonly string[]) {
    super(message)
    this.status = status
    this.allow = allow
  }
}

/** Awaits a call of the embedding API: invalid arguments (TypeError, RangeError) are 400, other errors 409: the state does not allow it. */
export async function orRefuse<T>(call: () => T | Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (thrown) {
    if (thrown instanceof ControlError) throw thrown
    const isInvalid = thrown instanceof TypeError || thrown instanceof RangeError
    throw new ControlError(isInvalid ? 400 : 409, errorMessage(thrown))
  }
}
