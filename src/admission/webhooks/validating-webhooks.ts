// Hooks that have a say in whether an object may enter: all of them are asked at once, and the first refusal counts.

import type { AdmissionRequest, Plugin } from '../admission.js'
import { matchesSelectors } from '../matching/match.js'
import { isExempt } from '../matching/rules.js'
import { askHook } from './ask-hook.js'
import { callHook } from './call-hook.js'
import type { Candidate } from './hook-list.js'
import type { WebhookParts } from './mutating-webhooks.js'

export function validatingWebhooks(parts: WebhookParts): Plugin {
  return {
    name: 'ValidatingAdmissionWebhook',
    validate: (request) => {
      const candidates = parts.find(request)
      if (candidates.length === 0 || !parts.isServing() || isExempt(request)) return undefined
      const relevant = candidates.filter(({ hook }) => matchesSelectors(hook.criteria, request, parts.source))
      return relevant.length === 0 ? undefined : validateBy(relevant, request, parts)
    },
  }
}

/** Waits for all of them: what they say for the audit log and to the client counts whoever refuses. */
async function validateBy(relevant: readonly Candidate[], request: AdmissionRequest, parts: WebhookParts): Promise<void> {
  const [only] = relevant
  if (only !== undefined && relevant.length === 1) return validateByOne(only, 0, request, parts)
  const refusals: unknown[] = []
  await Promise.all(
    relevant.map((candidate, i) =>
      validateByOne(candidate, i, request, parts).catch((thrown: unknown) => {
        refusals.push(thrown)
      }),
    ),
  )
  if (refusals.length > 0) throw refusals[0]
}

async function validateByOne(candidate: Candidate, index: number, request: AdmissionRequest, parts: WebhookParts): Promise<void> {
  const { hook } = candidate
  const failedOpen = (): void => {
    const group = request.identity.group({ stem: 'admission' })
    request.annotate(`failed-open.validating.webhook.${group}/round_0_index_${index}`, hook.name)
  }
  await askHook(hook, request, { tallies: parts.tallies, step: 'validating', failedOpen }, () => callHook(candidate, request, parts.call))
}
