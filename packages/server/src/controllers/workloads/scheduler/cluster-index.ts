// ClusterIndex: nodes with the sums of their pods, kept up to date by changes. Of a pod it keeps its node and its shape.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isFinishedPod } from '../kit/pod-state.js'
import { isTerminating } from '../kit/workload-parts.js'
import type { NominatedPods } from './find-node.js'
import { NodeState, nodeFacts, type PlacedPod } from './node-state.js'
import { type PodShape, PodShapes } from './pod-shape.js'

export class ClusterIndex implements NominatedPods {
  readonly shapes = new PodShapes()
  readonly #nodes = new Map<string, NodeState>()
  readonly #nodeOfPod = new Map<string, NodeState>()
  /** Pods whose binding is not stored yet. */
  readonly #assumed = new Set<string>()
  readonly #nominated = new Map<string, Map<string, PlacedPod>>()
  readonly #nominatedNodes = new Map<string, string>()
  #existing: readonly NodeState[] | undefined
  readonly #podsOfShape = new Map<PodShape, number>()
  #affinityPods = 0

  /** Nodes that exist, by name. */
  get nodes(): readonly NodeState[] {
    this.#existing ??= [...this.#nodes.values()].filter(({ exists }) => exists).sort((a, b) => compareText(a.name, b.name))
    return this.#existing
  }

  node(name: string): NodeState | undefined {
    const found = this.#nodes.get(name)
    return found?.exists === true ? found : undefined
  }

  get hasAffinities(): boolean {
    return this.#affinityPods > 0
  }

  /** Shapes of all pods on nodes. */
  get placedShapes(): Iterable<PodShape> {
    return this.#podsOfShape.keys()
  }

  setNode(name: string, node: Node | undefined): void {
    const state = this.#stateOf(name)
    if (state.exists !== (node !== undefined)) this.#existing = undefined
    state.exists = node !== undefined
    state.facts = nodeFacts(node ?? {})
    this.#dropIfUnused(state)
  }

  nodeOf(key: string): string | undefined {
    return this.#nodeOfPod.get(key)?.name
  }

  /** The pod as it is stored; undefined: deleted. */
  setPod(key: string, pod: Pod | undefined): void {
    const nodeName = pod === undefined || isFinishedPod(pod) ? '' : (pod.spec?.nodeName ?? '')
    if (pod !== undefined && nodeName === '' && this.#assumed.has(key) && !isTerminating(pod)) return
    this.#assumed.delete(key)
    if (nodeName === '' || pod === undefined) this.#remove(key)
    else this.#place(key, nodeName, { shape: this.shapes.of(pod), isTerminating: isTerminating(pod), startMs: startMsOf(pod) })
    if (pod === undefined || nodeName !== '') this.nominate(key, undefined)
    else if ((pod.status?.nominatedNodeName ?? '') !== '') this.nominate(key, pod.status?.nominatedNodeName, this.shapes.of(pod))
  }

  /** Counts a pod on its node before the binding is stored. */
  assume(key: string, nodeName: string, shape: PodShape): void {
    this.#assumed.add(key)
    this.#place(key, nodeName, { shape, isTerminating: false })
    this.nominate(key, undefined)
  }

  /** The binding failed. */
  forget(key: string): void {
    if (this.#assumed.delete(key)) this.#remove(key)
  }

  nominate(key: string, nodeName: string | undefined, shape?: PodShape): void {
    const before = this.#nominatedNodes.get(key)
    if (before !== undefined) {
      const pods = this.#nominated.get(before)
      pods?.delete(key)
      if (pods?.size === 0) this.#nominated.delete(before)
      this.#nominatedNodes.delete(key)
    }
    if (nodeName === undefined || shape === undefined) return
    this.#nominatedNodes.set(key, nodeName)
    const pods = this.#nominated.get(nodeName) ?? new Map<string, PlacedPod>()
    this.#nominated.set(nodeName, pods.set(key, { shape, isTerminating: false }))
  }

  nominatedNodeOf(key: string): string | undefined {
    return this.#nominatedNodes.get(key)
  }

  on(nodeName: string): Iterable<readonly [string, PlacedPod]> {
    return this.#nominated.get(nodeName) ?? noPods
  }

  #stateOf(name: string): NodeState {
    const known = this.#nodes.get(name)
    if (known !== undefined) return known
    const state = new NodeState(name)
    this.#nodes.set(name, state)
    return state
  }

  #place(key: string, nodeName: string, pod: PlacedPod): void {
    this.#remove(key)
    const state = this.#stateOf(nodeName)
    state.add(key, pod)
    this.#nodeOfPod.set(key, state)
    this.#podsOfShape.set(pod.shape, (this.#podsOfShape.get(pod.shape) ?? 0) + 1)
    if (pod.shape.affinities !== undefined) this.#affinityPods += 1
  }

  #remove(key: string): void {
    const state = this.#nodeOfPod.get(key)
    if (state === undefined) return
    const shape = state.pods.get(key)?.shape
    if (shape !== undefined) this.#forgetShape(shape)
    state.remove(key)
    this.#nodeOfPod.delete(key)
    this.#dropIfUnused(state)
  }

  #forgetShape(shape: PodShape): void {
    if (shape.affinities !== undefined) this.#affinityPods -= 1
    const count = this.#podsOfShape.get(shape) ?? 0
    if (count > 1) this.#podsOfShape.set(shape, count - 1)
    else this.#podsOfShape.delete(shape)
  }

  #dropIfUnused({ name, exists, pods }: NodeState): void {
    if (!exists && pods.size === 0) this.#nodes.delete(name)
  }
}

const startMsOf = ({ status }: Pod): number | undefined => (status?.startTime === undefined ? undefined : Date.parse(status.startTime))

const noPods: ReadonlyMap<string, PlacedPod> = new Map()
