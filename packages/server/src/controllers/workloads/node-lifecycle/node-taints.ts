// Taints and labels that a Node gets from its conditions, spec and other labels.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Node, Taint } from '@cluster-apiserver/api/resources/core/v1.schema.js'

interface ConditionTaint {
  readonly type: string
  readonly status: string
  readonly name: string
}

const conditionTaints: readonly ConditionTaint[] = [
  { type: 'Ready', status: 'False', name: 'not-ready' },
  { type: 'Ready', status: 'Unknown', name: 'unreachable' },
  { type: 'MemoryPressure', status: 'True', name: 'memory-pressure' },
  { type: 'DiskPressure', status: 'True', name: 'disk-pressure' },
  { type: 'NetworkUnavailable', status: 'True', name: 'network-unavailable' },
  { type: 'PIDPressure', status: 'True', name: 'pid-pressure' },
]

const isSame = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect

/** Taints with the NoSchedule taints of the conditions and of `spec.unschedulable`, new ones at the end; other taints stay. */
export function withNoScheduleTaints({ spec, status }: Node, identity: Identity, timeAdded: string): readonly Taint[] {
  const taintOf = (name: string): Taint => ({ key: identity.label(name, 'node'), effect: 'NoSchedule' })
  const managed = [...conditionTaints.map(({ name }) => name), 'unschedulable'].map(taintOf)
  const wanted = (status?.conditions ?? []).flatMap((condition) =>
    conditionTaints
      .filter(({ type, status: value }) => condition.type === type && condition.status === value)
      .map(({ name }) => taintOf(name)),
  )
  if (spec?.unschedulable === true) wanted.push(taintOf('unschedulable'))
  const taints = spec?.taints ?? []
  const kept = taints.filter((taint) => !managed.some((it) => isSame(it, taint)) || wanted.some((it) => isSame(it, taint)))
  const added = wanted.filter((taint) => !kept.some((it) => isSame(it, taint)))
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded }))]
}

/** Name of the NoExecute taint for a status of `Ready`; undefined: none. */
export function noExecuteTaint(readyStatus: string | undefined): 'not-ready' | 'unreachable' | undefined {
  if (readyStatus === 'False') return 'not-ready'
  return readyStatus === 'Unknown' ? 'unreachable' : undefined
}

/** NoExecute taint of the node controller that the node has. */
export const presentNoExecuteTaint = (taints: readonly Taint[] | undefined, identity: Identity): 'not-ready' | 'unreachable' | undefined =>
  (['not-ready', 'unreachable'] as const).find((name) => taints?.some((taint) => isNoExecute(taint, name, identity)))

const isNoExecute = ({ key, effect }: Taint, name: string, identity: Identity): boolean =>
  effect === 'NoExecute' && key === identity.label(name, 'node')

/** Taints with exactly the named NoExecute taint of the node controller. */
export function withNoExecuteTaint(
  taints: readonly Taint[],
  name: 'not-ready' | 'unreachable' | undefined,
  { identity, timeAdded }: { readonly identity: Identity; readonly timeAdded: string },
): readonly Taint[] {
  const others = (['not-ready', 'unreachable'] as const).filter((other) => other !== name)
  const kept = taints.filter((taint) => !others.some((other) => isNoExecute(taint, other, identity)))
  if (name === undefined || kept.some((taint) => isNoExecute(taint, name, identity))) return kept
  return [...kept, { key: identity.label(name, 'node'), effect: 'NoExecute', timeAdded }]
}

/** Beta labels of operating system and architecture that differ from the stable labels. */
export function missingBetaLabels({ metadata }: Node, identity: Identity): { readonly [key: string]: string } {
  const missing: Record<string, string> = {}
  for (const name of ['os', 'arch']) {
    const value = metadata?.labels?.[identity.label(name)]
    const beta = identity.label(name, 'beta')
    if (value !== undefined && metadata?.labels?.[beta] !== value) missing[beta] = value
  }
  return missing
}
