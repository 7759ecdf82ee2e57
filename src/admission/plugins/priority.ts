// The priority of a pod is that of its class; there is at most one class for pods that name none.

import { forbidden } from '../../api/api-error.js'
import type { ApiObject } from '../../api/object.js'
import type { Attempt, Plugin } from '../admission.js'
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
    mutate: (attempt) => {
      const pod = newPod(attempt)
      return pod === undefined ? attempt.object : prioritised(lookup, attempt, pod)
    },
    validate: (attempt) => checkDefault(lookup, attempt),
  }
}

function prioritised(lookup: Lookup, attempt: Attempt, pod: Pod): ApiObject {
  const name = pod.spec?.priorityClassName ?? ''
  const found = name === '' ? defaultClass(lookup) : lookup.read<PriorityClass>(classes, { name })
  if (name !== '' && found === undefined) throw refusePod(attempt, `no PriorityClass with name ${name} was found`)
  const value = found?.value ?? 0
  const policy = found?.preemptionPolicy ?? usualPolicy
  const { priority: given, preemptionPolicy: givenPolicy } = pod.spec ?? {}
  const computed = (what: unknown): string =>
    `must not be provided in pod spec; priority admission controller computed ${what} from the given PriorityClass name`
  if (given !== undefined && given !== value) throw refusePod(attempt, `the integer value of priority (${given}) ${computed(value)}`)
  if (givenPolicy !== undefined && givenPolicy !== policy)
    throw refusePod(attempt, `the string value of PreemptionPolicy (${givenPolicy}) ${computed(policy)}`)
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

function checkDefault(lookup: Lookup, attempt: Attempt): void {
  if (attempt.resource.collection !== lookup.resource(classes)?.collection || attempt.operation === 'DELETE') return
  if (!(attempt.object as PriorityClass | undefined)?.globalDefault) return
  const other = defaultClass(lookup)?.metadata?.name
  if (other === undefined || other === attempt.name) return
  throw forbidden(attempt.resource.subject, attempt.name, `PriorityClass ${other} is already marked as default. Only one default can exist`)
}
