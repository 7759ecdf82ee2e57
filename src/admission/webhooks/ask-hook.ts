// What comes of asking a hook, with its failure policy: an answer, nothing because it may be left out, or the error that ends the request.

import { ApiError } from '../../api/api-error.js'
import type { AdmissionRequest } from '../admission.js'
import type { Hook } from './hook.js'
import { HookCallError, HookRejection } from './hook-errors.js'
import type { HookStep, HookTallies } from './hook-tallies.js'

export interface AskParts {
  readonly tallies: HookTallies
  readonly step: HookStep
  /** Told where the hook could not be asked and the request goes on. */
  readonly failedOpen: () => void
}

const allOk = 200

/** Counts and decides; `work` asks the hook and does what it says. Undefined: it could not be asked, and need not be. */
export async function askHook<T>(
  hook: Hook,
  request: AdmissionRequest,
  { tallies, step, failedOpen }: AskParts,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const { name, failsOpen } = hook
  const { operation, call } = request
  const asked = { name, step, operation }
  const begunMs = performance.now()
  const took = (rejected: boolean, code: number): void => {
    tallies.asked(asked, rejected, code, (performance.now() - begunMs) / 1000)
  }
  try {
    const result = await work()
    took(false, allOk)
    return result
  } catch (thrown) {
    // Whoever waited has gone, or their time is up.
    call.throwIfAborted()
    if (thrown instanceof HookRejection) {
      took(true, thrown.error.status.code)
      tallies.rejected(asked, 'no_error', thrown.error.status.code)
      throw thrown.error
    }
    if (!(thrown instanceof HookCallError)) {
      took(true, 0)
      tallies.rejected(asked, 'apiserver_internal_error', 0)
      throw thrown
    }
    took(!failsOpen, thrown.code)
    if (!failsOpen) {
      tallies.rejected(asked, 'calling_webhook_error', thrown.code)
      throw ApiError.from(thrown)
    }
    tallies.failedOpen(asked)
    failedOpen()
    return undefined
  }
}
