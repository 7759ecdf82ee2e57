// StatefulSet controller: pods with stable names and claims, created, updated and removed by ordinal; one ControllerRevision per template.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { ControllerRevision, StatefulSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Pod, PodTemplateSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { ObjectAddress } from '../../../objects/object-store.js'
import { KeyedController } from '../../framework/controller.js'
import { isNamespaceTerminating } from '../../framework/internal-call.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { adoptersOf, type ClaimRequest, claimObjects } from '../kit/claim-objects.js'
import { withoutZeros } from '../kit/conditions.js'
import { snapshotOf, sortRevisions, syncRevision, templateOfRevision } from '../kit/controller-revisions.js'
import { dependentsSource, orphanOf, ownersSource } from '../kit/owner-keys.js'
import { untilNextAvailableMs } from '../kit/pod-state.js'
import { addressOfKey, isTerminating, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { type Counts, planStatefulSet, statusAfter } from './stateful-plan.js'
import { ordinalOf, revisionOfPod } from './stateful-pods.js'
import { areClaimsOwned, type Context, isAnyClaimStale, isConsistent, performStep } from './stateful-writes.js'

export const statefulSets = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'statefulset-controller')
  const contextOf = (catalog: Catalog): Context | undefined => {
    const [sets, revisions] = [catalog.find('apps', 'v1', 'statefulsets'), catalog.find('apps', 'v1', 'controllerrevisions')]
    const [pods, claims] = [catalog.find('', 'v1', 'pods'), catalog.find('', 'v1', 'persistentvolumeclaims')]
    if (sets === undefined || revisions === undefined || pods === undefined || claims === undefined) return undefined
    return { parts, writer, sets, revisions, pods, claims }
  }
  return new KeyedController(parts, {
    name: 'statefulset',
    concurrency: 5,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const context = contextOf(catalog)
      return context === undefined ? [] : [ownersSource(context.sets), dependentsSource(parts, context.pods, context.sets)]
    },
    work: async (key) => {
      const context = contextOf(parts.catalogs.current)
      if (context === undefined) return undefined
      const orphan = orphanOf(key)
      if (orphan === undefined) return reconcile(context, addressOfKey(context.sets, key))
      return adoptersOf<StatefulSet, Pod>(parts, {
        address: { resource: context.pods, ...orphan },
        owners: context.sets,
        requestOf: (owner) => podClaimOf(context, owner),
      })
    },
  })
}

const nameOf = ({ metadata }: StatefulSet): string => metadata?.name ?? ''

const podClaimOf = ({ sets, pods }: Context, owner: StatefulSet): ClaimRequest<Pod> => ({
  owner,
  ownerResource: sets,
  resource: pods,
  selector: fromSelectorObject(owner.spec?.selector),
  isCandidate: (pod) => ordinalOf(pod, nameOf(owner)) !== undefined,
})

const claimRevisions = ({ parts, writer, sets, revisions }: Context, owner: StatefulSet): Promise<readonly ControllerRevision[]> =>
  claimObjects<ControllerRevision>(parts, writer, {
    owner,
    ownerResource: sets,
    resource: revisions,
    selector: fromSelectorObject(owner.spec?.selector),
  })

/** Delay until the garbage collector has deleted the claims of a removed pod. */
const staleClaimDelayMs = 1000

async function reconcile(context: Context, address: ObjectAddress): Promise<Outcome> {
  const { parts } = context
  const { clock, gates } = parts.engine
  const set = readObject<StatefulSet>(parts, address)
  if (set === undefined) return undefined
  const history = await findRevisions(context, set)
  const pods = await claimObjects(parts, context.writer, podClaimOf(context, set))
  const nowMs = clock.now()
  const { current, update } = history
  const input = {
    set,
    pods,
    current,
    update,
    nowMs,
    isMaxUnavailableEnabled: gates('MaxUnavailableStatefulSet'),
    isStartOrdinalEnabled: gates('StatefulSetStartOrdinal'),
    isClaimStale: (ordinal: number) => isAnyClaimStale(context, set, ordinal),
    isConsistent: (pod: Pod, ordinal: number) => isConsistent(context, { set, pod, ordinal }),
    isReadyForRemoval: (pod: Pod, ordinal: number) => areClaimsOwned(context, { set, pod, ordinal }),
  }
  const { initial, steps, waitsForClaim } = planStatefulSet(input)
  let counts: Counts = initial
  try {
    for (const step of steps) {
      await performStep(context, set, step, history.templateOf)
      counts = step.counts
    }
  } catch (thrown) {
    if (isNamespaceTerminating(thrown)) return undefined
    await writeStatus(context, set, statusAfter(input, counts, history.collisionCount))
    throw thrown
  }
  await writeStatus(context, set, statusAfter(input, counts, history.collisionCount))
  await deleteOldRevisions(context, set, history, pods)
  if (waitsForClaim) return { afterMs: staleClaimDelayMs }
  const waitMs = untilNextAvailableMs(pods, set.spec?.minReadySeconds ?? 0, nowMs)
  return waitMs === undefined ? undefined : { afterMs: waitMs }
}

async function writeStatus({ writer, sets }: Context, set: StatefulSet, status: NonNullable<StatefulSet['status']>): Promise<void> {
  const { conditions: _, ...stored } = set.status ?? {}
  if (!sameValue(withoutZeros(stored), withoutZeros(status))) await writer.update<StatefulSet>(sets, { ...set, status }, 'status')
}

interface History {
  /** Oldest first. */
  readonly revisions: readonly ControllerRevision[]
  readonly current: string
  readonly update: string
  readonly collisionCount: number
  readonly templateOf: (revision: string) => PodTemplateSpec
}

async function findRevisions(context: Context, set: StatefulSet): Promise<History> {
  const { parts, writer, sets, revisions: resource } = context
  const { status, spec, metadata } = set
  const revisions = sortRevisions(await claimRevisions(context, set))
  const template = spec?.template ?? {}
  const { currentRevision = '', updateRevision = '', collisionCount: collisions = 0 } = status ?? {}
  // The garbage collector may have deleted the revisions of a terminating StatefulSet.
  if (isTerminating(set))
    return { revisions, current: currentRevision, update: updateRevision, collisionCount: collisions, templateOf: () => template }
  const hashLabel = parts.engine.identity.label('hash', 'controller')
  const { revision: updated, collisionCount } = await syncRevision(parts, writer, {
    sorted: revisions,
    collisionCount: collisions,
    wanted: {
      owner: set,
      ownerResource: sets,
      resource,
      data: snapshotOf(template),
      labelsOf: (hash) => ({ ...template.metadata?.labels, [hashLabel]: hash }),
      ...(metadata?.annotations === undefined ? {} : { annotations: metadata.annotations }),
    },
  })
  const update = updated.metadata?.name ?? ''
  const current = revisions.find((revision) => revision.metadata?.name === currentRevision) ?? updated
  const templateOf = (name: string): PodTemplateSpec => (name === update ? template : templateOfRevision(current))
  return { revisions, current: current.metadata?.name ?? '', update, collisionCount, templateOf }
}

/** Revisions without pods, apart from the current one and that of the update; the oldest are deleted first. */
async function deleteOldRevisions(
  { writer, revisions: resource }: Context,
  set: StatefulSet,
  { revisions, current, update }: History,
  pods: readonly Pod[],
): Promise<void> {
  if (isTerminating(set)) return
  const inUse = new Set([current, update, ...pods.map(revisionOfPod)])
  const unused = revisions.filter(({ metadata }) => !inUse.has(metadata?.name ?? ''))
  const excess = unused.length - (set.spec?.revisionHistoryLimit ?? 10)
  for (const revision of unused.slice(0, Math.max(0, excess))) await writer.delete(resource, revision)
}
