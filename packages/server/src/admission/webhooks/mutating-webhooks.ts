// MutatingAdmissionWebhook plugin: calls webhooks one after another, each with the object that the previous ones returned.

import { type ApiObject, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { entryProblems } from '@cluster-apiserver/api/patch/managed-fields/validate-managed-fields.js'
import { writeAny } from '@cluster-apiserver/api/schema/json/write.js'
import type { AdmissionRequest, Plugin, Reinvocation } from '../admission-plugin.js'
import { isExempt, type MatchSource, matchesSelectors } from '../matching/match-request.js'
import { applyPatch } from './apply-webhook-patch.js'
import { type CallParts, callWebhook, withFailurePolicy } from './call-webhook.js'
import type { Candidate, FindCandidates } from './webhook.js'
import type { WebhookCounters } from './webhook-counters.js'

export interface WebhookParts {
  readonly find: FindCandidates
  readonly source: MatchSource
  readonly call: CallParts
  readonly counters: WebhookCounters
  /** Webhooks are not called for the server's own writes before it serves: an unreachable webhook would block the start. */
  readonly isServing: () => boolean
}

interface ReinvocationState {
  lastObject: ApiObject | undefined
  eligible: Set<string>
  readonly mustReinvoke: Set<string>
  wasPatched: boolean
}

const reinvocationStateOf = weakMemoize(
  (_reinvocation: Reinvocation): ReinvocationState => ({
    lastObject: undefined,
    eligible: new Set(),
    mustReinvoke: new Set(),
    wasPatched: false,
  }),
)

export function mutatingWebhooks(parts: WebhookParts): Plugin {
  return {
    name: 'MutatingAdmissionWebhook',
    mutate: async (request) => {
      const candidates = parts.find(request)
      if (candidates.length === 0 || !parts.isServing() || isExempt(request)) return undefined
      if (!candidates.some(({ webhook }) => matchesSelectors(webhook.criteria, request, parts.source))) return undefined
      return mutateByAll(candidates, request, parts)
    },
  }
}

async function mutateByAll(
  candidates: readonly Candidate[],
  request: AdmissionRequest,
  parts: WebhookParts,
): Promise<ApiObject | undefined> {
  const { reinvocation } = request
  const state = reinvocationStateOf(reinvocation)
  const round = reinvocation.isReinvocation ? 1 : 0
  if (reinvocation.isReinvocation && !sameValue(state.lastObject, request.object)) requireReinvocation(state)
  let current = request
  for (const candidate of candidates) {
    const { webhook } = candidate
    if (!matchesSelectors(webhook.criteria, current, parts.source)) continue
    if (reinvocation.isReinvocation && !state.mustReinvoke.has(webhook.id)) continue
    const object = await mutateByOne(candidate, current, parts, { round, state })
    if (object !== undefined) {
      requireReinvocation(state)
      reinvocation.isRequested = true
      current = current.withObject(object)
    }
    if (webhook.shouldReinvoke) state.eligible.add(webhook.id)
    request.call.throwIfAborted()
  }
  const object = withValidManagedFields(request, current.object)
  state.lastObject = object
  return object
}

/** Restores managedFields if a webhook made them invalid. */
function withValidManagedFields({ object: before, call }: AdmissionRequest, after: ApiObject | undefined): ApiObject | undefined {
  if (after === undefined || after === before) return after
  const [problem] = entryProblems(after.metadata?.managedFields)
  if (problem === undefined) return after
  const why =
    'was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests'
  call.warn(`.metadata.managedFields ${why}: ${problem.field}: ${problem.message}`)
  return withMetadata(after, { managedFields: before?.metadata?.managedFields })
}

function requireReinvocation(state: ReinvocationState): void {
  for (const id of state.eligible) state.mustReinvoke.add(id)
  state.eligible = new Set()
}

async function mutateByOne(
  candidate: Candidate,
  request: AdmissionRequest,
  parts: WebhookParts,
  { round, state }: { readonly round: number; readonly state: ReinvocationState },
): Promise<ApiObject | undefined> {
  const { webhook, matched } = candidate
  const annotationKey = (prefix: string): string =>
    `${prefix}.webhook.${request.identity.group({ stem: 'admission' })}/round_${round}_index_${webhook.index}`
  const names = { configuration: webhook.configuration, webhook: webhook.name }
  let mutated = false
  const failedOpen = (): void => request.annotate(annotationKey('failed-open.mutation'), webhook.name)
  try {
    const patched = await withFailurePolicy(webhook, request, { counters: parts.counters, step: 'admit', failedOpen }, async () => {
      const response = await callWebhook(candidate, request, parts.call)
      return applyPatch(request, { webhook: webhook.name, matched, isFirst: !state.wasPatched }, response)
    })
    if (patched === undefined) return undefined
    mutated = patched.isChanged
    state.wasPatched = true
    request.call.caller.annotate(
      annotationKey('patch'),
      writeAny({ ...names, patch: patched.operations, patchType: 'JSONPatch' }),
      'Request',
    )
    return mutated ? patched.object : undefined
  } finally {
    request.annotate(annotationKey('mutation'), writeAny({ ...names, mutated }))
  }
}
