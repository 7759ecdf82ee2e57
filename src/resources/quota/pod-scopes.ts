// The scopes by which quotas tell pods apart: by how long they run, what they are guaranteed, how important they are, and whom they want near.

import { fromRequirements, type Requirement } from '../../api/label-selector.js'
import { qosClassOf } from '../core/pod/qos-class.js'
import type { PodSpec, ScopedResourceSelectorRequirement } from '../core/v1.schema.js'
import type { MeasuredPod } from './pod-usage.js'

export function isPodInScope(scope: ScopedResourceSelectorRequirement, { spec = {} }: MeasuredPod): boolean {
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
  const wrong = (why: string): Error =>
    new Error(`error on matching scope {${scopeName} ${operator} [${values.join(' ')}]}: failed to parse and convert selector: ${why}`)
  const known = operators[operator]
  if (known === undefined) throw wrong(`${JSON.stringify(operator)} is not a valid scope selector operator`)
  const wantsValues = known === 'in' || known === 'notin'
  if (wantsValues && values.length === 0)
    throw wrong("values: Invalid value: []string{}: for 'in', 'notin' operators, values set can't be empty")
  if (!wantsValues && values.length > 0) throw wrong('values: Invalid value: values set must be empty for exists and does not exist')
  const selector = fromRequirements([{ key: scopeName, operator: known, values }])
  return selector.matches(className === '' ? {} : { [scopeName]: className })
}

type Term = { readonly namespaces?: readonly string[]; readonly namespaceSelector?: object }

const reaches = (terms: readonly Term[] | undefined): boolean =>
  (terms ?? []).some(({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined)

function reachesOtherNamespaces({ affinity }: PodSpec): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some(
    (each) =>
      reaches(each?.requiredDuringSchedulingIgnoredDuringExecution) ||
      reaches(each?.preferredDuringSchedulingIgnoredDuringExecution?.map(({ podAffinityTerm = {} }) => podAffinityTerm)),
  )
}
