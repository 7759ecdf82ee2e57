// Which refusal means that a namespace takes nothing new because it is going. Hooks, policies and quotas refuse with the same code, and may allow it later.

import { ApiError } from '../../api/api-error.js'

export const isNamespaceGoing = (thrown: unknown): boolean =>
  thrown instanceof ApiError &&
  thrown.status.code === 403 &&
  (thrown.status.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating')
