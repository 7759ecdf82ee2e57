// InterPodAffinity: affinity and anti-affinity to pods, in both directions.

import type { Labels } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { NodeState } from '../node-state.js'
import type { AffinityTerm, PodAffinities, PodShape } from '../pod-shape.js'
import { type Cluster, maxScore, type PendingPod, type Plugin, type Preparation, refuse, refuseFinally } from './plugin.js'

const affinityRefusal = refuseFinally("node(s) didn't match pod affinity rules")
const antiAffinityRefusal = refuse("node(s) didn't match pod anti-affinity rules")
const existingRefusal = refuse("node(s) didn't satisfy existing pods anti-affinity rules")
/** Weight of a required affinity of a placed pod in the score. */
const requiredWeight = 1

const noAffinities: PodAffinities = { affinity: [], antiAffinity: [], preferredAffinity: [], preferredAntiAffinity: [] }

/** Matching pods by topology key and value. */
class TopologyCounts {
  readonly counts = new Map<string, Map<string, number>>()

  add(key: string, value: string | undefined, count: number): void {
    if (value === undefined || count === 0) return
    const values = getOrInsert(this.counts, key, () => new Map<string, number>())
    values.set(value, (values.get(value) ?? 0) + count)
  }

  get(key: string, value: string | undefined): number {
    return value === undefined ? 0 : (this.counts.get(key)?.get(value) ?? 0)
  }

  get total(): number {
    let sum = 0
    for (const values of this.counts.values()) for (const count of values.values()) sum += count
    return sum
  }
}

export const interPodAffinity: Plugin = {
  name: 'InterPodAffinity',
  prepare: async (pending, cluster, budget): Promise<Preparation | undefined> => {
    const { affinity, antiAffinity } = resolved(pending, cluster)
    if (affinity.length === 0 && antiAffinity.length === 0 && !cluster.hasAffinities) return undefined
    const incoming: Incoming = { shape: pending.shape, labels: namespaceLabelsOf(pending, cluster), affinity, antiAffinity }
    const counted = await countAll(incoming, cluster.nodes, budget)
    return { filter: (node) => judge(incoming, counted, node) }
  },
  weight: 2,
  score: async (pending, cluster, nodes, budget) => {
    const own = resolved(pending, cluster)
    const hasPreferences = own.preferredAffinity.length > 0 || own.preferredAntiAffinity.length > 0
    if (!hasPreferences && !cluster.hasAffinities) return undefined
    const labels = namespaceLabelsOf(pending, cluster)
    const weights = new TopologyCounts()
    for (const node of cluster.nodes) {
      if (budget.isSpent) await budget.nextTurn()
      for (const [shape, { total }] of node.shapes) {
        const addAll = (terms: readonly AffinityTerm[], sign: number, isMatch: (term: AffinityTerm) => boolean, fixed?: number): void => {
          for (const term of terms)
            if (isMatch(term)) weights.add(term.topologyKey, node.labels[term.topologyKey], sign * (fixed ?? term.weight) * total)
        }
        const matchesExisting = (term: AffinityTerm): boolean => matches(term, shape)
        const matchesIncoming = (term: AffinityTerm): boolean => matches(term, pending.shape, labels)
        addAll(own.preferredAffinity, 1, matchesExisting)
        addAll(own.preferredAntiAffinity, -1, matchesExisting)
        if (shape.affinities === undefined) continue
        addAll(shape.affinities.affinity, 1, matchesIncoming, requiredWeight)
        addAll(shape.affinities.preferredAffinity, 1, matchesIncoming)
        addAll(shape.affinities.preferredAntiAffinity, -1, matchesIncoming)
      }
    }
    if (weights.counts.size === 0) return undefined
    const sums = nodes.map(({ labels: of }) => {
      let sum = 0
      for (const key of weights.counts.keys()) sum += weights.get(key, of[key])
      return sum
    })
    const lowest = Math.min(...sums)
    const range = Math.max(...sums) - lowest
    // The order of the operations decides how the score is rounded.
    return sums.map((sum) => (range > 0 ? Math.trunc(maxScore * ((sum - lowest) / range)) : 0))
  },
}

interface Incoming extends Pick<PodAffinities, 'affinity' | 'antiAffinity'> {
  readonly shape: PodShape
  readonly labels: Labels | undefined
}

interface Counted {
  /** Placed pods that match all affinity terms. */
  readonly affinity: TopologyCounts
  readonly antiAffinity: TopologyCounts
  /** Placed pods whose anti-affinity matches the pod. */
  readonly existing: TopologyCounts
}

const newCounts = (): Counted => ({ affinity: new TopologyCounts(), antiAffinity: new TopologyCounts(), existing: new TopologyCounts() })

async function countAll(incoming: Incoming, nodes: readonly NodeState[], budget: TurnBudget): Promise<Counted> {
  const counted = newCounts()
  for (const node of nodes) {
    if (budget.isSpent) await budget.nextTurn()
    countNode(incoming, counted, node, 1)
  }
  return counted
}

function countNode({ shape: own, labels, affinity, antiAffinity }: Incoming, counted: Counted, node: NodeState, sign: 1 | -1): void {
  for (const [shape, { total }] of node.shapes) {
    const count = sign * total
    for (const term of shape.affinities?.antiAffinity ?? [])
      if (matches(term, own, labels)) counted.existing.add(term.topologyKey, node.labels[term.topologyKey], count)
    if (affinity.length > 0 && affinity.every((term) => matches(term, shape)))
      for (const { topologyKey } of affinity) counted.affinity.add(topologyKey, node.labels[topologyKey], count)
    for (const term of antiAffinity)
      if (matches(term, shape)) counted.antiAffinity.add(term.topologyKey, node.labels[term.topologyKey], count)
  }
}

function judge(incoming: Incoming, counted: Counted, node: NodeState) {
  // A copy of a node has other pods than the ones that were counted.
  const change = newCounts()
  if (node.base !== undefined) {
    countNode(incoming, change, node.base, -1)
    countNode(incoming, change, node, 1)
  }
  const countOf = (which: keyof Counted, key: string): number => {
    const value = node.labels[key]
    return counted[which].get(key, value) + change[which].get(key, value)
  }
  const { affinity, antiAffinity, shape } = incoming
  if (affinity.some(({ topologyKey }) => node.labels[topologyKey] === undefined)) return affinityRefusal
  if (affinity.some(({ topologyKey }) => countOf('affinity', topologyKey) <= 0)) {
    // The first pod of a group whose pods have affinity to each other fits any node with the topology keys.
    const isFirst = counted.affinity.total + change.affinity.total === 0 && affinity.every((term) => matches(term, shape))
    if (!isFirst) return affinityRefusal
  }
  if (antiAffinity.some(({ topologyKey }) => countOf('antiAffinity', topologyKey) > 0)) return antiAffinityRefusal
  for (const key of counted.existing.counts.keys()) if (countOf('existing', key) > 0) return existingRefusal
  for (const key of change.existing.counts.keys()) if (countOf('existing', key) > 0) return existingRefusal
  return undefined
}

/** `labels`: labels of the pod's namespace; undefined if the term has its namespace selector resolved to names. */
const matches = (
  { namespaces, namespaceSelector, selector }: AffinityTerm,
  { namespace, labels: own }: PodShape,
  labels?: Labels,
): boolean => (namespaces.has(namespace) || (labels !== undefined && namespaceSelector?.matches(labels) === true)) && selector.matches(own)

const namespaceLabelsOf = ({ shape }: PendingPod, cluster: Cluster): Labels =>
  cluster.hasAffinities ? (cluster.namespaceLabels(shape.namespace) ?? {}) : {}

/** The pod's own terms, with their selectors of namespaces resolved to names. */
function resolved({ shape }: PendingPod, cluster: Cluster): PodAffinities {
  const { affinities } = shape
  if (affinities === undefined) return noAffinities
  const resolve = (terms: readonly AffinityTerm[]): readonly AffinityTerm[] =>
    terms.map((term) => {
      if (term.namespaceSelector === undefined) return term
      return { ...term, namespaces: new Set([...term.namespaces, ...cluster.namespacesMatching(term.namespaceSelector)]) }
    })
  return {
    affinity: resolve(affinities.affinity),
    antiAffinity: resolve(affinities.antiAffinity),
    preferredAffinity: resolve(affinities.preferredAffinity),
    preferredAntiAffinity: resolve(affinities.preferredAntiAffinity),
  }
}
