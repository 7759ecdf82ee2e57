// The Status object: the body of most errors, and of deletions and actions without a result.

import type { ApiError, StatusBody } from '@cluster-apiserver/api/api/api-error.js'

/** Fields in the order of kube-apiserver. */
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
