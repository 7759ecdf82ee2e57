// What a namespace that is being deleted says about its progress.

import { compareText } from '../base/text-order.js'
import { timeOf } from '../schema/scalars.js'

/** An object that is still there after everything was deleted once. */
export interface Leftover {
  /** The resource with its group. */
  readonly resource: string
  readonly finalizers: readonly string[]
}

export interface Condition {
  readonly type?: string
  readonly status?: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

export interface Progress {
  readonly before: readonly Condition[]
  readonly leftovers: readonly Leftover[]
  readonly now: number
}

/** The conditions as they are now; the same list when nothing changed. */
export function terminationConditions({ before, leftovers, now }: Progress): readonly Condition[] {
  const wanted = describe(leftovers)
  const isSame = (a: Condition | undefined, b: Condition): boolean =>
    a?.status === b.status && a?.reason === b.reason && a?.message === b.message
  const find = (type: string | undefined): Condition | undefined => before.find((condition) => condition.type === type)
  if (wanted.every((condition) => isSame(find(condition.type), condition))) return before
  const others = before.filter((condition) => !wanted.some(({ type }) => type === condition.type))
  return [
    ...others,
    ...wanted.map((condition) => {
      const old = find(condition.type)
      const since = old !== undefined && old.status === condition.status ? old.lastTransitionTime : undefined
      return { ...condition, lastTransitionTime: since ?? timeOf(now) }
    }),
  ]
}

function describe(leftovers: readonly Leftover[]): readonly Condition[] {
  const remaining = leftovers.length > 0
  const held = leftovers.some(({ finalizers }) => finalizers.length > 0)
  return [
    {
      type: 'NamespaceDeletionDiscoveryFailure',
      status: 'False',
      reason: 'ResourcesDiscovered',
      message: 'All resources successfully discovered',
    },
    {
      type: 'NamespaceDeletionGroupVersionParsingFailure',
      status: 'False',
      reason: 'ParsedGroupVersions',
      message: 'All legacy kube types successfully parsed',
    },
    {
      type: 'NamespaceDeletionContentFailure',
      status: 'False',
      reason: 'ContentDeleted',
      message: 'All content successfully deleted, may be waiting on finalization',
    },
    remaining
      ? {
          type: 'NamespaceContentRemaining',
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: `Some resources are remaining: ${counted(
            leftovers.map(({ resource }) => resource),
            'has',
            'resource instances',
          )}`,
        }
      : { type: 'NamespaceContentRemaining', status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed' },
    held
      ? {
          type: 'NamespaceFinalizersRemaining',
          status: 'True',
          reason: 'SomeFinalizersRemain',
          message: `Some content in the namespace has finalizers remaining: ${counted(
            leftovers.flatMap(({ finalizers }) => finalizers),
            'in',
            'resource instances',
          )}`,
        }
      : {
          type: 'NamespaceFinalizersRemaining',
          status: 'False',
          reason: 'ContentHasNoFinalizers',
          message: 'All content-preserving finalizers finished',
        },
  ]
}

function counted(names: readonly string[], verb: string, noun: string): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, count]) => `${name}${verb === 'has' ? '.' : ''} ${verb} ${count} ${noun}`)
    .join(', ')
}
