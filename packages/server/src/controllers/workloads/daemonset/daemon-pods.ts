// Pods of a DaemonSet: their template for a node, their node, and which nodes should run one.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { DaemonSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Affinity, Node, Pod, PodTemplateSpec, Toleration } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { matchesNodeAffinity } from '../kit/node-selector.js'
import { isFinishedPod } from '../kit/pod-state.js'
import { schedulingEffects, untoleratedTaint } from '../kit/tolerations.js'
import { isTerminating } from '../kit/workload-parts.js'

export const hashLabel = 'controller-revision-hash'
const generationLabel = 'pod-template-generation'
const generationAnnotation = 'deprecated.daemonset.template.generation'

/** The template generation; undefined if the annotation is no number. */
const generationOf = ({ metadata }: DaemonSet): string | undefined => {
  const text = metadata?.annotations?.[generationAnnotation] ?? ''
  return /^-?\d+$/.test(text) ? text : undefined
}

/** Tolerations of every daemon pod: it must stay on nodes in trouble, and start on nodes that are not ready. */
function daemonTolerations(identity: Identity, template: PodTemplateSpec): readonly Toleration[] {
  const tolerations: Toleration[] = [...(template.spec?.tolerations ?? [])]
  const add = (name: string, effect: string): void => {
    const wanted: Toleration = { key: identity.label(name, 'node'), operator: 'Exists', effect }
    const index = tolerations.findIndex(({ tolerationSeconds: _, ...each }) => sameValue(each, wanted))
    if (index < 0) tolerations.push(wanted)
    else tolerations[index] = wanted
  }
  add('not-ready', 'NoExecute')
  add('unreachable', 'NoExecute')
  for (const name of ['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable']) add(name, 'NoSchedule')
  if (template.spec?.hostNetwork === true) add('network-unavailable', 'NoSchedule')
  return tolerations
}

/** The pod template for one node: required node affinity by name replaces that of the DaemonSet, which the controller has evaluated. */
export function templateForNode(
  identity: Identity,
  set: DaemonSet,
  { hash, node }: { readonly hash: string; readonly node: string },
): PodTemplateSpec {
  const template = set.spec?.template ?? {}
  const generation = generationOf(set)
  const labels = { ...template.metadata?.labels, ...(generation === undefined ? {} : { [generationLabel]: generation }), [hashLabel]: hash }
  const affinity = withNodeName(template.spec?.affinity, node)
  return {
    ...template,
    metadata: { ...template.metadata, labels },
    spec: { ...template.spec, affinity, tolerations: daemonTolerations(identity, template) },
  } as PodTemplateSpec
}

const withNodeName = (affinity: Affinity | undefined, node: string): Affinity => ({
  ...affinity,
  nodeAffinity: {
    ...affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
    },
  },
})

/** Node on which the pod runs, or the only node that its required affinity names; else undefined. */
export function nodeOfPod({ spec }: Pod): string | undefined {
  if (spec?.nodeName !== undefined && spec.nodeName !== '') return spec.nodeName
  const { nodeSelectorTerms = [] } = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {}
  for (const { matchFields = [] } of nodeSelectorTerms)
    for (const { key, operator, values = [] } of matchFields)
      if (key === 'metadata.name' && operator === 'In' && values.length === 1) return values[0]
  return undefined
}

/** Pods by node. A finished pod that is terminating uses nothing of its node and is replaced at once. */
export function podsByNode(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const byNode = new Map<string, Pod[]>()
  for (const pod of pods) {
    const node = nodeOfPod(pod)
    if (node === undefined || (isFinishedPod(pod) && isTerminating(pod))) continue
    const found = byNode.get(node)
    if (found === undefined) byNode.set(node, [pod])
    else found.push(pod)
  }
  return byNode
}

export interface Eligibility {
  readonly shouldRun: boolean
  /** Running pods stay on a node with taints that only keep new pods away. */
  readonly shouldContinue: boolean
}

export function eligibilityOf(identity: Identity, { spec }: DaemonSet, node: Node): Eligibility {
  const template = spec?.template ?? {}
  const { nodeName = '' } = template.spec ?? {}
  const { name = '', labels = {} } = node.metadata ?? {}
  const isSelected = (nodeName === '' || nodeName === name) && matchesNodeAffinity(template.spec, { name, labels })
  if (!isSelected) return { shouldRun: false, shouldContinue: false }
  const taints = node.spec?.taints ?? []
  if (taints.length === 0) return { shouldRun: true, shouldContinue: true }
  const tolerations = daemonTolerations(identity, template)
  return {
    shouldRun: untoleratedTaint(taints, tolerations, schedulingEffects) === undefined,
    shouldContinue: untoleratedTaint(taints, tolerations, evictingEffects) === undefined,
  }
}

const evictingEffects: ReadonlySet<string> = new Set(['NoExecute'])

/** True if the pod has the template of this hash, or of the current template generation. */
export function isUpdatedPod(set: DaemonSet, { metadata }: Pod, hash: string): boolean {
  const generation = generationOf(set)
  const { [hashLabel]: ofPod, [generationLabel]: generationOfPod } = metadata?.labels ?? {}
  return (hash !== '' && ofPod === hash) || (generation !== undefined && generationOfPod === generation)
}

/** Pods with a node first, then the oldest. */
export const sortPods = (pods: readonly Pod[]): readonly Pod[] =>
  pods.toSorted(
    (one, other) =>
      Number(isUnscheduled(one)) - Number(isUnscheduled(other)) ||
      compareText(one.metadata?.creationTimestamp ?? '', other.metadata?.creationTimestamp ?? '') ||
      compareText(one.metadata?.name ?? '', other.metadata?.name ?? ''),
  )

export const isUnscheduled = ({ spec }: Pod): boolean => (spec?.nodeName ?? '') === ''
