// LimitRanger plugin: sets default requests and limits of containers, and rejects pods and PersistentVolumeClaims outside the LimitRanges.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { withMetadata } from '@cluster-apiserver/api/api/object.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { LimitRange } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { aggregate } from '../../auth/authorize.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import { namespaceObjectCache } from '../namespace-object-cache.js'
import { type Container, newPod, type Pod, refuseRequest, withSpec } from '../pod-requests.js'
import { type Amounts, claimProblems, podProblems } from './limit-range-bounds.js'

interface Claim {
  readonly spec?: { readonly resources?: { readonly requests?: Amounts } }
}

export function limitRanger(store: ObjectStore, limitRanges: Resource): Plugin {
  const rangesIn = namespaceObjectCache<LimitRange>(store, limitRanges)

  return {
    name: 'LimitRanger',
    collections: ['pods', 'persistentvolumeclaims'],
    mutate: async (request) => {
      const pod = newPod(request)
      if (pod === undefined) return undefined
      let next = pod
      for (const { object } of rangesIn(request.namespace)) {
        await turnBudget.yieldIfSpent()
        next = withDefaults(request, next, object)
      }
      return next
    },
    validate: async (request) => {
      const problemsOf = rangesIn(request.namespace).length === 0 ? undefined : problemFinder(request)
      if (problemsOf === undefined) return
      for (const { object } of rangesIn(request.namespace)) {
        // Hundreds of LimitRanges and hundreds of containers would block the event loop.
        await turnBudget.yieldIfSpent()
        const why = aggregate(problemsOf(object))
        if (why !== '') throw refuseRequest(request, why)
      }
    },
  }
}

function problemFinder(request: AdmissionRequest): ((range: LimitRange) => readonly string[]) | undefined {
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
  const changes: string[] = []
  const withDefaultsFor = (containerType: string) => (container: Container) =>
    withContainerDefaults(container, { requests, limits, containerType, changes })
  const containers = pod.spec?.containers?.map(withDefaultsFor('container'))
  const initContainers = pod.spec?.initContainers?.map(withDefaultsFor('init container'))
  if (changes.length === 0) return pod
  const text = `LimitRanger plugin set: ${changes.join('; ')}`
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
  readonly containerType: string
  readonly changes: string[]
}

function withContainerDefaults(container: Container, { requests, limits, containerType, changes }: Defaults): Container {
  const { resources } = container
  const missing = (defaults: Amounts, present: Amounts | undefined): readonly string[] =>
    Object.keys(defaults)
      .filter((name) => present?.[name] === undefined)
      .sort(compareText)
  const newRequests = missing(requests, resources?.requests)
  const newLimits = missing(limits, resources?.limits)
  if (newRequests.length > 0) changes.push(`${newRequests.join(', ')} request for ${containerType} ${container.name}`)
  if (newLimits.length > 0) changes.push(`${newLimits.join(', ')} limit for ${containerType} ${container.name}`)
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
