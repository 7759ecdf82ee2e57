// Priority plugin: sets priority and preemption policy of pods from their PriorityClass; at most one class is the global default.

import { forbidden } from '@cluster-apiserver/api/api/api-error.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import type { Lookup } from '../lookup.js'
import { newPod, type Pod, refuseRequest, withSpec } from '../pod-requests.js'

interface PriorityClass extends ApiObject {
  readonly value?: number
  readonly globalDefault?: boolean
  readonly preemptionPolicy?: string
}

const priorityClasses = { group: { stem: 'scheduling' }, version: 'v1', resource: 'priorityclasses' }
const defaultPolicy = 'PreemptLowerPriority'

export function priority(lookup: Lookup): Plugin {
  return {
    name: 'Priority',
    collections: ['pods', lookup.resource(priorityClasses)?.collection ?? ''],
    mutate: async (request) => {
      const pod = newPod(request)
      return pod === undefined ? withStoredPriority(request) : withPriority(lookup, request, pod)
    },
    validate: async (request) => checkSingleDefault(lookup, request),
  }
}

/** An update without these fields keeps them: clients may know only the class name. */
function withStoredPriority(request: AdmissionRequest): ApiObject | undefined {
  if (request.operation !== 'UPDATE' || request.subresource !== '' || request.resource.collection !== 'pods') return request.object
  const pod = request.object as Pod
  const { priority: requestedPriority, preemptionPolicy: requestedPolicy } = pod.spec ?? {}
  const { priority: storedPriority, preemptionPolicy: storedPolicy } = (request.old as Pod | undefined)?.spec ?? {}
  if ((requestedPriority !== undefined || storedPriority === undefined) && (requestedPolicy !== undefined || storedPolicy === undefined))
    return pod
  return withSpec(pod, {
    ...(requestedPriority === undefined && storedPriority !== undefined ? { priority: storedPriority } : {}),
    ...(requestedPolicy === undefined && storedPolicy !== undefined ? { preemptionPolicy: storedPolicy } : {}),
  })
}

function withPriority(lookup: Lookup, request: AdmissionRequest, pod: Pod): ApiObject {
  const name = pod.spec?.priorityClassName ?? ''
  const priorityClass = name === '' ? defaultClass(lookup) : lookup.read<PriorityClass>(priorityClasses, { name })
  if (name !== '' && priorityClass === undefined) throw refuseRequest(request, `no PriorityClass with name ${name} was found`)
  const value = priorityClass?.value ?? 0
  const policy = priorityClass?.preemptionPolicy ?? defaultPolicy
  const { priority: requestedPriority, preemptionPolicy: requestedPolicy } = pod.spec ?? {}
  const computedText = (computedValue: unknown): string =>
    `must not be provided in pod spec; priority admission controller computed ${computedValue} from the given PriorityClass name`
  if (requestedPriority !== undefined && requestedPriority !== value)
    throw refuseRequest(request, `the integer value of priority (${requestedPriority}) ${computedText(value)}`)
  if (requestedPolicy !== undefined && requestedPolicy !== policy)
    throw refuseRequest(request, `the string value of PreemptionPolicy (${requestedPolicy}) ${computedText(policy)}`)
  const className = name === '' ? priorityClass?.metadata?.name : name
  return withSpec(pod, { ...(className === undefined ? {} : { priorityClassName: className }), priority: value, preemptionPolicy: policy })
}

/** Several global defaults exist only after concurrent writes; the one with the lowest value is used. */
function defaultClass(lookup: Lookup): PriorityClass | undefined {
  const [lowest] = lookup
    .list<PriorityClass>(priorityClasses, '"globalDefault":true')
    .filter(({ globalDefault }) => globalDefault)
    .sort((a, b) => (a.value ?? 0) - (b.value ?? 0))
  return lowest
}

function checkSingleDefault(lookup: Lookup, request: AdmissionRequest): void {
  if (request.resource.collection !== lookup.resource(priorityClasses)?.collection || request.operation === 'DELETE') return
  if (!(request.object as PriorityClass | undefined)?.globalDefault) return
  const other = defaultClass(lookup)?.metadata?.name
  if (other === undefined || (other === request.name && request.operation === 'UPDATE')) return
  throw forbidden(request.resource.subject, request.name, `PriorityClass ${other} is already marked as default. Only one default can exist`)
}
