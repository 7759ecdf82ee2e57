// What the runtime class of a pod asks for beside its containers: room, and nodes that have the runtime.

import type { ApiObject } from '../../api/object.js'
import { compareQuantities, parseQuantity } from '../../schema/quantity.js'
import { isSentEmpty } from '../../schema/sent-empty.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import type { Lookup } from '../lookup.js'
import { newPod, type Pod, type PodSpec, refusePod, withSpec } from '../pods.js'
import { mergeTolerations } from '../tolerations.js'

type Amounts = { readonly [resource: string]: string }

interface RuntimeClass extends ApiObject {
  readonly overhead?: { readonly podFixed?: Amounts }
  readonly scheduling?: {
    readonly nodeSelector?: { readonly [label: string]: string }
    readonly tolerations?: NonNullable<PodSpec['tolerations']>
  }
}

const classes = { group: { stem: 'node' }, version: 'v1', resource: 'runtimeclasses' }

export function runtimeClass(lookup: Lookup): Plugin {
  return {
    name: 'RuntimeClass',
    collections: ['pods'],
    mutate: (request) => {
      const pod = newPod(request)
      return pod === undefined ? request.object : placed(request, pod, classOf(lookup, request, pod))
    },
    validate: (request) => {
      const pod = newPod(request)
      if (pod !== undefined) checkOverhead(request, pod, classOf(lookup, request, pod))
    },
  }
}

function classOf(lookup: Lookup, request: AdmissionRequest, pod: Pod): RuntimeClass | undefined {
  const name = pod.spec?.runtimeClassName
  if (name === undefined) return undefined
  const found = lookup.read<RuntimeClass>(classes, { name })
  if (found === undefined) throw refusePod(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`)
  return found
}

function placed(request: AdmissionRequest, pod: Pod, found: RuntimeClass | undefined): ApiObject {
  const overhead = found?.overhead?.podFixed
  const own = overheadOf(pod)
  if (overhead !== undefined && own !== undefined && !isSameAmount(overhead, own)) {
    throw refusePod(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
  }
  const scheduling = found?.scheduling
  const nodeSelector = scheduling?.nodeSelector
  for (const [label, value] of Object.entries(nodeSelector ?? {})) {
    const own = pod.spec?.nodeSelector?.[label]
    if (own !== undefined && own !== value) {
      throw refusePod(
        request,
        `conflict: runtimeClass.scheduling.nodeSelector[${label}] = ${value}; pod.spec.nodeSelector[${label}] = ${own}`,
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

function checkOverhead(request: AdmissionRequest, pod: Pod, found: RuntimeClass | undefined): void {
  if (overheadOf(pod) === undefined || found?.overhead?.podFixed !== undefined) return
  throw refusePod(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')
}

/** What a pod says of its overhead, be it that there is none. */
const overheadOf = ({ spec }: Pod): Amounts | undefined => spec?.overhead ?? (isSentEmpty(spec, 'overhead') ? {} : undefined)

function isSameAmount(one: Amounts, other: Amounts): boolean {
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return false
  return names.every((name) => {
    const [a, b] = [one[name], other[name]]
    return a !== undefined && b !== undefined && compareQuantities(parseQuantity(a), parseQuantity(b)) === 0
  })
}
