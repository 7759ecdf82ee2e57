// PodTopologySpread: keeps the skew of matching pods between zones or nodes within a bound. Pods without constraints of their own get the
// default ones, which only score.

import { type CompiledLabelSelector, fromRequirements, fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { Pod, TopologySpreadConstraint } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { matchesNodeAffinity } from '../../kit/node-selector.js'
import { schedulingEffects, untoleratedTaint } from '../../kit/tolerations.js'
import type { NodeState } from '../node-state.js'
import type { PodShape } from '../pod-shape.js'
import { type Cluster, maxScore, type PendingPod, type Plugin, type Preparation, refuse, refuseFinally } from './plugin.js'

const skewRefusal = refuse("node(s) didn't match pod topology spread constraints")
const labelRefusal = refuseFinally("node(s) didn't match pod topology spread constraints (missing required label)")

interface Constraint {
  readonly topologyKey: string
  readonly maxSkew: number
  readonly minDomains: number
  readonly selector: CompiledLabelSelector
  /** False: the pods of the node do not count. */
  readonly includes: (node: NodeState) => boolean
}

interface CountedConstraint extends Constraint {
  /** Matching pods by value of the topology key. */
  readonly counts: ReadonlyMap<string, number>
}

export const podTopologySpread: Plugin = {
  name: 'PodTopologySpread',
  prepare: (pending, cluster): Preparation | undefined => {
    const constraints = ownConstraints(pending.pod, cluster, 'DoNotSchedule')
    if (constraints.length === 0) return undefined
    const { shape } = pending
    const isCounted = (node: NodeState): boolean => constraints.every(({ topologyKey }) => node.labels[topologyKey] !== undefined)
    const candidates = cluster.nodes.filter(isCounted)
    const counted = constraints.map((constraint): CountedConstraint => {
      const counts = new Map<string, number>()
      for (const node of candidates) {
        if (!constraint.includes(node)) continue
        const value = node.labels[constraint.topologyKey] as string
        counts.set(value, (counts.get(value) ?? 0) + matchingPods(node, constraint.selector, shape.namespace))
      }
      return { ...constraint, counts }
    })
    return {
      filter: (node) => {
        for (const constraint of counted) {
          const value = node.labels[constraint.topologyKey]
          if (value === undefined) return labelRefusal
          const counts = isCounted(node) ? countsWith(constraint, node, shape.namespace) : constraint.counts
          const own = constraint.selector.matches(shape.labels) ? 1 : 0
          if ((counts.get(value) ?? 0) + own - leastOf(counts, constraint.minDomains) > constraint.maxSkew) return skewRefusal
        }
        return undefined
      },
    }
  },
  weight: 2,
  score: (pending, cluster, nodes) => {
    const own = pending.pod.spec?.topologySpreadConstraints ?? []
    const isDefault = own.length === 0
    const constraints = isDefault ? defaultConstraints(pending, cluster) : ownConstraints(pending.pod, cluster, 'ScheduleAnyway')
    if (constraints.length === 0) return undefined
    return scoresOf(constraints, { pending, cluster, nodes, isDefault })
  },
}

/** Counts with the pods of a copy of a node. */
function countsWith({ counts, selector, topologyKey, includes }: CountedConstraint, node: NodeState, namespace: string) {
  if (node.base === undefined || !includes(node)) return counts
  const change = matchingPods(node, selector, namespace) - matchingPods(node.base, selector, namespace)
  if (change === 0) return counts
  const value = node.labels[topologyKey] as string
  return new Map(counts).set(value, (counts.get(value) ?? 0) + change)
}

function leastOf(counts: ReadonlyMap<string, number>, minDomains: number): number {
  if (counts.size < minDomains) return 0
  let least = Number.POSITIVE_INFINITY
  for (const count of counts.values()) least = Math.min(least, count)
  return least
}

/** Pods of the namespace that are not being deleted. */
function matchingPods({ shapes }: NodeState, selector: CompiledLabelSelector, namespace: string): number {
  let sum = 0
  for (const [shape, { total, terminating }] of shapes)
    if (shape.namespace === namespace && selector.matches(shape.labels)) sum += total - terminating
  return sum
}

/** Shapes that match, found once for all nodes. */
function matchingShapes(cluster: Cluster, selector: CompiledLabelSelector, namespace: string): readonly PodShape[] {
  const found: PodShape[] = []
  for (const shape of cluster.placedShapes()) if (shape.namespace === namespace && selector.matches(shape.labels)) found.push(shape)
  return found
}

function podsOfShapes({ shapes }: NodeState, wanted: readonly PodShape[]): number {
  let sum = 0
  for (const shape of wanted) {
    const count = shapes.get(shape)
    if (count !== undefined) sum += count.total - count.terminating
  }
  return sum
}

function ownConstraints(pod: Pod, cluster: Cluster, action: string): readonly Constraint[] {
  return (pod.spec?.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action)
    .map(
      (constraint): Constraint => ({
        topologyKey: constraint.topologyKey ?? '',
        maxSkew: constraint.maxSkew ?? 1,
        minDomains: cluster.gates('MinDomainsInPodTopologySpread') ? (constraint.minDomains ?? 1) : 0,
        selector: selectorOf(constraint, pod, cluster),
        includes: inclusionOf(constraint, pod, cluster),
      }),
    )
}

function selectorOf({ labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint, pod: Pod, cluster: Cluster): CompiledLabelSelector {
  const selector = fromSelectorObject(labelSelector)
  if (matchLabelKeys.length === 0 || !cluster.gates('MatchLabelKeysInPodTopologySpread')) return selector
  const labels = pod.metadata?.labels ?? {}
  const own = matchLabelKeys.flatMap((key) => {
    const value = labels[key]
    return value === undefined ? [] : { key, operator: '=' as const, values: [value] }
  })
  return own.length === 0 ? selector : fromRequirements([...selector.requirements, ...own])
}

function inclusionOf(constraint: TopologySpreadConstraint, { spec }: Pod, cluster: Cluster): (node: NodeState) => boolean {
  const hasPolicies = cluster.gates('NodeInclusionPolicyInPodTopologySpread')
  const honorsAffinity = !hasPolicies || (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor'
  const honorsTaints = hasPolicies && constraint.nodeTaintsPolicy === 'Honor'
  return (node) =>
    (!honorsAffinity || matchesNodeAffinity(spec, node)) &&
    (!honorsTaints || untoleratedTaint(node.facts.taints, spec?.tolerations ?? [], schedulingEffects) === undefined)
}

const defaultNodeSkew = 3
const defaultZoneSkew = 5

function defaultConstraints({ pod }: PendingPod, cluster: Cluster): readonly Constraint[] {
  const selector = cluster.groupSelector(pod)
  if (selector === undefined) return []
  const { identity } = cluster
  const rest = { minDomains: 0, selector, includes: inclusionOf({}, pod, cluster) }
  return [
    { ...rest, topologyKey: identity.label('hostname'), maxSkew: defaultNodeSkew },
    { ...rest, topologyKey: identity.label('zone', 'topology'), maxSkew: defaultZoneSkew },
  ]
}

interface Scored {
  readonly pending: PendingPod
  readonly cluster: Cluster
  readonly nodes: readonly NodeState[]
  /** Nodes without some of the topology keys take part. */
  readonly isDefault: boolean
}

function scoresOf(constraints: readonly Constraint[], { pending, cluster, nodes, isDefault }: Scored): readonly number[] {
  const { namespace } = pending.shape
  const hostname = cluster.identity.label('hostname')
  const hasKeys = (node: NodeState): boolean => constraints.every(({ topologyKey }) => node.labels[topologyKey] !== undefined)
  const isIgnored = (node: NodeState): boolean => !isDefault && !hasKeys(node)
  const taking = nodes.filter((node) => !isIgnored(node))
  const shapesOf = new Map<CompiledLabelSelector, readonly PodShape[]>()
  const parts = constraints.map((constraint) => {
    const { topologyKey, selector, includes } = constraint
    const counts = new Map<string, number>()
    const shapes = getOrInsert(shapesOf, selector, () => matchingShapes(cluster, selector, namespace))
    if (topologyKey !== hostname) {
      for (const node of taking) counts.set(node.labels[topologyKey] ?? '', 0)
      for (const node of cluster.nodes) {
        const value = node.labels[topologyKey] ?? ''
        const before = counts.get(value)
        if (before !== undefined && !isIgnored(node) && includes(node)) counts.set(value, before + podsOfShapes(node, shapes))
      }
    }
    const domains = topologyKey === hostname ? taking.length : counts.size
    return { ...constraint, counts, shapes, weight: Math.log(domains + 2) }
  })
  const sums = nodes.map((node) => {
    if (isIgnored(node)) return undefined
    let sum = 0
    for (const { topologyKey, counts, shapes, weight, maxSkew } of parts) {
      const value = node.labels[topologyKey]
      if (value === undefined) continue
      const count = topologyKey === hostname ? podsOfShapes(node, shapes) : (counts.get(value) ?? 0)
      sum += count * weight + (maxSkew - 1)
    }
    return Math.round(sum)
  })
  const known = sums.filter((sum) => sum !== undefined)
  const least = Math.min(...known)
  const most = Math.max(0, ...known)
  return sums.map((sum) => {
    if (sum === undefined) return 0
    return most === 0 ? maxScore : Math.trunc((maxScore * (most + least - sum)) / most)
  })
}
