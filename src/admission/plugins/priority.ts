// The priority of a pod is that of its class; there is at most one class for pods that name none.

import { forbidden } from '../../api/api-error.js'
import type { ApiObject } from '../../api/object.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import type { Lookup } from '../lookup.js'
import { newPod, type Pod, refusePod, withSpec } from '../pods.js'

interface PriorityClass extends ApiObject {
  readonly value?: number
  readonly globalDefault?: boolean
  readonly preemptionPolicy?: string
}

const classes = { group: { stem: 'scheduling' }, version: 'v1', resource: 'priorityclasses' }
const usualPolicy = 'PreemptLowerPriority'

export function priority(lookup: Lookup): Plugin {
  return {
    name: 'Priority',
    collections: ['pods', lookup.resource(classes)?.collection ?? ''],
    mutate: (request) => {
      const pod = newPod(request)
      return pod === undefined ? keptPriority(request) : prioritised(lookup, request, pod)
    },
    validate: (request) => checkDefault(lookup, request),
  }
}

/** What an update leaves out of these is as it was: clients that know the class alone send the pod without them. */
function keptPriority(request: AdmissionRequest): ApiObject | undefined {
  if (request.operation !== 'UPDATE' || request.subresource !== '' || request.resource.collection !== 'pods') return request.object
  const pod = request.object as Pod
  const { priority: given, preemptionPolicy: givenPolicy } = pod.spec ?? {}
  const { priority: old, preemptionPolicy: oldPolicy } = (request.old as Pod | undefined)?.spec ?? {}
  if ((given !== undefined || old === undefined) && (givenPolicy !== undefined || oldPolicy === undefined)) return pod
  return withSpec(pod, {
    ...(given === undefined && old !== undefined ? { priority: old } : {}),
    ...(givenPolicy === undefined && oldPolicy !== undefined ? { preemptionPolicy: oldPolicy } : {}),
  })
}

function prioritised(lookup: Lookup, request: AdmissionRequest, pod: Pod): ApiObject {
  const name = pod.spec?.priorityClassName ?? ''
  const found = name === '' ? defaultClass(lookup) : lookup.read<PriorityClass>(classes, { name })
  if (name !== '' && found === undefined) throw refusePod(request, `no PriorityClass with name ${name} was found`)
  const value = found?.value ?? 0
  const policy = found?.preemptionPolicy ?? usualPolicy
  const { priority: given, preemptionPolicy: givenPolicy } = pod.spec ?? {}
  const computed = (what: unknown): string =>
    `must not be provided in pod spec; priority admission controller computed ${what} from the given PriorityClass name`
  if (given !== undefined && given !== value) throw refusePod(request, `the integer value of priority (${given}) ${computed(value)}`)
  if (givenPolicy !== undefined && givenPolicy !== policy)
    throw refusePod(request, `the string value of PreemptionPolicy (${givenPolicy}) ${computed(policy)}`)
  const className = name === '' ? found?.metadata?.name : name
  return withSpec(pod, { ...(className === undefined ? {} : { priorityClassName: className }), priority: value, preemptionPolicy: policy })
}

/** Of several, which only a race can bring about, the one of least priority. */
function defaultClass(lookup: Lookup): PriorityClass | undefined {
  const [least] = lookup
    .list<PriorityClass>(classes)
    .filter(({ globalDefault }) => globalDefault)
    .sort((a, b) => (a.value ?? 0) - (b.value ?? 0))
  return least
}

function checkDefault(lookup: Lookup, request: AdmissionRequest): void {
  if (request.resource.collection !== lookup.resource(classes)?.collection || request.operation === 'DELETE') return
  if (!(request.object as PriorityClass | undefined)?.globalDefault) return
  const other = defaultClass(lookup)?.metadata?.name
  if (other === undefined || (other === request.name && request.operation === 'UPDATE')) return
  throw forbidden(request.resource.subject, request.name, `PriorityClass ${other} is already marked as default. Only one default can exist`)
}
