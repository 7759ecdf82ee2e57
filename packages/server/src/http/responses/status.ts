// The body of every error, and of deletions that answer with a word of success.

import type { ApiError, StatusBody } from '../api/api-error.js'
import { writeAny } from '../schema/write.js'

/** In the order in which the reference writes it. */
export const statusObject = (
  status: Partial<StatusBody> & { readonly status: 'Success' | 'Failure' },
): { readonly [key: string]: unknown } => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: status.metadata ?? {},
  status: status.status,
  message: status.message || undefined,
  reason: status.reason || undefined,
  details: status.details,
  code: status.code,
})

export const failure = (error: ApiError): { readonly [key: string]: unknown } => statusObject({ ...error.status, status: 'Failure' })

export const statusText = (status: { readonly [key: string]: unknown }): string => `${writeAny(status)}\n`
