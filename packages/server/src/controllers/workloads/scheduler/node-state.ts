// NodeState: a node with its pods and their summed requests. Preemption and nominated pods are tried on a copy.

import type { Labels } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import type { Node, Taint } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type Amounts, addAmounts, amountOf, amountsOf } from './amounts.js'
import type { PodShape } from './pod-shape.js'

interface NodeFacts {
  readonly labels: Labels
  readonly taints: readonly Taint[]
  readonly isUnschedulable: boolean
  readonly allocatable: Amounts
  readonly maxPods: number
  /** Size by name. */
  readonly images: ReadonlyMap<string, number>
}

export interface PlacedPod {
  readonly shape: PodShape
  readonly isTerminating: boolean
  /** Milliseconds since 1970; undefined for pods that did not start. */
  readonly startMs?: number | undefined
}

interface ShapeCount {
  readonly total: number
  readonly terminating: number
}

const none: ShapeCount = { total: 0, terminating: 0 }

export function nodeFacts({ metadata, spec, status }: Node): NodeFacts {
  const images = new Map<string, number>()
  for (const { names = [], sizeBytes = 0 } of status?.images ?? []) for (const name of names) images.set(name, sizeBytes)
  return {
    labels: metadata?.labels ?? {},
    taints: spec?.taints ?? [],
    isUnschedulable: spec?.unschedulable === true,
    allocatable: amountsOf(status?.allocatable),
    maxPods: amountOf('pods', status?.allocatable?.['pods'] ?? '0'),
    images,
  }
}

const missing: NodeFacts = nodeFacts({})

export class NodeState {
  readonly name: string
  facts: NodeFacts = missing
  /** False: pods name this node, but there is no such Node. */
  exists = false
  /** Original of a copy. */
  readonly base: NodeState | undefined
  readonly pods: Map<string, PlacedPod>
  readonly shapes: Map<PodShape, ShapeCount>
  readonly requested: Map<string, number>
  scoredCpu = 0
  scoredMemory = 0

  constructor(name: string, base?: NodeState) {
    this.name = name
    this.base = base
    this.pods = new Map(base?.pods)
    this.shapes = new Map(base?.shapes)
    this.requested = new Map(base?.requested)
    if (base === undefined) return
    this.facts = base.facts
    this.exists = base.exists
    this.scoredCpu = base.scoredCpu
    this.scoredMemory = base.scoredMemory
  }

  get labels(): Labels {
    return this.facts.labels
  }

  copy(): NodeState {
    return new NodeState(this.name, this.base ?? this)
  }

  add(key: string, pod: PlacedPod): void {
    this.remove(key)
    this.pods.set(key, pod)
    this.#count(pod, 1)
  }

  remove(key: string): void {
    const pod = this.pods.get(key)
    if (pod === undefined) return
    this.pods.delete(key)
    this.#count(pod, -1)
  }

  #count({ shape, isTerminating }: PlacedPod, sign: 1 | -1): void {
    const before = this.shapes.get(shape) ?? none
    const total = before.total + sign
    if (total === 0) this.shapes.delete(shape)
    else this.shapes.set(shape, { total, terminating: before.terminating + (isTerminating ? sign : 0) })
    addAmounts(this.requested, shape.requests, sign)
    this.scoredCpu += sign * shape.scoredCpu
    this.scoredMemory += sign * shape.scoredMemory
  }
}
