// Quota usage of pods: requests and limits of their containers; terminated pods use only `count/pods`. Scopes of pods.

import type { Identity } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import { fromRequirements, type Requirement } from '../../api/selectors/label-selector.js'
import { compareText } from '../../base/text-order.js'
import type { Quantity } from '../../schema/quantity.js'
import { qosClassOf } from '../core/pod/qos-class.js'
import { isExtended, isHugePages, isNative } from '../core/pod-spec/resource-requirements.js'
import type { Container, PodSpec, ScopedResourceSelectorRequirement } from '../core/v1.schema.js'
import type { QuotaEvaluator, UsageContext } from './quota-evaluator.js'
import { type Amounts, addAmounts, largerAmounts, one, readAmounts } from './resource-amounts.js'

interface MeasuredPod extends ApiObject {
  readonly spec?: PodSpec
  readonly status?: { readonly phase?: string }
}

const podCount: Amounts = new Map([['count/pods', one]])
const computeResources = ['cpu', 'memory', 'ephemeral-storage']
const quotaResources = new Set(['count/pods', 'pods', ...computeResources.flatMap((name) => [name, `requests.${name}`, `limits.${name}`])])
/** Resources that every container must set if a quota limits them. */
const resourcesToSpecify = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])
const requestsPrefix = 'requests.'

export const podEvaluator: QuotaEvaluator = {
  usage: (object, context) => podUsage(object as MeasuredPod, context),
  counts: (name, identity) =>
    quotaResources.has(name) || isHugePages(name) || name.startsWith(`${requestsPrefix}hugepages-`) || isExtendedRequest(name, identity),
  isInScope: (scope: ScopedResourceSelectorRequirement, object) => isPodInScope(scope, object as MeasuredPod),
  constraintProblem: (limited, object) => constraintProblem(limited, (object as MeasuredPod).spec ?? {}),
  checksUpdates: false,
}

const isExtendedRequest = (name: string, identity: Identity): boolean => name.startsWith(requestsPrefix) && !isNative(name, identity)

function podUsage(pod: MeasuredPod, { identity, now }: UsageContext): Amounts {
  if (!isCounted(pod, now)) return podCount
  const { containers = [], initContainers = [], overhead } = pod.spec ?? {}
  const sum = (list: 'requests' | 'limits'): Amounts => {
    let total: Amounts = new Map()
    for (const { resources } of containers) total = addAmounts(total, readAmounts(resources?.[list]))
    // Init containers run one after another: the largest counts.
    for (const { resources } of initContainers) total = largerAmounts(total, readAmounts(resources?.[list]))
    return addAmounts(total, readAmounts(overhead))
  }
  return addAmounts(usageOf(sum('requests'), sum('limits'), identity), podCount)
}

/** False for terminated pods, and for pods past their deletion grace period (lost nodes), which use only `count/pods`. */
function isCounted({ metadata, status }: MeasuredPod, now: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return false
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata ?? {}
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return true
  return now <= Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000
}

/** Milliseconds since 1970 after which a pod that is being deleted uses only `count/pods`; undefined for other pods. */
export function endOfUsage({ metadata }: ApiObject): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata ?? {}
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return undefined
  return Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000
}

function usageOf(requested: Amounts, limits: Amounts, identity: Identity): Amounts {
  const usage = new Map<string, Quantity>([['pods', one]])
  for (const name of computeResources) {
    const request = requested.get(name)
    if (request !== undefined) {
      usage.set(name, request)
      usage.set(`${requestsPrefix}${name}`, request)
    }
    const limit = limits.get(name)
    if (limit !== undefined) usage.set(`limits.${name}`, limit)
  }
  for (const [name, request] of requested) {
    if (isHugePages(name)) {
      usage.set(name, request)
      usage.set(`${requestsPrefix}${name}`, request)
    } else if (isExtended(name, identity)) usage.set(`${requestsPrefix}${name}`, request)
  }
  return usage
}

function constraintProblem(limited: readonly string[], { containers = [], initContainers = [] }: PodSpec): string | undefined {
  const toSpecify = limited.filter((name) => resourcesToSpecify.has(name))
  if (toSpecify.length === 0) return undefined
  const missing = new Map<string, Set<string>>()
  for (const container of [...containers, ...initContainers]) {
    for (const name of toSpecify) {
      if (isSet(container, name)) continue
      const names = missing.get(name) ?? new Set()
      missing.set(name, names.add(container.name ?? ''))
    }
  }
  if (missing.size === 0) return undefined
  const parts = [...missing]
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, names]) => `${name} for: ${[...names].sort(compareText).join(',')}`)
  return `must specify ${parts.join('; ')}`
}

function isSet({ resources }: Container, name: string): boolean {
  if (name.startsWith('limits.')) return resources?.limits?.[name.slice('limits.'.length)] !== undefined
  return resources?.requests?.[name.startsWith(requestsPrefix) ? name.slice(requestsPrefix.length) : name] !== undefined
}

function isPodInScope(scope: ScopedResourceSelectorRequirement, { spec = {} }: MeasuredPod): boolean {
  switch (scope.scopeName) {
    case 'Terminating':
      return isTerminating(spec)
    case 'NotTerminating':
      return !isTerminating(spec)
    case 'BestEffort':
      return qosClassOf(spec) === 'BestEffort'
    case 'NotBestEffort':
      return qosClassOf(spec) !== 'BestEffort'
    case 'PriorityClass':
      return scope.operator === 'Exists' ? (spec.priorityClassName ?? '') !== '' : isOfPriority(scope, spec.priorityClassName ?? '')
    case 'CrossNamespacePodAffinity':
      return reachesOtherNamespaces(spec)
    default:
      return false
  }
}

const isTerminating = ({ activeDeadlineSeconds }: PodSpec): boolean => activeDeadlineSeconds !== undefined && activeDeadlineSeconds >= 0

const operators: { readonly [name: string]: Requirement['operator'] } = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
}

function isOfPriority(scope: ScopedResourceSelectorRequirement, className: string): boolean {
  const { scopeName = '', operator = '', values = [] } = scope
  const scopeError = (reason: string): Error =>
    new Error(`error on matching scope {${scopeName} ${operator} [${values.join(' ')}]}: failed to parse and convert selector: ${reason}`)
  const labelOperator = operators[operator]
  if (labelOperator === undefined) throw scopeError(`${JSON.stringify(operator)} is not a valid scope selector operator`)
  const wantsValues = labelOperator === 'in' || labelOperator === 'notin'
  if (wantsValues && values.length === 0)
    throw scopeError("values: Invalid value: []string{}: for 'in', 'notin' operators, values set can't be empty")
  if (!wantsValues && values.length > 0) throw scopeError('values: Invalid value: values set must be empty for exists and does not exist')
  const selector = fromRequirements([{ key: scopeName, operator: labelOperator, values }])
  return selector.matches(className === '' ? {} : { [scopeName]: className })
}

type Term = { readonly namespaces?: readonly string[]; readonly namespaceSelector?: object }

const selectsNamespaces = (terms: readonly Term[] | undefined): boolean =>
  (terms ?? []).some(({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined)

function reachesOtherNamespaces({ affinity }: PodSpec): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some(
    (podAffinity) =>
      selectsNamespaces(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution) ||
      selectsNamespaces(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution?.map(({ podAffinityTerm = {} }) => podAffinityTerm)),
  )
}
