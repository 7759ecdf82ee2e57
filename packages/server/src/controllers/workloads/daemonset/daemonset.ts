// DaemonSet controller: one pod on every eligible node, one ControllerRevision per template.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { inParallel } from '@cluster-apiserver/api/base/async/in-parallel.js'
import type { ControllerRevision, DaemonSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { everything } from '../../../objects/list/selection.js'
import { partsOf } from '../../../objects/object-keys.js'
import type { ObjectAddress } from '../../../objects/object-store.js'
import { KeyedController, type Source } from '../../framework/controller.js'
import { isNamespaceTerminating } from '../../framework/internal-call.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { adoptersOf, type ClaimRequest, claimObjects } from '../kit/claim-objects.js'
import { withoutZeros } from '../kit/conditions.js'
import { snapshotOf, sortRevisions, syncRevision } from '../kit/controller-revisions.js'
import { dependentsSource, orphanOf, ownersSource } from '../kit/owner-keys.js'
import { createPod, deletePod, inSlowStartBatches, podOfTemplate } from '../kit/pod-control.js'
import { untilNextAvailableMs } from '../kit/pod-state.js'
import { addressOfKey, isTerminating, readAll, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { type DaemonPlan, type Deletion, daemonStatus, type PlanInput, planNodes, planRollingUpdate } from './daemon-plan.js'
import { type Eligibility, eligibilityOf, hashLabel, podsByNode, templateForNode } from './daemon-pods.js'
import { FailedPodBackOff } from './failed-pod-back-off.js'

/** Maximum number of pods created, and deleted, in one run. */
const maxBurst = 250
const maxParallelDeletions = 50

interface Context {
  readonly parts: WorkloadParts
  readonly writer: Writer
  readonly backOff: FailedPodBackOff
  readonly sets: Resource
  readonly pods: Resource
  readonly nodes: Resource
  readonly revisions: Resource
}

export const daemonSets = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'daemon-set-controller', 'daemonset-controller')
  const backOff = new FailedPodBackOff()
  const contextOf = (catalog: Catalog): Context | undefined => {
    const [sets, revisions] = [catalog.find('apps', 'v1', 'daemonsets'), catalog.find('apps', 'v1', 'controllerrevisions')]
    const [pods, nodes] = [catalog.find('', 'v1', 'pods'), catalog.find('', 'v1', 'nodes')]
    if (sets === undefined || revisions === undefined || pods === undefined || nodes === undefined) return undefined
    return { parts, writer, backOff, sets, revisions, pods, nodes }
  }
  return new KeyedController(parts, {
    name: 'daemonset',
    concurrency: 2,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const context = contextOf(catalog)
      if (context === undefined) return []
      const { sets, pods } = context
      return [ownersSource(sets), dependentsSource(parts, pods, sets), revisionsSource(context), nodesSource(context)]
    },
    work: async (key) => {
      const context = contextOf(parts.catalogs.current)
      if (context === undefined) return undefined
      const orphan = orphanOf(key)
      if (orphan === undefined) return reconcile(context, addressOfKey(context.sets, key))
      return adoptersOf<DaemonSet, Pod>(parts, {
        address: { resource: context.pods, ...orphan },
        owners: context.sets,
        requestOf: (owner) => podClaimOf(context, owner),
      })
    },
  })
}

/** A deleted revision of a DaemonSet is created again. Revisions without a controller are adopted by the next run. */
function revisionsSource({ parts, revisions, sets }: Context): Source {
  const source = dependentsSource(parts, revisions, sets)
  return {
    ...source,
    keyOf: (...change) => [source.keyOf(...change) ?? []].flat().filter((key) => typeof key === 'string' && orphanOf(key) === undefined),
  }
}

/** A node that is created or deleted, or whose labels or taints change, queues every DaemonSet. */
const nodesSource = ({ parts, nodes, sets }: Context): Source => ({
  resource: nodes,
  namespace: '',
  onlyChanges: true,
  keyOf: (object, eventType, previous) => {
    const taintsOf = (stored: typeof object) => (stored.decode(nodes) as Node).spec?.taints ?? []
    const isSame =
      eventType === 'MODIFIED' &&
      previous !== undefined &&
      sameValue(object.labels() ?? {}, previous.labels() ?? {}) &&
      sameValue(taintsOf(object), taintsOf(previous))
    if (isSame) return undefined
    const stored = parts.engine.store.readAll({ resource: sets, namespace: '', selection: everything, limit: 0 }).objects()
    return Array.from(stored, ({ key }) => {
      const { namespace, name } = partsOf(sets, key)
      return `${namespace}/${name}`
    })
  },
})

const podClaimOf = ({ sets, pods }: Context, owner: DaemonSet): ClaimRequest<Pod> => ({
  owner,
  ownerResource: sets,
  resource: pods,
  selector: fromSelectorObject(owner.spec?.selector),
})

async function reconcile(context: Context, address: ObjectAddress): Promise<Outcome> {
  const { parts, writer, sets } = context
  const set = readObject<DaemonSet>(parts, address)
  if (set === undefined || isTerminating(set)) return undefined
  if (fromSelectorObject(set.spec?.selector).isEverything) {
    const message = 'This daemon set is selecting all pods. A non-empty selector is required.'
    await writer.event(sets, set, { type: 'Warning', reason: 'SelectingAll', message })
    return undefined
  }
  const history = await findRevisions(context, set)
  const input = await inputFor(context, set, history.hash)
  const failure = await syncPods(context, input)
  if (failure !== undefined && isNamespaceTerminating(failure.failure)) return undefined
  const after = await inputFor(context, set, history.hash, input.nodes)
  if (failure === undefined) await deleteOldRevisions(context, set, history, after)
  const status = daemonStatus(after, history.collisionCount)
  const { conditions, ...stored } = set.status ?? {}
  if (!sameValue(withoutZeros(stored), withoutZeros(status)))
    await writer.update<DaemonSet>(sets, { ...set, status: conditions === undefined ? status : { ...status, conditions } }, 'status')
  if (failure !== undefined) throw failure.failure
  return nextRun(context, after)
}

async function inputFor(
  context: Context,
  set: DaemonSet,
  hash: string,
  nodes: ReadonlyMap<string, Eligibility> = eligibleNodes(context, set),
): Promise<PlanInput> {
  const found = await claimObjects(context.parts, context.writer, podClaimOf(context, set))
  return { set, nodes, podsByNode: podsByNode(found), hash, nowMs: context.parts.engine.clock.now() }
}

const eligibleNodes = ({ parts, nodes }: Context, set: DaemonSet): ReadonlyMap<string, Eligibility> =>
  new Map(
    Array.from(readAll<Node>(parts, nodes, ''), (node) => [node.metadata?.name ?? '', eligibilityOf(parts.engine.identity, set, node)]),
  )

/** A new generation starts without delays. */
const backOffKey = ({ metadata, status }: DaemonSet, node: string): string => `${metadata?.uid}/${status?.observedGeneration ?? 0}/${node}`

function nextRun({ backOff }: Context, { set, podsByNode: byNode, nowMs }: PlanInput): Outcome {
  const pods = [...byNode.values()].flat()
  const failedNodes = [...byNode].filter(([, found]) => found.some(({ status }) => status?.phase === 'Failed')).map(([node]) => node)
  const delays = [
    untilNextAvailableMs(pods, set.spec?.minReadySeconds ?? 0, nowMs) ?? 0,
    ...failedNodes.map((node) => backOff.remainingMs(backOffKey(set, node), nowMs)),
  ].filter((ms) => ms > 0)
  return delays.length === 0 ? undefined : { afterMs: Math.min(...delays) }
}

type Failure = { readonly failure: unknown } | undefined

async function syncPods(context: Context, input: PlanInput): Promise<Failure> {
  const { set, nowMs } = input
  const plan = planNodes(input, (node) => context.backOff.remainingMs(backOffKey(set, node), nowMs) > 0)
  // A rolling update continues when every node has the pods that it should have.
  const isSettled = plan.create.length === 0 && plan.remove.length === 0
  if (!isSettled) return perform(context, input, plan)
  return set.spec?.updateStrategy?.type === 'RollingUpdate' ? perform(context, input, planRollingUpdate(input)) : undefined
}

async function perform(context: Context, { set, hash, nowMs }: PlanInput, { create, remove }: DaemonPlan): Promise<Failure> {
  const { parts, writer, sets, pods, backOff } = context
  const owner = { owner: set, resource: sets }
  for (const deletion of remove) {
    if (deletion.finished === 'Failed') backOff.start(backOffKey(set, deletion.node), nowMs)
    if (deletion.finished !== undefined) await writer.event(sets, set, finishedEvent(deletion))
  }
  const failed = await inSlowStartBatches(Math.min(create.length, maxBurst), (i) => {
    const template = templateForNode(parts.engine.identity, set, { hash, node: create[i] ?? '' })
    return createPod(writer, pods, owner, podOfTemplate(owner, template))
  })
  try {
    await inParallel(remove.slice(0, maxBurst), maxParallelDeletions, ({ pod }) => deletePod(writer, pods, owner, pod))
  } catch (failure) {
    return failed ?? { failure }
  }
  return failed
}

function finishedEvent({ pod, node, finished }: Deletion): Parameters<Writer['event']>[2] {
  const { namespace, name } = pod.metadata ?? {}
  return finished === 'Failed'
    ? {
        type: 'Warning',
        reason: 'FailedDaemonPod',
        message: `Found failed daemon pod ${namespace}/${name} on node ${node}, will try to kill it`,
      }
    : {
        type: 'Normal',
        reason: 'SucceededDaemonPod',
        message: `Found succeeded daemon pod ${namespace}/${name} on node ${node}, will try to delete it`,
      }
}

interface History {
  /** Revisions of other templates, oldest first. */
  readonly old: readonly ControllerRevision[]
  readonly hash: string
  readonly collisionCount: number
}

const hashOfRevision = ({ metadata }: ControllerRevision): string => metadata?.labels?.[hashLabel] ?? metadata?.name ?? ''

async function findRevisions({ parts, writer, sets, revisions: resource }: Context, set: DaemonSet): Promise<History> {
  const template = set.spec?.template ?? {}
  const { annotations } = set.metadata ?? {}
  const selector = fromSelectorObject(set.spec?.selector)
  const sorted = sortRevisions(
    await claimObjects<ControllerRevision>(parts, writer, { owner: set, ownerResource: sets, resource, selector }),
  )
  const { revision: current, collisionCount } = await syncRevision(parts, writer, {
    sorted,
    collisionCount: set.status?.collisionCount ?? 0,
    wanted: {
      owner: set,
      ownerResource: sets,
      resource,
      data: snapshotOf(template),
      labelsOf: (hash) => ({ ...template.metadata?.labels, [hashLabel]: hash }),
      ...(annotations === undefined ? {} : { annotations }),
    },
  })
  const old = sorted.filter(({ metadata }) => metadata?.name !== current.metadata?.name)
  return { old, hash: hashOfRevision(current), collisionCount }
}

/** Deletes the oldest revisions beyond the limit that no pod has. */
async function deleteOldRevisions(
  { writer, revisions: resource }: Context,
  set: DaemonSet,
  { old }: History,
  { podsByNode: byNode }: PlanInput,
): Promise<void> {
  const excess = old.length - (set.spec?.revisionHistoryLimit ?? 10)
  if (excess <= 0) return
  const inUse = new Set([...byNode.values()].flat().map(({ metadata }) => metadata?.labels?.[hashLabel]))
  const unused = old.filter((revision) => !inUse.has(hashOfRevision(revision)))
  for (const revision of unused.slice(0, excess)) await writer.delete(resource, revision)
}
