// PodNodeSelector, PodTolerationRestriction, DefaultTolerationSeconds and ExtendedResourceToleration plugins.

import { forbidden } from '@cluster-apiserver/api/api/api-error.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { qosClassOf } from '@cluster-apiserver/api/resources/core/pod/qos-class.js'
import { isExtended } from '@cluster-apiserver/api/resources/core/pod-spec/resource-requirements.js'
import { validateTolerations } from '@cluster-apiserver/api/resources/core/pod-spec/scheduling.js'
import type { Toleration } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import { type Labels, type NodeSelectors, parseLabelPairs, type TolerationLists } from '../config/plugin-configs.js'
import type { Lookup } from '../lookup.js'
import { newPod, type Pod, type PodSpec, refuseOnError, refuseRequest, withSpec, writtenPod } from '../pod-requests.js'

const nameOf = ({ metadata }: Pod): string => metadata?.name ?? ''

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }

export function podNodeSelector(lookup: Lookup, { clusterDefault, allowed }: NodeSelectors): Plugin {
  function selectorOf(request: AdmissionRequest): Labels {
    const namespace = lookup.read(namespaces, { name: request.namespace })
    const text = namespace?.metadata?.annotations?.[request.identity.label('node-selector', 'scheduler.alpha')]
    return text === undefined ? clusterDefault : refuseOnError(request, () => parseLabelPairs(text))
  }
  return {
    name: 'PodNodeSelector',
    collections: ['pods'],
    mutate: async (request) => {
      const pod = newPod(request)
      if (pod === undefined) return undefined
      const selector = selectorOf(request)
      const podSelector = pod.spec?.nodeSelector ?? {}
      if (Object.keys(selector).some((label) => podSelector[label] !== undefined && podSelector[label] !== selector[label]))
        throw forbidden(request.resource.subject, nameOf(pod), 'pod node label selector conflicts with its namespace node label selector')
      const merged = Object.keys(selector).length === 0 ? pod : withSpec(pod, { nodeSelector: { ...selector, ...podSelector } })
      checkAllowed(request.withObject(merged))
      return merged
    },
    validate: async (request) => checkAllowed(request),
  }
  function checkAllowed(request: AdmissionRequest): void {
    const allowedLabels = allowed.get(request.namespace) ?? {}
    const pod = newPod(request)
    if (pod === undefined || Object.keys(allowedLabels).length === 0) return
    if (Object.entries(pod.spec?.nodeSelector ?? {}).every(([label, value]) => allowedLabels[label] === value)) return
    throw forbidden(request.resource.subject, nameOf(pod), 'pod node label selector labels conflict with its namespace whitelist')
  }
}

export function podTolerationRestriction(lookup: Lookup, { defaults, allowed }: TolerationLists): Plugin {
  function tolerationsFromAnnotation(request: AdmissionRequest, annotation: string): readonly Toleration[] | undefined {
    const name = request.identity.label(annotation, 'scheduler.alpha')
    const text = lookup.read(namespaces, { name: request.namespace })?.metadata?.annotations?.[name]
    return text === undefined ? undefined : refuseOnError(request, () => parseTolerations(text, name))
  }
  return {
    name: 'PodTolerationRestriction',
    collections: ['pods'],
    mutate: async (request) => {
      const pod = writtenPod(request)
      if (pod === undefined) return undefined
      const defaultTolerations =
        request.operation === 'CREATE' ? (tolerationsFromAnnotation(request, 'defaultTolerations') ?? defaults) : []
      const hasResourceRequests = qosClassOf(pod.spec ?? {}) !== 'BestEffort'
      const pressure = { key: request.identity.label('memory-pressure', 'node'), operator: 'Exists', effect: 'NoSchedule' }
      const added = hasResourceRequests ? [...defaultTolerations, pressure] : defaultTolerations
      const merged = added.length === 0 ? pod : withSpec(pod, { tolerations: mergeTolerations(pod.spec?.tolerations ?? [], added) })
      checkAllowed(request.withObject(merged))
      return merged
    },
    validate: async (request) => checkAllowed(request),
  }
  function checkAllowed(request: AdmissionRequest): void {
    const tolerations = writtenPod(request)?.spec?.tolerations ?? []
    if (tolerations.length === 0) return
    const namespaceList = tolerationsFromAnnotation(request, 'tolerationsWhitelist')
    const list = namespaceList ?? allowed
    if (list.length === 0 || tolerations.every((toleration) => list.some((wider) => includesToleration(wider, toleration)))) return
    const listScope = namespaceList === undefined ? 'cluster' : 'namespace'
    throw refuseRequest(
      request,
      `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${listScope} whitelist`,
    )
  }
}

function parseTolerations(text: string, annotation: string): readonly Toleration[] {
  if (text === '') return []
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`the annotation ${annotation} of the namespace is not JSON`)
  }
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null && !Array.isArray(each))
  if (!isList) throw new Error(`the annotation ${annotation} of the namespace is not a list of tolerations`)
  const [problem] = validateTolerations(value as readonly Toleration[], annotation)
  if (problem !== undefined) throw new Error(`${problem.field}: ${problem.message}`)
  return value as readonly Toleration[]
}

interface TolerationSettings {
  readonly identity: Identity
  readonly notReadySeconds: number
  readonly unreachableSeconds: number
}

export function defaultTolerationSeconds({ identity, notReadySeconds, unreachableSeconds }: TolerationSettings): Plugin {
  const wanted = [
    { key: identity.label('not-ready', 'node'), tolerationSeconds: notReadySeconds },
    { key: identity.label('unreachable', 'node'), tolerationSeconds: unreachableSeconds },
  ]
  return {
    name: 'DefaultTolerationSeconds',
    collections: ['pods'],
    mutate: async (request) => {
      if (!isPodWrite(request)) return request.object
      const pod = request.object as { readonly spec?: PodSpec }
      const present = pod.spec?.tolerations ?? []
      const missing = wanted.filter(({ key }) => !present.some((toleration) => covers(toleration, key)))
      if (missing.length === 0) return request.object
      return withSpec(pod, {
        tolerations: [...present, ...missing.map((toleration) => ({ ...toleration, operator: 'Exists', effect: 'NoExecute' }))],
      })
    },
  }
}

/** Applies to updates, too: a pod sent without its default tolerations gets them back. */
const isPodWrite = ({ operation, resource, subresource }: AdmissionRequest): boolean =>
  resource.collection === 'pods' && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')

const covers = ({ key = '', effect = '' }: Toleration, wanted: string): boolean =>
  (key === '' || key === wanted) && (effect === '' || effect === 'NoExecute')

export const extendedResourceToleration: Plugin = {
  name: 'ExtendedResourceToleration',
  collections: ['pods'],
  mutate: async (request) => {
    const pod = writtenPod(request)
    if (pod === undefined) return undefined
    const names = new Set<string>()
    for (const { resources } of [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])])
      for (const name of Object.keys(resources?.requests ?? {})) if (isExtended(name, request.identity)) names.add(name)
    const present = pod.spec?.tolerations ?? []
    const missing = [...names]
      .sort(compareText)
      .map((key) => ({ key, operator: 'Exists', effect: 'NoSchedule' }))
      .filter((wanted) => !present.some((toleration) => sameValue(toleration, wanted)))
    return missing.length === 0 ? undefined : withSpec(pod, { tolerations: [...present, ...missing] })
  },
}

export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const all = [...first, ...second]
  const merged: Toleration[] = []
  for (const [i, toleration] of all.entries()) {
    if (merged.some((wider) => includesToleration(wider, toleration))) continue
    if (all.slice(i + 1).some((wider) => !sameValue(wider, toleration) && includesToleration(wider, toleration))) continue
    merged.push(toleration)
  }
  return merged
}

/** True if the wider toleration covers the narrower one, for at least as long. */
function includesToleration(wider: Toleration, narrower: Toleration): boolean {
  if (sameValue(wider, narrower)) return true
  const { key = '', operator = '', effect = '', value = '', tolerationSeconds } = wider
  if (key !== (narrower.key ?? '') && (key !== '' || operator !== 'Exists')) return false
  if (effect !== (narrower.effect ?? '') && effect !== '') return false
  if (effect === 'NoExecute' && tolerationSeconds !== undefined) {
    if (narrower.tolerationSeconds === undefined || narrower.tolerationSeconds > tolerationSeconds) return false
  }
  if (operator === 'Exists') return true
  // As in kube-apiserver, a toleration without operator is covered only by an equal one or by Exists.
  return narrower.operator === 'Equal' && value === (narrower.value ?? '')
}
