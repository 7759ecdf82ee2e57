// Policies that are written as expressions: a request that one of them is about must satisfy each, for every binding that is about it.

import { ApiError, forbidden } from '../../api/api-error.js'
import { nowOrInPieces, Pieces } from '../../base/pieces.js'
import type { Promised } from '../../base/promised.js'
import { dataOf } from '../../cel/data.js'
import type { Value } from '../../cel/values.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import { byPlace } from '../matching/by-place.js'
import { type Criteria, type MatchSource, match, mayMatch } from '../matching/match.js'
import type { SeenAs } from '../matching/seen-as.js'
import { refusedName } from '../pods.js'
import type { CompiledBinding, CompiledPolicy } from '../policy/compiled-policy.js'
import { type Asked, type Decision, type EvaluateInWorker, evaluatePolicy, type Variables } from '../policy/evaluate-policy.js'
import { ConfigurationError, paramResource, readParams } from '../policy/params.js'
import { type BoundPolicy, type PolicySource, policiesInForce } from '../policy/policies-in-force.js'
import { RequestValues } from '../policy/request-values.js'

export interface PolicyParts extends MatchSource, PolicySource {
  /** Told of each expression when it was asked; left out where nobody wants to know. */
  readonly observe?: (policy: CompiledPolicy, asked: Asked) => void
  /** Left out: policies are evaluated on the event loop whatever the size of the object. */
  readonly evaluateInWorker?: EvaluateInWorker | undefined
}

export function validatingAdmissionPolicy(parts: PolicyParts): Plugin {
  const inForce = policiesInForce(parts)
  const concerned = byPlace(parts.catalogs, (all: readonly BoundPolicy[], request) =>
    all.filter(({ policy }) => mayMatch(policy.criteria, request, parts)),
  )
  // A bad policy could not be mended if it were asked about itself.
  const exempt = new Set([parts.policies.collection, parts.bindings.collection])
  return {
    name: 'ValidatingAdmissionPolicy',
    validate: (request) => {
      const all = inForce()
      if (all.length === 0 || exempt.has(request.resource.collection)) return
      const policies = concerned(all, request)
      if (policies.length === 0) return
      const pieces = new Pieces(() => request.call.throwIfAborted())
      return nowOrInPieces(check(policies, request, parts), pieces)
    },
  }
}

export interface Refusal extends Pick<Decision, 'message' | 'reason'> {
  readonly policy: CompiledPolicy
  readonly binding: CompiledBinding | undefined
}

type Work<T> = Generator<unknown, T, void>

/** Everybody is asked, and the first refusal is told. */
function* check(policies: readonly BoundPolicy[], request: AdmissionRequest, parts: PolicyParts): Work<void> {
  try {
    const [first] = yield* refusalsOf(policies, request, parts)
    if (first !== undefined) throw refuse(request, first)
  } catch (thrown) {
    throw thrown instanceof InterruptedError ? thrown.cause : thrown
  }
}

/** One for each policy that refuses. */
export function* refusalsOf(policies: readonly BoundPolicy[], request: AdmissionRequest, parts: PolicyParts): Work<readonly Refusal[]> {
  const refusals: Refusal[] = []
  const subject = { request, values: new RequestValues(request), parts }
  for (const bound of policies) {
    const found = yield* checkPolicy(bound, subject)
    if (found !== undefined) refusals.push(found)
    yield
  }
  return refusals
}

interface Subject {
  readonly request: AdmissionRequest
  readonly values: RequestValues
  readonly parts: PolicyParts
}

function* checkPolicy({ policy, bindings }: BoundPolicy, subject: Subject): Work<Refusal | undefined> {
  const { request, parts } = subject
  const misconfigured = (thrown: unknown, binding: CompiledBinding | undefined): Refusal | undefined => {
    const what = binding === undefined ? 'policy' : 'binding'
    const message = `failed to configure ${what}: ${messageOf(thrown)}`
    return policy.isLenient ? undefined : { policy, binding, reason: 'Invalid', message }
  }
  let as: SeenAs | undefined
  let refusal: Refusal | undefined
  try {
    as = match(policy.criteria, request, parts)
    if (as === undefined) return undefined
    if (policy.paramKind !== undefined) paramResource(policy.paramKind, parts)
  } catch (thrown) {
    return misconfigured(thrown, undefined)
  }
  for (const binding of bindings) {
    yield
    try {
      if (!isBound(binding.criteria, request, parts)) continue
      const found = yield* checkBinding({ policy, binding, as }, subject)
      refusal ??= found
    } catch (thrown) {
      refusal ??= misconfigured(thrown, binding)
    }
  }
  return refusal
}

const isBound = (criteria: Criteria | undefined, request: AdmissionRequest, parts: PolicyParts): boolean =>
  criteria === undefined || match(criteria, request, parts) !== undefined

interface Bound {
  readonly policy: CompiledPolicy
  readonly binding: CompiledBinding
  readonly as: SeenAs
}

function* checkBinding({ policy, binding, as }: Bound, { request, values, parts }: Subject): Work<Refusal | undefined> {
  const { paramKind } = policy
  const { paramRef } = binding
  const params =
    paramKind === undefined || paramRef === undefined
      ? null
      : yield* settled(() => readParams(paramResource(paramKind, parts), paramRef, parts))
  yield* policy.validations()
  const variables: { readonly [name: string]: Value } = {
    object: policy.mentions('object') ? yield* converted(() => values.object(as)) : null,
    oldObject: policy.mentions('oldObject') ? yield* converted(() => values.old(as)) : null,
    request: policy.mentions('request') ? values.asked : null,
    params,
  }
  let refusal: Refusal | undefined
  for (const { isDenied, message, reason, seconds } of yield* decisionsOf(policy, variables, { request, values, parts })) {
    parts.tallies.took(policy.name, binding.name, isDenied ? 'deny' : 'allow', seconds)
    if (isDenied) refusal ??= { policy, binding, message, reason }
  }
  return refusal
}

/** No worker thread evaluated the policy: neither a verdict nor a fault of the policy, whatever its failurePolicy says. */
class InterruptedError extends Error {
  override readonly cause: unknown
  constructor(cause: unknown) {
    super('the policy was not evaluated')
    this.cause = cause
  }
}

/** One call on a text of this size can take hundreds of milliseconds, and cannot be interrupted. */
const largeBytes = 32 << 10

function* decisionsOf(policy: CompiledPolicy, variables: Variables, { request: { call }, parts }: Subject): Work<readonly Decision[]> {
  const { evaluateInWorker, observe } = parts
  if (evaluateInWorker === undefined || call.bytes <= largeBytes) return yield* evaluatePolicy(policy, variables, { observe })
  const plain = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, dataOf(value)]))
  return yield* settled(() =>
    evaluateInWorker(call, policy.source, plain).catch((thrown: unknown) => {
      throw new InterruptedError(thrown)
    }),
  )
}

/** A value that may have to be waited for. */
function* settled<T>(ask: () => Promised<T>): Work<T> {
  const asked = ask()
  if (!(asked instanceof Promise)) return asked
  let take: () => T = () => {
    throw new Error('the caller did not wait')
  }
  yield asked.then(
    (value) => {
      take = () => value
    },
    (thrown: unknown) => {
      take = () => {
        throw thrown
      }
    },
  )
  return take()
}

function* converted(ask: () => Promised<Value>): Work<Value> {
  try {
    return yield* settled(ask)
  } catch (thrown) {
    throw new ConfigurationError(`failed to evaluate CEL expression: ${messageOf(thrown)}`)
  }
}

/** What is wrong with the policy or what it asks for; anything else is nobody's configuration. */
function messageOf(thrown: unknown): string {
  if (thrown instanceof ConfigurationError || thrown instanceof ApiError) return thrown.message
  throw thrown
}

const codes = new Map([
  ['Unauthorized', 401],
  ['Forbidden', 403],
  ['RequestEntityTooLarge', 413],
])

/** In one sentence. */
export function describeRefusal({ policy, binding, message }: Refusal): string {
  const by = binding === undefined ? '' : ` with binding '${binding.name}'`
  return `ValidatingAdmissionPolicy '${policy.name}'${by} denied request: ${message}`
}

function refuse(request: AdmissionRequest, refusal: Refusal): ApiError {
  const { reason } = refusal
  const text = describeRefusal(refusal)
  const { status } = forbidden(request.resource.subject, refusedName(request), text)
  return new ApiError({
    ...status,
    reason,
    code: codes.get(reason) ?? 422,
    details: { ...status.details, causes: [{ message: text }] },
  })
}
