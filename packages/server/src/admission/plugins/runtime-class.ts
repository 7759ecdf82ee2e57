// RuntimeClass plugin: sets overhead, node selector and tolerations of pods from their RuntimeClass.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { isSentEmpty } from '@cluster-apiserver/api/schema/json/sent-empty.js'
import { compareQuantities, parseQuantity } from '@cluster-apiserver/api/schema/quantity.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import type { Lookup } from '../lookup.js'
import { newPod, type Pod, type PodSpec, refuseRequest, withSpec } from '../pod-requests.js'
import { mergeTolerations } from './tolerations-and-node-selectors.js'

type Amounts = { readonly [resource: string]: string }

interface RuntimeClass extends ApiObject {
  readonly overhead?: { readonly podFixed?: Amounts }
  readonly scheduling?: {
    readonly nodeSelector?: { readonly [label: string]: string }
    readonly tolerations?: NonNullable<PodSpec['tolerations']>
  }
}

const runtimeClasses = { group: { stem: 'node' }, version: 'v1', resource: 'runtimeclasses' }

export function runtimeClass(lookup: Lookup): Plugin {
  return {
    name: 'RuntimeClass',
    collections: ['pods'],
    mutate: async (request) => {
      const pod = newPod(request)
      return pod === undefined ? request.object : withOverheadAndScheduling(request, pod, classOf(lookup, request, pod))
    },
    validate: async (request) => {
      const pod = newPod(request)
      if (pod !== undefined) checkOverhead(request, pod, classOf(lookup, request, pod))
    },
  }
}

function classOf(lookup: Lookup, request: AdmissionRequest, pod: Pod): RuntimeClass | undefined {
  const name = pod.spec?.runtimeClassName
  if (name === undefined) return undefined
  const found = lookup.read<RuntimeClass>(runtimeClasses, { name })
  if (found === undefined) throw refuseRequest(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`)
  return found
}

function withOverheadAndScheduling(request: AdmissionRequest, pod: Pod, podClass: RuntimeClass | undefined): ApiObject {
  const overhead = podClass?.overhead?.podFixed
  const podOverhead = overheadOf(pod)
  if (overhead !== undefined && podOverhead !== undefined && !hasSameAmounts(overhead, podOverhead)) {
    throw refuseRequest(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
  }
  const scheduling = podClass?.scheduling
  const nodeSelector = scheduling?.nodeSelector
  for (const [label, value] of Object.entries(nodeSelector ?? {})) {
    const podValue = pod.spec?.nodeSelector?.[label]
    if (podValue !== undefined && podValue !== value) {
      throw refuseRequest(
        request,
        `conflict: runtimeClass.scheduling.nodeSelector[${label}] = ${value}; pod.spec.nodeSelector[${label}] = ${podValue}`,
      )
    }
  }
  const tolerations = scheduling === undefined ? [] : mergeTolerations(pod.spec?.tolerations ?? [], scheduling.tolerations ?? [])
  return withSpec(pod, {
    ...(overhead === undefined ? {} : { overhead }),
    ...(nodeSelector === undefined ? {} : { nodeSelector: { ...pod.spec?.nodeSelector, ...nodeSelector } }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
  })
}

function checkOverhead(request: AdmissionRequest, pod: Pod, podClass: RuntimeClass | undefined): void {
  if (overheadOf(pod) === undefined || podClass?.overhead?.podFixed !== undefined) return
  throw refuseRequest(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')
}

const overheadOf = ({ spec }: Pod): Amounts | undefined => spec?.overhead ?? (isSentEmpty(spec, 'overhead') ? {} : undefined)

function hasSameAmounts(one: Amounts, other: Amounts): boolean {
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return false
  return names.every((name) => {
    const [a, b] = [one[name], other[name]]
    return a !== undefined && b !== undefined && compareQuantities(parseQuantity(a), parseQuantity(b)) === 0
  })
}
