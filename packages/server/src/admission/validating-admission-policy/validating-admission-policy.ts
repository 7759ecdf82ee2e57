// ValidatingAdmissionPolicy plugin: a request must satisfy the expressions of every matching policy, for every matching binding.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { dataOf } from '@cluster-apiserver/api/cel/values/json-values.js'
import type { Value } from '@cluster-apiserver/api/cel/values/values.js'
import type {
  BoundPolicy,
  CompiledBinding,
  CompiledPolicy,
} from '@cluster-apiserver/api/resources/admissionregistration/policy/compiled-policy.js'
import {
  type Decision,
  type EvaluatedExpression,
  evaluatePolicy,
  type Variables,
} from '@cluster-apiserver/api/resources/admissionregistration/policy/evaluate-policy.js'
import type { Criteria } from '@cluster-apiserver/api/resources/admissionregistration/policy/match-rules.js'
import type { ValidatingAdmissionPolicy } from '@cluster-apiserver/api/resources/admissionregistration/v1alpha1.schema.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import { cachePerScope, type MatchSource, match, mayMatch } from '../matching/match-request.js'
import type { MatchedKind } from '../matching/versioned-object.js'
import { refuseRequest } from '../pod-requests.js'
import { activePolicies, type PolicySource } from './active-policies.js'
import { ConfigurationError, PolicyVariables, paramResource, readParams } from './policy-variables.js'

/** Evaluates a policy in a worker thread. */
export type EvaluateInWorker = (call: Call, policy: ValidatingAdmissionPolicy, variables: PlainVariables) => Promise<readonly Decision[]>

/** Variables as JSON values, which can be sent to a worker thread. */
export type PlainVariables = { readonly [name: string]: unknown }

export interface PolicyParts extends MatchSource, PolicySource {
  readonly observe?: (policy: CompiledPolicy, evaluated: EvaluatedExpression) => void
  /** Undefined: policies are evaluated on the event loop, whatever the object's size. */
  readonly evaluateInWorker?: EvaluateInWorker | undefined
}

export function validatingAdmissionPolicy(parts: PolicyParts): Plugin {
  const active = activePolicies(parts)
  const candidates = cachePerScope(parts.catalogs, (all: readonly BoundPolicy[], request) =>
    all.filter(({ policy }) => mayMatch(policy.criteria, request, parts)),
  )
  // Otherwise a faulty policy could reject its own repair.
  const exemptCollections = new Set([parts.policies.collection, parts.bindings.collection])
  return {
    name: 'ValidatingAdmissionPolicy',
    validate: async (request) => {
      const all = active()
      if (all.length === 0 || exemptCollections.has(request.resource.collection)) return
      const policies = candidates(all, request)
      try {
        const [first] = await denialsOf(policies, request, parts)
        if (first !== undefined) throw refuse(request, first)
      } catch (thrown) {
        throw thrown instanceof InterruptedError ? thrown.cause : thrown
      }
    },
  }
}

interface Denial extends Pick<Decision, 'message' | 'reason'> {
  readonly policy: CompiledPolicy
  readonly binding: CompiledBinding | undefined
}

export async function denialsOf(
  policies: readonly BoundPolicy[],
  request: AdmissionRequest,
  parts: PolicyParts,
): Promise<readonly Denial[]> {
  const denials: Denial[] = []
  const evaluation = { request, values: new PolicyVariables(request), parts }
  for (const bound of policies) {
    const found = await checkPolicy(bound, evaluation)
    if (found !== undefined) denials.push(found)
    await turnBudget.yieldIfSpent()
    request.call.throwIfAborted()
  }
  return denials
}

interface RequestEvaluation {
  readonly request: AdmissionRequest
  readonly values: PolicyVariables
  readonly parts: PolicyParts
}

async function checkPolicy({ policy, bindings }: BoundPolicy, evaluation: RequestEvaluation): Promise<Denial | undefined> {
  const { request, parts } = evaluation
  const misconfigured = (thrown: unknown, binding: CompiledBinding | undefined): Denial | undefined => {
    const failedObject = binding === undefined ? 'policy' : 'binding'
    const message = `failed to configure ${failedObject}: ${messageOf(thrown)}`
    return policy.shouldIgnoreFailure ? undefined : { policy, binding, reason: 'Invalid', message }
  }
  let matched: MatchedKind | undefined
  let denial: Denial | undefined
  try {
    matched = match(policy.criteria, request, parts)
    if (matched === undefined) return undefined
    if (policy.paramKind !== undefined) paramResource(policy.paramKind, parts)
  } catch (thrown) {
    return misconfigured(thrown, undefined)
  }
  for (const binding of bindings) {
    await turnBudget.yieldIfSpent()
    try {
      if (!isBound(binding.criteria, request, parts)) continue
      const found = await checkBinding({ policy, binding, matched }, evaluation)
      denial ??= found
    } catch (thrown) {
      denial ??= misconfigured(thrown, binding)
    }
  }
  return denial
}

const isBound = (criteria: Criteria | undefined, request: AdmissionRequest, parts: PolicyParts): boolean =>
  criteria === undefined || match(criteria, request, parts) !== undefined

interface MatchedBinding {
  readonly policy: CompiledPolicy
  readonly binding: CompiledBinding
  readonly matched: MatchedKind
}

async function checkBinding(
  { policy, binding, matched }: MatchedBinding,
  { request, values, parts }: RequestEvaluation,
): Promise<Denial | undefined> {
  const { paramKind } = policy
  const { paramRef } = binding
  const params =
    paramKind === undefined || paramRef === undefined ? null : await readParams(paramResource(paramKind, parts), paramRef, parts)
  await policy.validations(turnBudget)
  const variables: { readonly [name: string]: Value } = {
    object: policy.usesVariable('object') ? await variableValue(values.object(matched)) : null,
    oldObject: policy.usesVariable('oldObject') ? await variableValue(values.old(matched)) : null,
    request: policy.usesVariable('request') ? values.request : null,
    params,
  }
  let denial: Denial | undefined
  for (const { isDenied, message, reason, seconds } of await decisionsOf(policy, variables, { request, values, parts })) {
    parts.counters.observe(policy.name, binding.name, isDenied ? 'deny' : 'allow', seconds)
    if (isDenied) denial ??= { policy, binding, message, reason }
  }
  return denial
}

/** The worker thread did not evaluate the policy; failurePolicy does not apply. */
class InterruptedError extends Error {
  override readonly cause: unknown
  constructor(cause: unknown) {
    super('the policy was not evaluated')
    this.cause = cause
  }
}

/** A CEL call on a string of this size can take hundreds of milliseconds and cannot be interrupted. */
const workerThresholdBytes = 32 << 10

async function decisionsOf(
  policy: CompiledPolicy,
  variables: Variables,
  { request: { call }, parts }: RequestEvaluation,
): Promise<readonly Decision[]> {
  const { evaluateInWorker, observe } = parts
  if (evaluateInWorker === undefined || call.bytes <= workerThresholdBytes) return await evaluatePolicy(policy, variables, { observe })
  const jsonVariables = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, dataOf(value)]))
  try {
    return await evaluateInWorker(call, policy.source, jsonVariables)
  } catch (thrown) {
    throw new InterruptedError(thrown)
  }
}

async function variableValue(value: Promise<Value>): Promise<Value> {
  try {
    return await value
  } catch (thrown) {
    throw new ConfigurationError(`failed to evaluate CEL expression: ${messageOf(thrown)}`)
  }
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof ConfigurationError || thrown instanceof ApiError) return thrown.message
  throw thrown
}

const codeByReason = new Map([
  ['Unauthorized', 401],
  ['Forbidden', 403],
  ['RequestEntityTooLarge', 413],
])

export function describeDenial({ policy, binding, message }: Denial): string {
  const bindingText = binding === undefined ? '' : ` with binding '${binding.name}'`
  return `ValidatingAdmissionPolicy '${policy.name}'${bindingText} denied request: ${message}`
}

function refuse(request: AdmissionRequest, denial: Denial): ApiError {
  const { reason } = denial
  const text = describeDenial(denial)
  const { status } = refuseRequest(request, text)
  return new ApiError({
    ...status,
    reason,
    code: codeByReason.get(reason) ?? 422,
    details: { ...status.details, causes: [{ message: text }] },
  })
}
