// Preemption: the pods of lower priority to evict from one node, so that a pod fits there.

import { type CompiledLabelSelector, fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { PodDisruptionBudget } from '@cluster-apiserver/api/resources/policy/v1.schema.js'
import { type Diagnosis, fitMessage, type NodeRefusal } from './find-node.js'
import type { NodeState, PlacedPod } from './node-state.js'
import type { Cluster, NodeFilter, PendingPod, Refusal } from './plugins/plugin.js'

export interface PreemptionContext {
  readonly cluster: Cluster
  readonly diagnosis: Diagnosis
  /** Undefined: the pod was refused before any node was judged. */
  readonly judge: NodeFilter | undefined
  readonly budgets: () => readonly PodDisruptionBudget[]
  /** Start time of pods that have not started. */
  readonly nowMs: number
  readonly budget: TurnBudget
}

type Preemption =
  | { readonly node: string; readonly victims: readonly string[] }
  /** `clears`: a nominated node of the pod no longer helps. */
  | { readonly message: string; readonly clears: boolean }

interface Victim {
  readonly key: string
  readonly pod: PlacedPod
  readonly startMs: number
}

interface Candidate {
  readonly node: string
  /** Most important first. */
  readonly victims: readonly Victim[]
  /** Victims whose disruption budget is exhausted. */
  readonly violations: number
}

const unhelpful: Refusal = { reasons: ['Preemption is not helpful for scheduling'], isFinal: true }
const noVictims: Refusal = { reasons: ['No preemption victims found for incoming pod'], isFinal: true }

export async function planPreemption(pending: PendingPod, context: PreemptionContext): Promise<Preemption> {
  const ineligible = ineligibility(pending, context)
  if (ineligible !== undefined) return { message: `preemption: ${ineligible}`, clears: false }
  const { cluster, diagnosis } = context
  const budgets = budgetsOf(context)
  const refusals = new Map<string, NodeRefusal>()
  const candidates: Candidate[] = []
  const failures = new Set<string>()
  for (const node of cluster.nodes) {
    const found = diagnosis.refusals.get(node.name)?.isFinal === true ? unhelpful : await victimsOn(node, pending, context, budgets)
    if (typeof found === 'string') failures.add(found)
    else if ('reasons' in found) refusals.set(node.name, { ...found, plugin: '' })
    else candidates.push(found)
  }
  const best = candidates.reduce<Candidate | undefined>((a, b) => (a === undefined || isBetter(b, a) ? b : a), undefined)
  if (best !== undefined) return { node: best.node, victims: best.victims.map(({ key }) => key) }
  if (failures.size > 0) {
    const texts = [...failures]
    return { message: `preemption: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`, clears: false }
  }
  return { message: `preemption: ${fitMessage(refusals.size, { refusals, message: undefined })}`, clears: true }
}

function ineligibility({ pod, shape }: PendingPod, { cluster, diagnosis }: PreemptionContext): string | undefined {
  if (pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  const nominated = pod.status?.nominatedNodeName ?? ''
  if (nominated === '' || diagnosis.refusals.get(nominated)?.isFinal === true) return undefined
  for (const other of cluster.node(nominated)?.pods.values() ?? [])
    if (other.isTerminating && other.shape.priority < shape.priority) return 'not eligible due to a terminating pod on the nominated node.'
  return undefined
}

/** The pods to evict from a node, a reason against it, or the text of a failure. */
async function victimsOn(
  node: NodeState,
  { shape }: PendingPod,
  { judge, nowMs, budget }: PreemptionContext,
  budgets: readonly Budget[],
): Promise<Candidate | Refusal | string> {
  if (budget.isSpent) await budget.nextTurn()
  const lower: Victim[] = []
  for (const [key, pod] of node.pods) if (pod.shape.priority < shape.priority) lower.push({ key, pod, startMs: pod.startMs ?? nowMs })
  if (lower.length === 0) return noVictims
  // A filter refused the pod before the others were prepared, so nothing can judge the node without these pods.
  if (judge === undefined) return unpreparedText
  const without = node.copy()
  for (const { key } of lower) without.remove(key)
  const refusal = judge(without)
  if (refusal !== undefined) return refusal
  lower.sort(byImportance)
  const violating = violatingKeys(lower, budgets)
  const victims: Victim[] = []
  let violations = 0
  // Pods that stay: first those whose budget forbids a disruption, then the others, the most important first.
  for (const isViolating of [true, false])
    for (const victim of lower) {
      if (violating.has(victim.key) !== isViolating) continue
      if (budget.isSpent) await budget.nextTurn()
      without.add(victim.key, victim.pod)
      if (judge(without) === undefined) continue
      without.remove(victim.key)
      victims.push(victim)
      if (isViolating) violations += 1
    }
  if (victims.length === 0) return `expected at least one victim pod on node "${node.name}"`
  return { node: node.name, victims: victims.sort(byImportance), violations }
}

const unpreparedText =
  'running RemovePod on PreFilter plugin "PodTopologySpread": reading "PreFilterPodTopologySpread" from cycleState: not found'

const byImportance = (a: Victim, b: Victim): number => b.pod.shape.priority - a.pod.shape.priority || a.startMs - b.startMs

interface Budget {
  readonly namespace: string
  readonly selector: CompiledLabelSelector
  readonly allowed: number
  readonly disrupted: { readonly [podName: string]: unknown }
}

const budgetsOf = ({ budgets }: PreemptionContext): readonly Budget[] =>
  budgets().flatMap(({ metadata, spec, status }) => {
    const selector = fromSelectorObject(spec?.selector)
    if (selector.isEverything) return []
    return {
      namespace: metadata?.namespace ?? '',
      selector,
      allowed: status?.disruptionsAllowed ?? 0,
      disrupted: status?.disruptedPods ?? {},
    }
  })

function violatingKeys(victims: readonly Victim[], budgets: readonly Budget[]): ReadonlySet<string> {
  const left = budgets.map(({ allowed }) => allowed)
  const violating = new Set<string>()
  for (const { key, pod } of victims) {
    const { namespace, labels } = pod.shape
    if (Object.keys(labels).length === 0) continue
    const name = key.slice(key.indexOf('/') + 1)
    for (const [i, budget] of budgets.entries()) {
      if (budget.namespace !== namespace || !budget.selector.matches(labels) || Object.hasOwn(budget.disrupted, name)) continue
      left[i] = (left[i] as number) - 1
      if ((left[i] as number) < 0) violating.add(key)
    }
  }
  return violating
}

/** Fewest violated budgets, lowest highest priority, lowest sum of priorities, fewest victims, latest start; then the first by name. */
function isBetter(a: Candidate, b: Candidate): boolean {
  for (const criterion of criteria) {
    const difference = criterion(a) - criterion(b)
    if (difference !== 0) return difference < 0
  }
  return false
}

const offset = 2 ** 31
const criteria: readonly ((candidate: Candidate) => number)[] = [
  ({ violations }) => violations,
  ({ victims }) => victims[0]?.pod.shape.priority ?? Number.NEGATIVE_INFINITY,
  ({ victims }) => victims.reduce((sum, { pod }) => sum + pod.shape.priority + offset, 0),
  ({ victims }) => victims.length,
  ({ victims }) => -earliestStart(victims),
]

/** Of the victims with the highest priority. */
function earliestStart(victims: readonly Victim[]): number {
  const highest = victims[0]?.pod.shape.priority
  return Math.min(...victims.filter(({ pod }) => pod.shape.priority === highest).map(({ startMs }) => startMs))
}
