// Evaluates policies on one request and explains the result: why a policy applies or not, and the cost and trace of each expression.

import type { ApiObject } from '../../../api/object.js'
import type { Labels } from '../../../api/selectors/label-selector.js'
import { maxCost } from '../../../cel/cost/cost-units.js'
import { estimateCost } from '../../../cel/cost/estimate-cost.js'
import { traceExpression } from '../../../cel/trace.js'
import { valueOfJson } from '../../../cel/values/json-values.js'
import { CelError, type Value } from '../../../cel/values/values.js'
import type { ParamKind, ParamRef } from '../v1alpha1.schema.js'
import type { BoundPolicy, CompiledBinding, CompiledPolicy, Turns } from './compiled-policy.js'
import { type EvaluatedExpression, evaluatePolicy } from './evaluate-policy.js'
import { type Criteria, matchesName, matchesRule, type RequestScope } from './match-rules.js'
import { type RequestAttributes, requestVariable } from './request-variable.js'

export interface TriedRequest extends RequestAttributes, RequestScope {
  readonly resource: RequestScope['resource']
  readonly object: ApiObject | undefined
  readonly old: ApiObject | undefined
}

export interface TrialSource {
  /** The same objects in other versions and groups, for matchPolicy Equivalent. */
  readonly equivalents: readonly RequestScope['resource'][]
  /** Labels of the request's namespace; undefined if they are unknown. */
  readonly namespaceLabels: Labels | undefined
  readonly readParams: (kind: ParamKind, ref: ParamRef) => Promise<ApiObject | undefined>
  readonly turns: Turns
}

interface TracedExpression {
  readonly text: string
  readonly value: string
}

export interface ExpressionTrial {
  readonly text: string
  /** `skipped`: the expression does not compile, or the cost budget was spent before it. */
  readonly result: 'true' | 'false' | 'error' | 'skipped'
  readonly message: string
  readonly cost: number
  /** At worst, for this expression alone; undefined if unbounded. */
  readonly estimatedCost: bigint | undefined
  readonly trace: readonly TracedExpression[]
}

export interface PolicyTrial {
  readonly policy: string
  readonly binding: string
  readonly verdict: 'allowed' | 'denied' | 'does not apply'
  /** Why the policy does not apply, or the messages of the denial. */
  readonly reasons: readonly string[]
  readonly expressions: readonly ExpressionTrial[]
  readonly cost: number
}

/** One result for each binding, and one for a policy without a binding. */
export async function tryPolicies(
  policies: readonly BoundPolicy[],
  request: TriedRequest,
  source: TrialSource,
): Promise<readonly PolicyTrial[]> {
  const trials: PolicyTrial[] = []
  for (const { policy, bindings } of policies) {
    const mismatch = mismatchOf(policy.criteria, request, source)
    if (bindings.length === 0) trials.push(notApplied(policy, '', mismatch ?? 'the policy has no binding'))
    for (const binding of bindings) {
      const reason = mismatch ?? (binding.criteria && prefixed('the binding: ', mismatchOf(binding.criteria, request, source)))
      trials.push(reason === undefined ? await tryBinding({ policy, binding }, request, source) : notApplied(policy, binding.name, reason))
      await source.turns.yieldIfSpent()
    }
  }
  return trials
}

const prefixed = (prefix: string, text: string | undefined): string | undefined => (text === undefined ? undefined : prefix + text)

const notApplied = (policy: CompiledPolicy, binding: string, reason: string): PolicyTrial => ({
  policy: policy.name,
  binding,
  verdict: 'does not apply',
  reasons: [reason],
  expressions: [],
  cost: 0,
})

/** Why the criteria do not match; undefined if they do. */
function mismatchOf({ rules, excluded = [], isEquivalent, namespaces, objects }: Criteria, request: TriedRequest, source: TrialSource) {
  const { operation, resource, subresource, name, namespace, object, old } = request
  const seenAs = isEquivalent ? [resource, ...source.equivalents] : [resource]
  const isMatch = (list: NonNullable<Criteria['rules']>): boolean =>
    list.some((rule) => matchesName(rule, name) && seenAs.some((each) => matchesRule(rule, { operation, resource: each, subresource })))
  if (isMatch(excluded)) return 'excludeResourceRules match the request'
  if (rules !== undefined && !isMatch(rules)) return 'no resource rule matches the operation, resource and name'
  if (!objects.isEverything && ![object, old].some((each) => each !== undefined && objects.matches(each.metadata?.labels)))
    return 'objectSelector does not match the labels of the object'
  const isNamespace = resource.group === '' && resource.name === 'namespaces'
  if (namespaces.isEverything || (namespace === '' && !isNamespace)) return undefined
  const labels = isNamespace ? (object ?? old)?.metadata?.labels : source.namespaceLabels
  if (labels === undefined && !isNamespace) return `namespaceSelector needs the labels of namespace ${namespace}, which are unknown`
  return namespaces.matches(labels) ? undefined : 'namespaceSelector does not match the labels of the namespace'
}

interface Bound {
  readonly policy: CompiledPolicy
  readonly binding: CompiledBinding
}

async function tryBinding({ policy, binding }: Bound, request: TriedRequest, source: TrialSource): Promise<PolicyTrial> {
  const params = await paramsOf(policy, binding, source)
  const compiled = await policy.validations(source.turns)
  const base = { policy: policy.name, binding: binding.name }
  if (params === undefined) {
    const verdict = policy.shouldIgnoreFailure ? 'allowed' : 'denied'
    return {
      ...base,
      verdict,
      reasons: [`failed to configure binding: ${binding.paramRef?.name ?? ''} not found`],
      expressions: [],
      cost: 0,
    }
  }
  const variables = {
    object: valueOfJson(request.object ?? null),
    oldObject: valueOfJson(request.old ?? null),
    request: requestVariable(request),
    params,
  }
  const evaluated = new Map<number, EvaluatedExpression>()
  const decisions = await evaluatePolicy(policy, variables, {
    observe: (_, each) => evaluated.set(each.index, each),
    turns: source.turns,
  })
  const expressions: ExpressionTrial[] = []
  for (const [index, { validation, program, problem }] of compiled.entries()) {
    const found = evaluated.get(index)
    expressions.push({
      text: validation.expression ?? '',
      ...outcomeOf(found, problem, validation.message),
      cost: found?.cost ?? 0,
      estimatedCost: program === undefined ? undefined : bounded(estimateCost(program.checked, undefined)),
      trace: found === undefined || program === undefined ? [] : traceExpression(program, variables, traceLimit),
    })
    await source.turns.yieldIfSpent()
  }
  return {
    ...base,
    verdict: decisions.some(({ isDenied }) => isDenied) ? 'denied' : 'allowed',
    reasons: decisions.map(({ isDenied, message }) => (isDenied ? message : `ignored by failurePolicy: ${message}`)),
    expressions,
    cost: expressions.reduce((sum, { cost }) => sum + cost, 0),
  }
}

/** Cost limit of each traced part: parts are evaluated again, and without interruption. */
const traceLimit = 20_000

const bounded = (cost: bigint): bigint | undefined => (cost >= maxCost ? undefined : cost)

function outcomeOf(evaluated: EvaluatedExpression | undefined, problem: string, message = ''): Pick<ExpressionTrial, 'result' | 'message'> {
  if (evaluated === undefined) return { result: 'skipped', message: problem === '' ? 'the cost budget of the policy was spent' : problem }
  const { value } = evaluated
  if (value instanceof CelError) return { result: 'error', message: value.message }
  return value === true ? { result: 'true', message: '' } : { result: 'false', message: message.trim() }
}

/** Undefined if the parameter object does not exist. */
async function paramsOf({ paramKind }: CompiledPolicy, { paramRef }: CompiledBinding, source: TrialSource): Promise<Value | undefined> {
  if (paramKind === undefined || paramRef === undefined) return null
  const found = await source.readParams(paramKind, paramRef)
  return found === undefined ? undefined : valueOfJson(found)
}
