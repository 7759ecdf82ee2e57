// The scheduler: assigns a node to each pod with its schedulerName. One key of the work queue stands for the whole queue of pods, because
// decisions are made one after another; bindings are written concurrently.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { GroupName } from '@cluster-apiserver/api/api/identity.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { PodDisruptionBudget } from '@cluster-apiserver/api/resources/policy/v1.schema.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import { partsOf } from '../../../objects/object-keys.js'
import { KeyedController, type Run, type Source, type SourceEvent } from '../../framework/controller.js'
import { pagesOf } from '../../framework/list-pages.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { isFinishedPod } from '../kit/pod-state.js'
import { addressOfKey, isTerminating, readAll, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { AwaitedVolumes } from './awaited-volumes.js'
import { ClusterIndex } from './cluster-index.js'
import { ClusterView } from './cluster-view.js'
import { findNode, fitMessage } from './find-node.js'
import type { NodeState } from './node-state.js'
import type { Cluster, PendingPod } from './plugins/plugin.js'
import { planVolumes, type VolumePlan } from './plugins/volume-binding.js'
import { type PreemptionContext, planPreemption } from './preemption.js'
import { type FailureReport, SchedulerWrites, schedulerName } from './scheduler-writes.js'
import { SchedulingQueue } from './scheduling-queue.js'
import { type Change, couldTake, isNodeChanged, mayHelp } from './wake-ups.js'

const theKey = 'pods'
const maxParallelWrites = 100

export const scheduler = (parts: WorkloadParts): Controller => {
  const running = new Scheduler(parts)
  return new KeyedController(parts, {
    name: 'scheduler',
    backOff: workloadBackOff,
    sources: (catalog) => running.sources(catalog),
    work: (_, run) => running.run(run),
  })
}

class Scheduler {
  readonly #parts: WorkloadParts
  readonly #index = new ClusterIndex()
  readonly #view: ClusterView
  readonly #queue: SchedulingQueue
  readonly #writes: SchedulerWrites
  readonly #changes = new Set<Change>()
  readonly #changedNodes = new Set<string>()
  readonly #writing = new Set<Promise<void>>()
  readonly #volumes: AwaitedVolumes
  #isReady = false
  /** True while a pod is neither active nor waiting, because its node is being chosen. */
  #isDeciding = false

  constructor(parts: WorkloadParts) {
    this.#parts = parts
    this.#view = new ClusterView(parts, this.#index)
    this.#queue = new SchedulingQueue(() => parts.engine.clock.now())
    this.#writes = new SchedulerWrites(parts)
    this.#volumes = new AwaitedVolumes(parts, this.#view, this.#writes)
  }

  sources(catalog: Catalog): readonly Source[] {
    const { identity } = this.#parts.engine
    const pods = catalog.find('', 'v1', 'pods')
    const nodes = catalog.find('', 'v1', 'nodes')
    if (pods === undefined || nodes === undefined) return []
    const sources: Source[] = [
      {
        resource: pods,
        namespace: '',
        keyOf: (object, type, previous) => (type === 'LISTED' ? theKey : this.#podChanged(pods, { object, type, previous })),
      },
      {
        resource: nodes,
        namespace: '',
        onlyChanges: true,
        keyOf: (object, type, previous) => this.#nodeChanged(nodes, { object, type, previous }),
      },
    ]
    const addSource = (
      group: GroupName,
      name: string,
      onChange: (object: StoredObject, resource: Resource) => string | undefined,
    ): void => {
      const resource = catalog.find(identity.group(group), 'v1', name)
      if (resource !== undefined)
        sources.push({ resource, namespace: '', onlyChanges: true, keyOf: (object) => onChange(object, resource) })
    }
    const storage = { stem: 'storage' }
    addSource('', 'persistentvolumeclaims', () => this.#changed('claim'))
    addSource('', 'persistentvolumes', () => this.#changed('volume'))
    addSource(storage, 'storageclasses', () => this.#changed('storageClass'))
    for (const name of ['csinodes', 'csidrivers', 'csistoragecapacities']) addSource(storage, name, () => this.#changed('csi'))
    addSource('', 'services', ({ key }, resource) => {
      this.#view.forgetServices(partsOf(resource, key).namespace)
      return undefined
    })
    return sources
  }

  async run(run: Run): Promise<Outcome> {
    const pods = this.#view.resource('', 'pods')
    const nodes = this.#view.resource('', 'nodes')
    if (pods === undefined || nodes === undefined) return undefined
    if (!this.#isReady) await this.#start(pods, nodes, run)
    this.#queue.release()
    for (;;) {
      await this.#wakePods(pods, run)
      const key = this.#queue.take()
      if (key === undefined || run.signal.aborted) break
      this.#isDeciding = true
      try {
        await this.#schedule(pods, key, run)
      } finally {
        this.#isDeciding = false
      }
      while (this.#writing.size >= maxParallelWrites) await Promise.race(this.#writing)
      await run.budget.yieldIfSpent()
    }
    while (this.#writing.size > 0) await Promise.all(this.#writing)
    return this.#nextRun()
  }

  #nextRun(): Outcome {
    const releaseMs = this.#queue.nextReleaseMs
    if (this.#volumes.size > 0) return { afterMs: Math.min(releaseMs ?? Number.POSITIVE_INFINITY, this.#volumes.nextMs) }
    return releaseMs === undefined ? undefined : { afterMs: releaseMs }
  }

  /** Reads what exists. Changes are applied meanwhile: each object is read again, so that no older state replaces a newer one. */
  async #start(pods: Resource, nodes: Resource, { budget, signal }: Run): Promise<void> {
    const { store } = this.#parts.engine
    for (const resource of [nodes, pods])
      for await (const page of pagesOf(store, { resource, namespace: '' }, budget))
        for (const { key } of page) {
          const address = { resource, ...partsOf(resource, key) }
          if (resource === nodes) this.#index.setNode(address.name, readObject<Node>(this.#parts, address))
          else this.#applyPod(`${address.namespace}/${address.name}`, readObject<Pod>(this.#parts, address))
          if (signal.aborted) return
        }
    this.#isReady = true
  }

  // Changes

  #changed(change: Change): string | undefined {
    this.#changes.add(change)
    return this.#wakeKey()
  }

  /** The key, unless nothing waits. */
  #wakeKey(): string | undefined {
    if (this.#isDeciding || this.#queue.hasActive || this.#queue.waiting.size > 0 || this.#volumes.size > 0) return theKey
    this.#changes.clear()
    this.#changedNodes.clear()
    return undefined
  }

  #nodeChanged(nodes: Resource, { object, type, previous }: SourceChange): string | undefined {
    const { name } = partsOf(nodes, object.key)
    if (type === 'DELETED') {
      this.#index.setNode(name, undefined)
      return this.#changed('nodeGone')
    }
    const node = object.decode(nodes) as Node
    if (previous !== undefined && this.#index.node(name) !== undefined && !isNodeChanged(previous.decode(nodes) as Node, node))
      return undefined
    this.#index.setNode(name, node)
    this.#changedNodes.add(name)
    return this.#wakeKey()
  }

  #podChanged(pods: Resource, { object, type, previous }: SourceChange): string | undefined {
    const { namespace, name } = partsOf(pods, object.key)
    const key = `${namespace}/${name}`
    // Cached: the decision, the binding and the kubelet read the pod next.
    const pod = type === 'DELETED' ? undefined : readObject<Pod>(this.#parts, { resource: pods, namespace, name })
    const isQueued = this.#queue.has(key)
    const before = this.#index.nodeOf(key)
    this.#applyPod(key, pod)
    if (pod === undefined) this.#volumes.drop(key)
    const after = this.#index.nodeOf(key)
    const isChanged = pod === undefined || previous === undefined || isUpdated(previous.decode(pods) as Pod, pod)
    if (before !== undefined && after === undefined) {
      this.#changes.add('podGone')
      this.#changedNodes.add(before)
    } else if (after !== undefined) {
      if (!isChanged) return undefined
      this.#changes.add('podAdded')
    } else if (isQueued && isChanged) this.#queue.wake(key)
    else if (isQueued === this.#queue.has(key)) return undefined
    return this.#wakeKey()
  }

  #applyPod(key: string, pod: Pod | undefined): void {
    this.#index.setPod(key, pod)
    if (pod !== undefined && this.#isMine(pod)) this.#queue.add(key, pod.spec?.priority ?? 0)
    else this.#queue.remove(key)
  }

  #isMine(pod: Pod): boolean {
    const { spec } = pod
    if ((spec?.nodeName ?? '') !== '' || isFinishedPod(pod) || spec?.schedulerName !== schedulerName) return false
    return (spec.schedulingGates ?? []).length === 0 || !this.#parts.engine.gates('PodSchedulingReadiness')
  }

  async #wakePods(pods: Resource, { budget }: Run): Promise<void> {
    if (this.#volumes.size > 0) this.#bindSettled(pods)
    const changes = new Set(this.#changes)
    const changedNodes = new Set(this.#changedNodes)
    this.#changes.clear()
    this.#changedNodes.clear()
    if (changes.size === 0 && changedNodes.size === 0) return
    for (const { key, plugins } of [...this.#queue.waiting]) {
      if (this.#isWorthTrying(pods, key, plugins, changes, changedNodes)) this.#queue.wake(key)
      await budget.yieldIfSpent()
    }
  }

  #isWorthTrying(
    pods: Resource,
    key: string,
    plugins: ReadonlySet<string>,
    changes: ReadonlySet<Change>,
    changedNodes: ReadonlySet<string>,
  ): boolean {
    if (mayHelp(plugins, changes)) return true
    if (changedNodes.size === 0) return false
    if (plugins.has('*')) return true
    const nominated = this.#index.nominatedNodeOf(key)
    if (nominated !== undefined && changedNodes.has(nominated)) return true
    const pending = this.#read(pods, key)
    return pending !== undefined && couldTake(pending, this.#view.now(), changedNodes)
  }

  #read(pods: Resource, key: string): PendingPod | undefined {
    const pod = readObject<Pod>(this.#parts, addressOfKey(pods, key))
    return pod === undefined ? undefined : { key, pod, shape: this.#index.shapes.of(pod) }
  }

  // Decisions

  async #schedule(pods: Resource, key: string, { budget }: Run): Promise<void> {
    const pending = this.#read(pods, key)
    if (pending === undefined || !this.#isMine(pending.pod)) {
      this.#queue.remove(key)
      return
    }
    if (isTerminating(pending.pod)) {
      this.#queue.remove(key)
      this.#write(this.#writes.skip(pods, pending.pod))
      return
    }
    const cluster = this.#view.now()
    if (cluster.nodes.length === 0) {
      this.#fail(pods, pending, noNodes, noPlugins)
      return
    }
    const finding = await findNode(pending, cluster, this.#index, budget)
    if ('node' in finding) this.#place(pods, pending, cluster, finding.node)
    else if ('failure' in finding)
      this.#fail(pods, pending, { reason: 'SchedulerError', message: finding.failure, nominatedNode: '' }, anyChange)
    else await this.#preempt(pods, pending, { cluster, budget, ...finding })
  }

  async #preempt(
    pods: Resource,
    pending: PendingPod,
    { cluster, diagnosis, judge, budget }: Pick<PreemptionContext, 'cluster' | 'diagnosis' | 'judge' | 'budget'>,
  ): Promise<void> {
    const preemption = await planPreemption(pending, {
      cluster,
      budget,
      diagnosis,
      judge,
      budgets: () => this.#budgets(),
      nowMs: this.#parts.engine.clock.now(),
    })
    const count = cluster.nodes.length
    if (!('victims' in preemption)) {
      const { message, clears } = preemption
      const report: FailureReport = {
        reason: 'Unschedulable',
        message: fitMessage(count, diagnosis, message),
        nominatedNode: clears ? '' : undefined,
      }
      this.#fail(pods, pending, report, diagnosis.plugins)
      return
    }
    const { node, victims } = preemption
    for (const [key, { shape }] of [...this.#index.on(node)])
      if (shape.priority < pending.shape.priority) {
        this.#index.nominate(key, undefined)
        this.#write(this.#writes.clearNomination(pods, key))
      }
    this.#index.nominate(pending.key, node, pending.shape)
    await Promise.all(victims.map((key) => this.#writes.evict(pods, key, node)))
    this.#fail(pods, pending, { reason: 'Unschedulable', message: fitMessage(count, diagnosis), nominatedNode: node }, diagnosis.plugins)
  }

  #budgets(): readonly PodDisruptionBudget[] {
    const budgets = this.#view.resource('policy', 'poddisruptionbudgets')
    return budgets === undefined ? [] : [...readAll<PodDisruptionBudget>(this.#parts, budgets, '')]
  }

  #fail(pods: Resource, pending: PendingPod, report: FailureReport, plugins: ReadonlySet<string> | undefined): void {
    if (report.nominatedNode === '') this.#index.nominate(pending.key, undefined)
    this.#queue.fail(pending.key, plugins)
    this.#write(this.#writes.report(pods, pending.pod, report))
  }

  #place(pods: Resource, pending: PendingPod, cluster: Cluster, node: NodeState): void {
    const plan = planVolumes(pending, cluster, node)
    this.#index.assume(pending.key, node.name, pending.shape)
    if (plan.bindings.length === 0 && plan.provisions.length === 0) {
      this.#write(this.#bind(pods, pending, node.name))
      return
    }
    this.#write(this.#bindVolumes(pods, pending, { nodeName: node.name, plan }))
  }

  async #bind(pods: Resource, pending: PendingPod, nodeName: string): Promise<void> {
    try {
      await this.#writes.bind(pods, pending.pod, nodeName)
    } catch (thrown) {
      await this.#undo(pods, pending, `binding rejected: ${errorMessage(thrown)}`)
    }
  }

  async #undo(pods: Resource, pending: PendingPod, message: string): Promise<void> {
    this.#index.forget(pending.key)
    const stored = this.#read(pods, pending.key)
    this.#index.setPod(pending.key, stored?.pod)
    if (stored === undefined || !this.#isMine(stored.pod)) {
      this.#queue.remove(pending.key)
      return
    }
    this.#queue.fail(pending.key, undefined)
    await this.#writes.report(pods, stored.pod, { reason: 'SchedulerError', message, nominatedNode: '' })
  }

  async #bindVolumes(pods: Resource, pending: PendingPod, { nodeName, plan }: PlacedVolumes): Promise<void> {
    const problem = await this.#volumes.begin(pending, nodeName, plan)
    if (problem !== undefined) await this.#undo(pods, pending, volumeProblem(problem))
    else this.#bindSettled(pods)
  }

  #bindSettled(pods: Resource): void {
    for (const { pending, nodeName, problem } of this.#volumes.takeSettled())
      this.#write(problem === undefined ? this.#bind(pods, pending, nodeName) : this.#undo(pods, pending, volumeProblem(problem)))
  }

  #write(writing: Promise<void>): void {
    const done: Promise<void> = writing
      .catch((error: unknown) => this.#parts.logger.warn({ controller: 'scheduler', error }, 'the scheduler cannot write'))
      .finally(() => this.#writing.delete(done))
    this.#writing.add(done)
  }
}

interface PlacedVolumes {
  readonly nodeName: string
  readonly plan: VolumePlan
}

const volumeProblem = (problem: string): string => `running PreBind plugin "VolumeBinding": ${problem}`

interface SourceChange {
  readonly object: StoredObject
  readonly type: SourceEvent
  readonly previous: StoredObject | undefined
}

const noPlugins: ReadonlySet<string> = new Set()
const anyChange: ReadonlySet<string> = new Set(['*'])
const noNodes: FailureReport = { reason: 'Unschedulable', message: 'no nodes available to schedule pods', nominatedNode: '' }

/** False if only the status changed: most such changes are writes of the scheduler itself. */
function isUpdated(before: Pod, after: Pod): boolean {
  const essence = ({ metadata, spec }: Pod): unknown => {
    const { resourceVersion: _, managedFields: __, generation: ___, ...rest } = metadata ?? {}
    return { ...rest, spec }
  }
  return !sameValue(essence(before), essence(after))
}
