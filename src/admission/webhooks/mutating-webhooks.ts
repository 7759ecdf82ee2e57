// Hooks that may change an object on its way in: one after the other, each sees what those before it made of the object.

import { type ApiObject, withMetadata } from '../../api/object.js'
import { sameValue } from '../../api/validation/same-value.js'
import { onceFor } from '../../base/once-for.js'
import { entryProblems } from '../../patch/check-entries.js'
import { writeAny } from '../../schema/write.js'
import type { AdmissionRequest, Plugin, Rounds } from '../admission.js'
import { type MatchSource, matchesSelectors } from '../matching/match.js'
import { isExempt } from '../matching/rules.js'
import { applyPatch } from './apply-patch.js'
import { askHook } from './ask-hook.js'
import { type CallParts, callHook } from './call-hook.js'
import type { Candidate, FindCandidates } from './hook-list.js'
import type { HookTallies } from './hook-tallies.js'

export interface WebhookParts {
  readonly find: FindCandidates
  readonly source: MatchSource
  readonly call: CallParts
  readonly tallies: HookTallies
  /** No hook is asked about what the server writes before it serves: one that does not answer would keep it from serving. */
  readonly isServing: () => boolean
}

/** What is known of hooks between the two rounds of a request. */
interface HookRounds {
  /** What hooks made of the object in the first round. */
  last: ApiObject | undefined
  /** Those that want to be asked again if the object is changed from now on. */
  eligible: Set<string>
  /** Those that are asked again. */
  readonly again: Set<string>
  /** Whether a patch was applied before. */
  wasPatched: boolean
}

const roundsOf = onceFor((_rounds: Rounds): HookRounds => ({ last: undefined, eligible: new Set(), again: new Set(), wasPatched: false }))

export function mutatingWebhooks(parts: WebhookParts): Plugin {
  return {
    name: 'MutatingAdmissionWebhook',
    mutate: (request) => {
      const candidates = parts.find(request)
      if (candidates.length === 0 || !parts.isServing() || isExempt(request)) return undefined
      if (!candidates.some(({ hook }) => matchesSelectors(hook.criteria, request, parts.source))) return undefined
      return mutateBy(candidates, request, parts)
    },
  }
}

async function mutateBy(candidates: readonly Candidate[], request: AdmissionRequest, parts: WebhookParts): Promise<ApiObject | undefined> {
  const { rounds } = request
  const state = roundsOf(rounds)
  const round = rounds.isAgain ? 1 : 0
  // Other plugins have changed what hooks made of it.
  if (rounds.isAgain && !sameValue(state.last, request.object)) requireAgain(state)
  let seen = request
  for (const candidate of candidates) {
    const { hook } = candidate
    if (!matchesSelectors(hook.criteria, seen, parts.source)) continue
    if (rounds.isAgain && !state.again.has(hook.id)) continue
    const object = await mutateByOne(candidate, seen, parts, { round, state })
    if (object !== undefined) {
      requireAgain(state)
      rounds.wantsAgain = true
      seen = seen.withObject(object)
    }
    if (hook.isReinvoked) state.eligible.add(hook.id)
    request.call.throwIfAborted()
  }
  const object = withSoundOwners(request, seen.object)
  state.last = object
  return object
}

/** Who owns which field is the server's to say: what a hook made of it must at least be readable, or is as it was. */
function withSoundOwners({ object: before, call }: AdmissionRequest, after: ApiObject | undefined): ApiObject | undefined {
  if (after === undefined || after === before) return after
  const [problem] = entryProblems(after.metadata?.managedFields)
  if (problem === undefined) return after
  const why =
    'was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests'
  call.warn(`.metadata.managedFields ${why}: ${problem.field}: ${problem.message}`)
  return withMetadata(after, { managedFields: before?.metadata?.managedFields })
}

function requireAgain(state: HookRounds): void {
  for (const id of state.eligible) state.again.add(id)
  state.eligible = new Set()
}

/** The object where the hook changed it. */
async function mutateByOne(
  candidate: Candidate,
  request: AdmissionRequest,
  parts: WebhookParts,
  { round, state }: { readonly round: number; readonly state: HookRounds },
): Promise<ApiObject | undefined> {
  const { hook, as } = candidate
  const key = (prefix: string): string =>
    `${prefix}.webhook.${request.identity.group({ stem: 'admission' })}/round_${round}_index_${hook.index}`
  const about = { configuration: hook.configuration, webhook: hook.name }
  let mutated = false
  const failedOpen = (): void => request.annotate(key('failed-open.mutation'), hook.name)
  try {
    const patched = await askHook(hook, request, { tallies: parts.tallies, step: 'admit', failedOpen }, async () => {
      const response = await callHook(candidate, request, parts.call)
      return applyPatch(request, { hook: hook.name, as, isFirst: !state.wasPatched }, response)
    })
    if (patched === undefined) return undefined
    mutated = patched.isChanged
    state.wasPatched = true
    request.call.caller.annotate(key('patch'), writeAny({ ...about, patch: patched.operations, patchType: 'JSONPatch' }), 'Request')
    return mutated ? patched.object : undefined
  } finally {
    request.annotate(key('mutation'), writeAny({ ...about, mutated }))
  }
}
