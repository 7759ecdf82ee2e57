// What containers, pods and claims ask for keeps within the limit ranges of their namespace, and containers that ask for nothing get the defaults.

import { forbidden } from '../../api/api-error.js'
import type { Resource } from '../../api/catalog.js'
import { withMetadata } from '../../api/object.js'
import { Pieces } from '../../base/pieces.js'
import { compareText } from '../../base/text-order.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { LimitRange } from '../../resources/core/v1.schema.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import { type Kept, keptByNamespace } from '../kept-by-namespace.js'
import { type Amounts, claimProblems, podProblems } from '../limits.js'
import { type Container, newPod, type Pod, refusedName, withSpec } from '../pods.js'

interface Claim {
  readonly spec?: { readonly resources?: { readonly requests?: Amounts } }
}

export function limitRanger(store: ObjectStore, limitRanges: Resource): Plugin {
  const rangesIn = keptByNamespace<LimitRange>(store, limitRanges)

  async function check(request: AdmissionRequest): Promise<void> {
    const problemsOf = problemsIn(request)
    if (problemsOf === undefined) return
    const pieces = new Pieces(() => request.call.throwIfAborted())
    for (const { object } of rangesIn(request.namespace)) {
      // Hundreds of ranges for hundreds of containers take long.
      if (pieces.isOver) await pieces.next()
      const problems = [...new Set(problemsOf(object))]
      if (problems.length === 0) continue
      const why = problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`
      throw forbidden(request.resource.subject, refusedName(request), why)
    }
  }

  return {
    name: 'LimitRanger',
    collections: ['pods', 'persistentvolumeclaims'],
    mutate: (request) => {
      const pod = newPod(request)
      if (pod === undefined) return undefined
      const ranges = rangesIn(request.namespace)
      return ranges.length === 0 ? pod : withAllDefaults(request, pod, ranges)
    },
    validate: (request) => (rangesIn(request.namespace).length === 0 ? undefined : check(request)),
  }
}

async function withAllDefaults(request: AdmissionRequest, pod: Pod, ranges: readonly Kept<LimitRange>[]): Promise<Pod> {
  const pieces = new Pieces(() => request.call.throwIfAborted())
  let next = pod
  for (const { object } of ranges) {
    if (pieces.isOver) await pieces.next()
    next = withDefaults(request, next, object)
  }
  return next
}

/** What would be wrong with it by a limit range; undefined where none has a say: containers of a pod stay as they are. */
function problemsIn(request: AdmissionRequest): ((range: LimitRange) => readonly string[]) | undefined {
  const pod = newPod(request)
  if (pod !== undefined) return ({ spec }) => podProblems(spec?.limits ?? [], pod.spec ?? {})
  const isClaim = request.resource.collection === 'persistentvolumeclaims' && request.subresource === ''
  if (!isClaim || request.operation === 'DELETE' || request.old?.metadata?.deletionTimestamp !== undefined) return undefined
  const claim = request.object as Claim
  return ({ spec }) => claimProblems(spec?.limits ?? [], claim.spec?.resources?.requests ?? {})
}

function withDefaults(request: AdmissionRequest, pod: Pod, { spec }: LimitRange): Pod {
  let requests: Amounts = {}
  let limits: Amounts = {}
  for (const item of spec?.limits ?? []) {
    if (item.type !== 'Container') continue
    requests = { ...requests, ...item.defaultRequest }
    limits = { ...limits, ...item.default }
  }
  const remarks: string[] = []
  const complete = (sort: string) => (container: Container) => completed(container, { requests, limits, sort, remarks })
  const containers = pod.spec?.containers?.map(complete('container'))
  const initContainers = pod.spec?.initContainers?.map(complete('init container'))
  if (remarks.length === 0) return pod
  const text = `LimitRanger plugin set: ${remarks.join('; ')}`
  const annotated = withMetadata(pod, {
    annotations: { ...pod.metadata?.annotations, [request.identity.label('limit-ranger')]: text },
  })
  return withSpec(annotated, {
    ...(containers === undefined ? {} : { containers }),
    ...(initContainers === undefined ? {} : { initContainers }),
  })
}

interface Defaults {
  readonly requests: Amounts
  readonly limits: Amounts
  /** How the container is called in remarks. */
  readonly sort: string
  readonly remarks: string[]
}

function completed(container: Container, { requests, limits, sort, remarks }: Defaults): Container {
  const { resources } = container
  const missing = (defaults: Amounts, present: Amounts | undefined): readonly string[] =>
    Object.keys(defaults)
      .filter((name) => present?.[name] === undefined)
      .sort(compareText)
  const newRequests = missing(requests, resources?.requests)
  const newLimits = missing(limits, resources?.limits)
  if (newRequests.length > 0) remarks.push(`${newRequests.join(', ')} request for ${sort} ${container.name}`)
  if (newLimits.length > 0) remarks.push(`${newLimits.join(', ')} limit for ${sort} ${container.name}`)
  if (newRequests.length === 0 && newLimits.length === 0) return container
  return {
    ...container,
    resources: {
      ...resources,
      ...(newLimits.length === 0 ? {} : { limits: { ...limits, ...resources?.limits } }),
      ...(newRequests.length === 0 ? {} : { requests: { ...requests, ...resources?.requests } }),
    },
  }
}
