// ReplicaSets of a Deployment: the new one and the old ones, revisions, and annotations. Pure.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { withMetadata } from '@cluster-apiserver/api/api/object.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { own } from '@cluster-apiserver/api/base/own-property.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { Deployment, ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { PodTemplateSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'

/** The label that distinguishes the pods of the ReplicaSets of a Deployment. */
export const hashLabel = 'pod-template-hash'
export const rollbackAnnotation = 'deprecated.deployment.rollback.to'
/** Maximum number of characters of the annotation with earlier revisions. */
const maxHistoryLength = 2000

export const replicasOf = ({ spec }: Deployment | ReplicaSet): number => spec?.replicas ?? 1

/** Oldest first. */
export const byAge = (one: ReplicaSet, other: ReplicaSet): number =>
  compareText(one.metadata?.creationTimestamp ?? '', other.metadata?.creationTimestamp ?? '') ||
  compareText(one.metadata?.name ?? '', other.metadata?.name ?? '')

export function templateWithoutHash(template: PodTemplateSpec | undefined): PodTemplateSpec {
  const { [hashLabel]: _, ...labels } = template?.metadata?.labels ?? {}
  const { labels: __, ...metadata } = template?.metadata ?? {}
  return { ...template, metadata: Object.keys(labels).length === 0 ? metadata : { ...metadata, labels } } as PodTemplateSpec
}

export const hasTemplate = (replicaSet: ReplicaSet, deployment: Deployment): boolean =>
  sameValue(templateWithoutHash(replicaSet.spec?.template), templateWithoutHash(deployment.spec?.template))

interface SplitReplicaSets {
  /** The oldest ReplicaSet with the template of the Deployment. */
  readonly current: ReplicaSet | undefined
  readonly old: readonly ReplicaSet[]
}

export function splitReplicaSets(deployment: Deployment, replicaSets: readonly ReplicaSet[]): SplitReplicaSets {
  const current = replicaSets.toSorted(byAge).find((each) => hasTemplate(each, deployment))
  return { current, old: replicaSets.filter((each) => each !== current) }
}

const deploymentAnnotation = (identity: Identity, name: string): string => identity.label(name, 'deployment')

const annotationOf = (identity: Identity, { metadata }: Deployment | ReplicaSet, name: string): string | undefined =>
  own(metadata?.annotations, deploymentAnnotation(identity, name))

const integerOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined

/** The revision that an annotation asks to roll back to; undefined if it is no number. */
export const rollbackRevisionOf = ({ metadata }: Deployment): number | undefined =>
  integerOf(own(metadata?.annotations, rollbackAnnotation))

export const revisionTextOf = (identity: Identity, object: Deployment | ReplicaSet): string =>
  annotationOf(identity, object, 'revision') ?? ''

/** 0 without the annotation; undefined if it is no number. */
export function revisionOf(identity: Identity, object: ReplicaSet): number | undefined {
  const text = revisionTextOf(identity, object)
  return text === '' ? 0 : integerOf(text)
}

export const maxRevision = (identity: Identity, replicaSets: readonly ReplicaSet[]): number =>
  replicaSets.reduce((max, each) => Math.max(max, revisionOf(identity, each) ?? 0), 0)

/** The second highest revision; 0 if there is none. */
export const lastRevision = (identity: Identity, replicaSets: readonly ReplicaSet[]): number =>
  replicaSets.map((each) => revisionOf(identity, each) ?? 0).toSorted((a, b) => b - a)[1] ?? 0

export const byRevision =
  (identity: Identity) =>
  (one: ReplicaSet, other: ReplicaSet): number => {
    const [a, b] = [revisionOf(identity, one), revisionOf(identity, other)]
    return a === undefined || b === undefined || a === b ? byAge(one, other) : a - b
  }

/** `spec.replicas` of the Deployment when it scaled the ReplicaSet last. */
export const desiredReplicasOf = (identity: Identity, replicaSet: ReplicaSet): number | undefined =>
  integerOf(annotationOf(identity, replicaSet, 'desired-replicas'))

export const maxReplicasOf = (identity: Identity, replicaSet: ReplicaSet): number | undefined =>
  integerOf(annotationOf(identity, replicaSet, 'max-replicas'))

const withAnnotations = <T extends Deployment | ReplicaSet>(object: T, changes: { readonly [name: string]: string }): T => {
  const before = object.metadata?.annotations
  return Object.entries(changes).every(([name, value]) => own(before, name) === value)
    ? object
    : withMetadata(object, { annotations: { ...before, ...changes } })
}

export const withRevision = <T extends Deployment | ReplicaSet>(identity: Identity, object: T, revision: string): T =>
  withAnnotations(object, { [deploymentAnnotation(identity, 'revision')]: revision })

/** Returns the same object if the annotations are there already. */
export const withReplicaCounts = (identity: Identity, replicaSet: ReplicaSet, desired: number, max: number): ReplicaSet =>
  withAnnotations(replicaSet, {
    [deploymentAnnotation(identity, 'desired-replicas')]: String(desired),
    [deploymentAnnotation(identity, 'max-replicas')]: String(max),
  })

/** Annotations that a Deployment and its ReplicaSets do not share. */
const unsharedAnnotations = (identity: Identity): ReadonlySet<string> =>
  new Set([
    identity.label('last-applied-configuration', 'kubectl'),
    ...['revision', 'revision-history', 'desired-replicas', 'max-replicas'].map((name) => deploymentAnnotation(identity, name)),
    rollbackAnnotation,
  ])

function sharedAnnotationsOf(
  identity: Identity,
  { metadata }: Deployment | ReplicaSet,
  isShared: boolean,
): { readonly [name: string]: string } {
  const unshared = unsharedAnnotations(identity)
  return Object.fromEntries(Object.entries(metadata?.annotations ?? {}).filter(([name]) => unshared.has(name) !== isShared))
}

/** Annotations after a rollback: of the ReplicaSet, and the Deployment's own. */
export const withAnnotationsOf = (identity: Identity, deployment: Deployment, replicaSet: ReplicaSet): Deployment =>
  withMetadata(deployment, {
    annotations: { ...sharedAnnotationsOf(identity, deployment, false), ...sharedAnnotationsOf(identity, replicaSet, true) },
  })

/**
 * The new ReplicaSet with the annotations of its Deployment and at least this revision; an earlier revision is added to its history.
 * Returns the same object if nothing changes.
 */
export function withNewAnnotations(identity: Identity, deployment: Deployment, replicaSet: ReplicaSet, revision: number): ReplicaSet {
  const copied = withAnnotations(replicaSet, sharedAnnotationsOf(identity, deployment, true))
  const before = annotationOf(identity, replicaSet, 'revision')
  const beforeNumber = revisionOf(identity, replicaSet)
  if (beforeNumber === undefined || beforeNumber >= revision) return copied
  const renumbered = withRevision(identity, copied, String(revision))
  const history = before === undefined ? undefined : historyWith(annotationOf(identity, replicaSet, 'revision-history') ?? '', before)
  return history === undefined ? renumbered : withAnnotations(renumbered, { [deploymentAnnotation(identity, 'revision-history')]: history })
}

/** Drops the oldest revisions if the text gets too long; undefined if even that does not help. */
function historyWith(history: string, revision: string): string | undefined {
  if (history === '' || history.startsWith(',')) return revision
  const revisions = history.split(',')
  let length = history.length + revision.length + 1
  let start = 0
  for (; length > maxHistoryLength && start < revisions.length; start++) length -= (revisions[start] as string).length + 1
  return length <= maxHistoryLength ? [...revisions.slice(start), revision].join(',') : undefined
}
