// Conditions of a terminating Namespace, with the messages of kube-apiserver.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { compareText, sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { Remaining } from './namespace-contents.js'

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

interface Progress {
  readonly before: readonly Condition[]
  readonly remaining: Remaining
  readonly now: number
}

export function terminationConditions({ before, remaining, now }: Progress): readonly Condition[] {
  const wanted = conditionsOf(remaining)
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

function conditionsOf({ objects, finalizers, failures, undiscovered = [] }: Remaining): readonly Condition[] {
  return [
    undiscovered.length > 0
      ? {
          type: 'NamespaceDeletionDiscoveryFailure',
          status: 'True',
          reason: 'DiscoveryFailed',
          message: `Discovery failed for some groups, ${undiscovered.length} failing: ${discoveryFailureMessage(undiscovered)}`,
        }
      : {
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
    failures.length > 0
      ? {
          type: 'NamespaceDeletionContentFailure',
          status: 'True',
          reason: 'ContentDeletionFailed',
          message: `Failed to delete all resource types, ${failures.length} remaining: ${sortTexts(failures.map(errorMessage)).join(', ')}`,
        }
      : {
          type: 'NamespaceDeletionContentFailure',
          status: 'False',
          reason: 'ContentDeleted',
          message: 'All content successfully deleted, may be waiting on finalization',
        },
    objects.size > 0
      ? {
          type: 'NamespaceContentRemaining',
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: `Some resources are remaining: ${listCounts(objects, (name, count) => `${name}. has ${count} resource instances`)}`,
        }
      : { type: 'NamespaceContentRemaining', status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed' },
    finalizers.size > 0
      ? {
          type: 'NamespaceFinalizersRemaining',
          status: 'True',
          reason: 'SomeFinalizersRemain',
          message: `Some content in the namespace has finalizers remaining: ${listCounts(finalizers, (name, count) => `${name} in ${count} resource instances`)}`,
        }
      : {
          type: 'NamespaceFinalizersRemaining',
          status: 'False',
          reason: 'ContentHasNoFinalizers',
          message: 'All content-preserving finalizers finished',
        },
  ]
}

export const discoveryFailureMessage = (versions: readonly string[]): string =>
  `unable to retrieve the complete list of server APIs: ${sortTexts(
    versions.map((version) => `${version}: the server is currently unable to handle the request`),
  ).join(', ')}`

function listCounts(counts: ReadonlyMap<string, number>, describeOne: (name: string, count: number) => string): string {
  return [...counts]
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, count]) => describeOne(name, count))
    .join(', ')
}
