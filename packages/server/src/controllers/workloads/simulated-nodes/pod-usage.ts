// Resource usage of simulated pods and nodes, which the autoscaler and the metrics API read: what the rules of the pods say.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { compileLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { sumUsage } from '@cluster-apiserver/api/resources/metrics/resource-metrics.js'
import type { NodeMetrics, PodMetrics } from '@cluster-apiserver/api/resources/metrics/v1beta1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { everything } from '../../../objects/list/selection.js'
import type { ControllerParts } from '../../framework/controller.js'
import { budgetOf } from '../../framework/timers.js'
import type { ContainerUsage, PodMetricsSource, PodUsage } from '../horizontalpodautoscaling/metrics-source.js'
import { behaviourOf, type Rule } from './behaviour.js'
import { failureOf, isSimulated } from './node-status.js'
import { podRulesOf } from './pod-rules.js'

/** Usage of an idle container. */
const idle = { cpu: '10m', memory: '32Mi' }
/** As in a metrics server. */
const windowMs = 15_000

/** Undefined for pods that do not run. */
function usageOfPod(pod: Pod, rules: readonly Rule[], nowMs: number): PodUsage | undefined {
  const { metadata, status } = pod
  const running = (status?.containerStatuses ?? []).filter(({ state }) => state?.running !== undefined)
  if (running.length === 0) return undefined
  const containers = running.map(({ name = '', image = '' }): ContainerUsage => {
    const { usage } = behaviourOf(pod, { name, image, isInit: false }, rules)
    return { name, usage: { ...idle, ...usage } }
  })
  return { name: metadata?.name ?? '', atMs: nowMs, windowMs, containers }
}

interface UsedPod {
  readonly pod: Pod
  readonly usage: PodUsage
}

interface SimulatedUsage extends PodMetricsSource {
  ofNodes(): Promise<readonly ApiObject[]>
  ofPods(namespace: string): Promise<readonly ApiObject[]>
}

export function simulatedUsage(parts: ControllerParts, fileRules: readonly Rule[]): SimulatedUsage {
  const { engine, catalogs } = parts
  const budget: TurnBudget = budgetOf(parts.pacing ?? parts.timers)
  /** Nodes whose kubelet can be reached: a metrics server has no usage of other nodes. */
  const readNodes = async (): Promise<ReadonlyMap<string, Node>> => {
    const resource = catalogs.current.find('', 'v1', 'nodes')
    const found = new Map<string, Node>()
    if (resource === undefined) return found
    for (const stored of engine.store.readAll({ resource, namespace: '', selection: everything, limit: 0 }).objects()) {
      await budget.yieldIfSpent()
      const node = stored.decode(resource) as Node
      if (isSimulated(node, engine.identity) && failureOf(node, engine.identity) !== 'Silent') found.set(node.metadata?.name ?? '', node)
    }
    return found
  }
  const readPods = async (namespace: string, selector: string, nodes: ReadonlyMap<string, Node>): Promise<readonly UsedPod[]> => {
    const resource = catalogs.current.find('', 'v1', 'pods')
    const used: UsedPod[] = []
    if (resource === undefined) return used
    const selection = { labels: compileLabelSelector(selector), fields: undefined }
    for (const stored of engine.store.readAll({ resource, namespace, selection, limit: 0 }).objects()) {
      await budget.yieldIfSpent()
      const pod = stored.decode(resource) as Pod
      if (!nodes.has(pod.spec?.nodeName ?? '')) continue
      const usage = usageOfPod(pod, podRulesOf(pod, fileRules, engine.identity).rules, engine.clock.now())
      if (usage !== undefined) used.push({ pod, usage })
    }
    return used
  }
  return {
    usageOf: async (namespace, selector) => (await readPods(namespace, selector, await readNodes())).map(({ usage }) => usage),
    ofPods: async (namespace) => (await readPods(namespace, '', await readNodes())).map(podMetricsOf),
    ofNodes: async () => {
      const nodes = await readNodes()
      const byNode = new Map<string, PodUsage[]>([...nodes.keys()].map((name) => [name, []]))
      for (const { pod, usage } of await readPods('', '', nodes)) byNode.get(pod.spec?.nodeName ?? '')?.push(usage)
      const nowMs = engine.clock.now()
      return [...nodes.values()].map((node) => nodeMetricsOf(node, byNode.get(node.metadata?.name ?? '') ?? [], nowMs))
    },
  }
}

const measured = (atMs: number): { readonly timestamp: string; readonly window: string } => ({
  timestamp: timeOf(atMs),
  window: `${windowMs / 1000}s`,
})

/** Metadata of a metrics object: name, namespace and labels of its pod or node. */
const metadataOf = ({ metadata: { name = '', namespace, labels, creationTimestamp } = {} }: Pod | Node) => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
  ...(labels === undefined ? {} : { labels }),
  ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
})

const podMetricsOf = ({ pod, usage: { atMs, containers } }: UsedPod): ApiObject =>
  ({ metadata: metadataOf(pod), ...measured(atMs), containers }) satisfies PodMetrics as ApiObject

function nodeMetricsOf(node: Node, pods: readonly PodUsage[], nowMs: number): ApiObject {
  const usage = sumUsage([noUsage, ...pods.flatMap(({ containers }) => containers.map((container) => container.usage))])
  return { metadata: metadataOf(node), ...measured(nowMs), usage } satisfies NodeMetrics as ApiObject
}

const noUsage = { cpu: '0', memory: '0' }
