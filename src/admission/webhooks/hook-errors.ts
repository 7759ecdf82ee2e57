// What can go wrong with a hook: it could not be asked, or it said no. Only the first is a matter of its failure policy.

import { ApiError, type StatusDetails } from '../../api/api-error.js'
import { quote } from '../../api/field-error.js'
import type { Status } from '../../api/meta.schema.js'

/** It could not be asked, or gave no answer that counts. */
export class HookCallError extends Error {
  override readonly name = 'HookCallError'
  /** The HTTP status that metrics tell. */
  readonly code: number
  constructor(hook: string, reason: string, code: number, options?: ErrorOptions) {
    super(`failed calling webhook ${quote(hook)}: ${reason}`, options)
    this.code = code
  }
}

/** It said no. */
export class HookRejection extends Error {
  override readonly name = 'HookRejection'
  readonly error: ApiError
  constructor(error: ApiError) {
    super(error.message)
    this.error = error
  }
}

const leastCode = 400
const mostCode = 599
const lastResort = 500

/** What the client is told of a refusal: what the hook says of it, and in any case an error. */
export function rejection(hook: string, { code = 0, reason = '', message = '', details }: Status = {}): HookRejection {
  const deniedBy = `admission webhook ${quote(hook)} denied the request`
  const why = message === '' ? reason : message
  return new HookRejection(
    new ApiError({
      // A number that HTTP does not have cannot be sent.
      code: code > mostCode ? lastResort : Math.max(code, leastCode),
      ...(reason === '' ? {} : { reason }),
      message: why === '' ? `${deniedBy} without explanation` : `${deniedBy}: ${why}`,
      ...(details === undefined ? {} : { details: details as StatusDetails }),
    }),
  )
}
