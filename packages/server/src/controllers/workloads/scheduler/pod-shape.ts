// PodShape: what the scheduler keeps of placed pods. Pods of one template share one shape, so the index stays small.

import {
  type CompiledLabelSelector,
  fromSelectorObject,
  type Labels,
  nothingSelector,
} from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { RecentMap } from '@cluster-apiserver/api/base/recent-map.js'
import type { Pod, PodAffinityTerm, Volume } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { claimNamesOf } from '../kit/pod-state.js'
import { type Amounts, addAmounts, amountOf, amountsOf, raiseAmounts } from './amounts.js'

export interface HostPort {
  readonly protocol: string
  readonly ip: string
  readonly port: number
}

export interface AffinityTerm {
  readonly topologyKey: string
  readonly selector: CompiledLabelSelector
  readonly namespaces: ReadonlySet<string>
  /** Undefined: only the named namespaces. */
  readonly namespaceSelector: CompiledLabelSelector | undefined
  readonly weight: number
}

export interface PodAffinities {
  readonly affinity: readonly AffinityTerm[]
  readonly antiAffinity: readonly AffinityTerm[]
  readonly preferredAffinity: readonly AffinityTerm[]
  readonly preferredAntiAffinity: readonly AffinityTerm[]
}

export interface PodShape {
  readonly namespace: string
  readonly labels: Labels
  readonly priority: number
  readonly requests: Amounts
  /** Requests for scores: a container without a request counts with a default amount. */
  readonly scoredCpu: number
  readonly scoredMemory: number
  readonly ports: readonly HostPort[]
  readonly affinities: PodAffinities | undefined
  /** Names of PersistentVolumeClaims. */
  readonly claims: readonly string[]
  /** Volumes without a claim that VolumeRestrictions or the volume limits compare. */
  readonly disks: readonly Volume[]
}

const maxShapes = 8192

/** Returns the same shape for equal pods, as long as it is in use. */
export class PodShapes {
  readonly #shapes = new RecentMap<string, PodShape>(maxShapes)

  of(pod: Pod): PodShape {
    const key = JSON.stringify(facts(pod))
    const known = this.#shapes.get(key)
    if (known !== undefined) return known
    const shape = podShape(pod)
    this.#shapes.set(key, shape)
    return shape
  }
}

function facts(pod: Pod): readonly unknown[] {
  const { metadata, spec } = pod
  return [
    metadata?.namespace,
    metadata?.labels,
    spec?.priority,
    (spec?.containers ?? []).map(({ resources, ports }) => [resources?.requests, ports]),
    (spec?.initContainers ?? []).map(({ resources }) => resources?.requests),
    spec?.overhead,
    spec?.affinity?.podAffinity,
    spec?.affinity?.podAntiAffinity,
    claimNamesOf(pod),
    disksOf(spec?.volumes),
  ]
}

export function podShape(pod: Pod): PodShape {
  const { metadata, spec } = pod
  const namespace = metadata?.namespace ?? ''
  return {
    namespace,
    labels: metadata?.labels ?? {},
    priority: spec?.priority ?? 0,
    requests: requestsOf(pod),
    scoredCpu: scoredAmount(pod, 'cpu', defaultCpu),
    scoredMemory: scoredAmount(pod, 'memory', defaultMemory),
    ports: portsOf(pod),
    affinities: affinitiesOf(pod, namespace),
    claims: claimNamesOf(pod),
    disks: disksOf(spec?.volumes),
  }
}

/** Containers together or the largest init container, and the overhead. */
function requestsOf({ spec }: Pod): Amounts {
  const requests = new Map<string, number>()
  for (const { resources } of spec?.containers ?? []) addAmounts(requests, amountsOf(resources?.requests))
  for (const { resources } of spec?.initContainers ?? []) raiseAmounts(requests, amountsOf(resources?.requests))
  addAmounts(requests, amountsOf(spec?.overhead))
  return requests
}

const defaultCpu = 100
const defaultMemory = 200 * 1024 * 1024

function scoredAmount({ spec }: Pod, name: string, fallback: number): number {
  const amountIn = (requests: { readonly [name: string]: string } | undefined): number => {
    const quantity = requests?.[name]
    return quantity === undefined ? fallback : amountOf(name, quantity)
  }
  let amount = 0
  for (const { resources } of spec?.containers ?? []) amount += amountIn(resources?.requests)
  for (const { resources } of spec?.initContainers ?? []) amount = Math.max(amount, amountIn(resources?.requests))
  const overhead = spec?.overhead?.[name]
  return overhead === undefined ? amount : amount + amountOf(name, overhead)
}

const portsOf = ({ spec }: Pod): readonly HostPort[] =>
  (spec?.containers ?? []).flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, protocol = 'TCP', hostIP = '' }) =>
      hostPort > 0 ? { protocol: protocol === '' ? 'TCP' : protocol, ip: hostIP === '' ? anyAddress : hostIP, port: hostPort } : [],
    ),
  )

export const anyAddress = '0.0.0.0'

const disksOf = (volumes: readonly Volume[] = []): readonly Volume[] =>
  volumes.filter(
    ({ gcePersistentDisk, awsElasticBlockStore, rbd, iscsi, azureDisk }) =>
      (gcePersistentDisk ?? awsElasticBlockStore ?? rbd ?? iscsi ?? azureDisk) !== undefined,
  )

function affinitiesOf({ spec }: Pod, namespace: string): PodAffinities | undefined {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {}
  if (podAffinity === undefined && podAntiAffinity === undefined) return undefined
  const required = (terms: readonly PodAffinityTerm[] = []): readonly AffinityTerm[] => terms.map((term) => compileTerm(term, namespace, 1))
  const preferred = (terms: readonly { readonly weight?: number; readonly podAffinityTerm?: PodAffinityTerm }[] = []) =>
    terms.map(({ weight = 0, podAffinityTerm = {} }) => compileTerm(podAffinityTerm, namespace, weight))
  return {
    affinity: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    antiAffinity: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferredAffinity: preferred(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAntiAffinity: preferred(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
  }
}

function compileTerm(term: PodAffinityTerm, namespace: string, weight: number): AffinityTerm {
  const { labelSelector, namespaces = [], namespaceSelector, topologyKey = '' } = term
  const isOwnNamespace = namespaces.length === 0 && namespaceSelector === undefined
  return {
    topologyKey,
    selector: labelSelector === undefined ? nothingSelector : fromSelectorObject(labelSelector),
    namespaces: new Set(isOwnNamespace ? [namespace] : namespaces),
    namespaceSelector: namespaceSelector === undefined ? undefined : fromSelectorObject(namespaceSelector),
    weight,
  }
}
