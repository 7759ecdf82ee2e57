// Finds the node of a pod: filters, then scores. The same cluster gives the same node; nodes that change meanwhile are judged as they are then.

import { compareText, sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import { type TurnBudget, turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { NodeState, PlacedPod } from './node-state.js'
import { defaultProfile } from './plugins/default-profile.js'
import type { Cluster, NodeFilter, PendingPod, Refusal } from './plugins/plugin.js'

/** Pods that wait for victims of preemption to leave a node. */
export interface NominatedPods {
  on(nodeName: string): Iterable<readonly [string, PlacedPod]>
}

export interface NodeRefusal extends Refusal {
  readonly plugin: string
}

/** Why no node fits. */
export interface Diagnosis {
  /** Nodes that no filter judged are missing, as in the messages of release 1.26. */
  readonly refusals: ReadonlyMap<string, NodeRefusal>
  /** The pod was refused before any node was judged. */
  readonly message: string | undefined
  /** Names of the plugins that refused. */
  readonly plugins: ReadonlySet<string>
}

type Finding =
  | { readonly node: NodeState }
  | { readonly diagnosis: Diagnosis; readonly judge: NodeFilter | undefined }
  | { readonly failure: string }

interface Prepared {
  readonly filters: readonly NamedFilter[]
  readonly nodeNames: ReadonlySet<string> | undefined
}

interface NamedFilter {
  readonly plugin: string
  readonly filter: NodeFilter
}

export async function findNode(
  pending: PendingPod,
  cluster: Cluster,
  nominated: NominatedPods,
  budget: TurnBudget = turnBudget,
): Promise<Finding> {
  const prepared = await prepare(pending, cluster, budget)
  if ('failure' in prepared) return prepared
  if ('refused' in prepared) {
    const { refused, plugins } = prepared
    return { diagnosis: { refusals: new Map(), message: refused, plugins: new Set(plugins) }, judge: undefined }
  }
  const judge = (node: NodeState): NodeRefusal | undefined => judgeNode(prepared.filters, { pending, nominated, node })
  // A pod that preempted others fits on its nominated node as soon as they are deleted.
  const nominatedNode = cluster.node(pending.pod.status?.nominatedNodeName ?? '')
  if (nominatedNode !== undefined && judge(nominatedNode) === undefined) return { node: nominatedNode }
  const nodes = namedNodes(cluster, prepared.nodeNames)
  if ('failure' in nodes) return nodes
  const refusals = new Map<string, NodeRefusal>()
  const fitting: NodeState[] = []
  for (const node of nodes) {
    if (budget.isSpent) await budget.nextTurn()
    const refusal = judge(node)
    if (refusal === undefined) fitting.push(node)
    else refusals.set(node.name, refusal)
  }
  const best = await bestOf(pending, cluster, fitting, budget)
  if (best !== undefined) return { node: best }
  const plugins = new Set([...refusals.values()].map(({ plugin }) => plugin))
  return { diagnosis: { refusals, message: undefined, plugins }, judge }
}

type Refused = { readonly failure: string } | { readonly refused: string; readonly plugins: readonly string[] }

async function prepare(pending: PendingPod, cluster: Cluster, budget: TurnBudget): Promise<Prepared | Refused> {
  const filters: NamedFilter[] = []
  let nodeNames: ReadonlySet<string> | undefined
  const naming: string[] = []
  for (const { name, prepare: prepareOne } of defaultProfile) {
    const preparation = await prepareOne?.(pending, cluster, budget)
    if (preparation === undefined) continue
    if (preparation.failed !== undefined) return { failure: `running PreFilter plugin "${name}": ${preparation.failed}` }
    if (preparation.refused !== undefined) return { refused: preparation.refused, plugins: [name] }
    if (preparation.filter !== undefined) filters.push({ plugin: name, filter: preparation.filter })
    if (preparation.nodeNames === undefined) continue
    const before: ReadonlySet<string> = nodeNames ?? preparation.nodeNames
    nodeNames = new Set([...preparation.nodeNames].filter((nodeName) => before.has(nodeName)))
    naming.push(name)
    if (nodeNames.size === 0)
      return { refused: `node(s) didn't satisfy plugin(s) [${sortTexts([...naming]).join(' ')}] simultaneously`, plugins: naming }
  }
  return { filters, nodeNames }
}

function namedNodes({ nodes, node }: Cluster, names: ReadonlySet<string> | undefined): readonly NodeState[] | { readonly failure: string } {
  if (names === undefined) return nodes
  const found: NodeState[] = []
  for (const name of names) {
    const state = node(name)
    if (state === undefined) return { failure: `nodeinfo not found for node name "${name}"` }
    found.push(state)
  }
  return found.sort((a, b) => compareText(a.name, b.name))
}

interface Judged {
  readonly pending: PendingPod
  readonly nominated: NominatedPods
  readonly node: NodeState
}

/** Must fit with and without the nominated pods of at least the same priority: they may never arrive. */
function judgeNode(filters: readonly NamedFilter[], { pending, nominated, node }: Judged): NodeRefusal | undefined {
  let withNominated: NodeState | undefined
  for (const [key, pod] of nominated.on(node.name)) {
    if (key === pending.key || pod.shape.priority < pending.shape.priority) continue
    withNominated ??= node.base === undefined ? node.copy() : copyOfCopy(node)
    withNominated.add(key, pod)
  }
  return (withNominated && runFilters(filters, withNominated)) ?? runFilters(filters, node)
}

function copyOfCopy(node: NodeState): NodeState {
  const copy = node.copy()
  for (const key of [...copy.pods.keys()]) if (!node.pods.has(key)) copy.remove(key)
  for (const [key, pod] of node.pods) if (!copy.pods.has(key)) copy.add(key, pod)
  return copy
}

function runFilters(filters: readonly NamedFilter[], node: NodeState): NodeRefusal | undefined {
  for (const { plugin, filter } of filters) {
    const refusal = filter(node)
    if (refusal !== undefined) return { ...refusal, plugin }
  }
  return undefined
}

/** The first by name among the best, so that decisions are stable. */
async function bestOf(
  pending: PendingPod,
  cluster: Cluster,
  nodes: readonly NodeState[],
  budget: TurnBudget,
): Promise<NodeState | undefined> {
  if (nodes.length < 2) return nodes[0]
  const sums = new Array<number>(nodes.length).fill(0)
  for (const { weight = 0, score } of defaultProfile) {
    const scores = await score?.(pending, cluster, nodes, budget)
    if (scores !== undefined) for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] as number) + weight * (scores[i] as number)
  }
  let best = 0
  for (let i = 1; i < sums.length; i++) if ((sums[i] as number) > (sums[best] as number)) best = i
  return nodes[best]
}

/** `0/3 nodes are available: …`. `last`: the message of preemption. */
export function fitMessage(nodeCount: number, { refusals, message }: Pick<Diagnosis, 'refusals' | 'message'>, last?: string): string {
  const counts = new Map<string, number>()
  for (const { reasons } of refusals.values()) for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const parts = [`0/${nodeCount} nodes are available:`]
  if (message !== undefined) parts.push(`${message}.`)
  if (counts.size > 0) parts.push(`${sortTexts([...counts].map(([reason, count]) => `${count} ${reason}`)).join(', ')}.`)
  if (last !== undefined) parts.push(`${last}.`)
  return parts.join(' ')
}
