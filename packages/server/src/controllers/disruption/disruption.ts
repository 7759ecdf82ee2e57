// Disruption controller: updates the status of PodDisruptionBudgets when a budget or a pod of its namespace changes, and that of pods whose
// announced disruption did not happen.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { systemTimers } from '@cluster-apiserver/api/base/clock.js'
import { createMergePatch } from '@cluster-apiserver/api/base/create-merge-patch.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '@cluster-apiserver/api/resources/policy/v1.schema.js'
import { everything } from '../../objects/list/selection.js'
import { partsOf } from '../../objects/object-keys.js'
import type { ObjectAddress } from '../../objects/object-store.js'
import { type ControllerParts, type DelayedKey, KeyedController, type Run } from '../framework/controller.js'
import { internalPatch } from '../framework/internal-call.js'
import { recordEvent } from '../framework/record-event.js'
import type { Outcome } from '../framework/work-queue.js'
import type { Controller } from '../leader-election/leader-election.js'
import { countedStatus, disruptedPods, failedStatus, scaled } from './disruption-budget-status.js'
import { type CountedPod, controllerOf, expectedScale, ScaleError } from './expected-pods.js'
import { endStaleDisruption, mayBeDisrupted } from './stale-disruption.js'

/** Delay after a change of a budget in an API server without workloads: clients that create and then update a budget meet no conflict. */
export const quietBudgetDelayMs = 300
const podBatchDelayMs = 100
/** Limits counting to a tenth of the time, if there are very many pods. */
const idleFactor = 10
const component = 'controllermanager'
/** Keys are `<namespace>/<name of a budget>`, `<namespace>/` for all its budgets, and `<namespace>/<name>/pod`. */
const podKeyEnd = 'pod'

/** `budgetDelayMs`: delay after a change of a budget; 0 counts the pods of a new budget at once, as kube-controller-manager does. */
export const disruptionBudgets = (parts: ControllerParts, budgetDelayMs: number): Controller => {
  const now = (): number => (parts.timers ?? systemTimers).now()
  const reported: ReportedEvents = new Map()
  let lastRunMs = 0
  return new KeyedController(parts, {
    name: 'disruption',
    concurrency: 2,
    backOff: { firstMs: 1000, maxMs: 1_000_000 },
    sources: (catalog) => {
      const { budgets, pods } = resourcesOf(catalog)
      if (budgets === undefined || pods === undefined) return []
      return [
        {
          resource: budgets,
          namespace: '',
          keyOf: ({ key }) => {
            const { namespace, name } = partsOf(budgets, key)
            return { key: `${namespace}/${name}`, afterMs: budgetDelayMs }
          },
        },
        {
          resource: pods,
          namespace: '',
          onlyChanges: true,
          keyOf: ({ key }): DelayedKey | undefined => {
            const { namespace } = partsOf(pods, key)
            if (parts.engine.store.count(budgets, namespace) === 0) return undefined
            return { key: `${namespace}/`, afterMs: Math.max(podBatchDelayMs, lastRunMs * idleFactor) }
          },
        },
        {
          resource: pods,
          namespace: '',
          matches: mayBeDisrupted,
          keyOf: ({ key }, eventType) => {
            const { namespace, name } = partsOf(pods, key)
            return eventType === 'DELETED' ? undefined : `${namespace}/${name}/${podKeyEnd}`
          },
        },
      ]
    },
    work: async (key, run) => {
      const [namespace = '', name = '', end] = key.split('/')
      const { pods: resource } = resourcesOf(parts.catalogs.current)
      if (end === podKeyEnd) return resource && endStaleDisruption(parts, { resource, namespace, name })
      const startedMs = now()
      const outcome = await reconcile(parts, key, { run, reported })
      lastRunMs = now() - startedMs
      return outcome
    },
  })
}

const resourcesOf = (catalog: Catalog): { readonly budgets: Resource | undefined; readonly pods: Resource | undefined } => ({
  budgets: catalog.find('policy', 'v1', 'poddisruptionbudgets'),
  pods: catalog.find('', 'v1', 'pods'),
})

/** The events of the last run for a budget, as text by key. */
type ReportedEvents = Map<string, string>

interface Pass {
  readonly run: Run
  readonly reported: ReportedEvents
}

async function reconcile(parts: ControllerParts, key: string, pass: Pass): Promise<Outcome> {
  const { budgets: resource } = resourcesOf(parts.catalogs.current)
  if (resource === undefined) return undefined
  const [namespace = '', name = ''] = key.split('/')
  const names =
    name !== ''
      ? [name]
      : Array.from(
          parts.engine.store.readAll({ resource, namespace, selection: everything, limit: 0 }).objects(),
          (stored) => partsOf(resource, stored.key).name,
        )
  let nextMs: number | undefined
  let shouldRetry = false
  const failures: unknown[] = []
  for (const each of names) {
    const counted = reconcileBudget(parts, { resource, namespace, name: each }, pass)
    const next = await counted.catch((thrown: unknown) => void failures.push(thrown))
    if (next === 'again') shouldRetry = true
    else if (next !== undefined) nextMs = Math.min(nextMs ?? next, next)
  }
  if (failures.length > 0) throw failures[0]
  if (shouldRetry && nextMs === undefined) return 'again'
  return nextMs === undefined ? undefined : { afterMs: Math.max(1000, nextMs - parts.engine.clock.now()) }
}

async function reconcileBudget(parts: ControllerParts, address: ObjectAddress, pass: Pass): Promise<number | 'again' | undefined> {
  const { engine } = parts
  const { run, reported } = pass
  const stored = engine.store.read(address)
  if (stored === undefined) reported.delete(`${address.namespace}/${address.name}`)
  if (stored === undefined || run.signal.aborted) return undefined
  const budget = stored.decode(address.resource) as PodDisruptionBudget
  const nowMs = engine.clock.now()
  const events: Event[] = []
  try {
    const pods = await podsOf(parts, address.namespace, { budget, run })
    if (pods.length === 0) events.push({ type: 'Normal', reason: 'NoPods', message: 'No matching pods found' })
    const { expected, desired } = await podTargets(parts, budget, { pods, events })
    const disrupted = disruptedPods(budget, pods, nowMs)
    const status = countedStatus({ budget, pods, expected, desired, disrupted, nowMs })
    const hasChanged = await write(parts, address, { budget, status })
    await recordBudgetEvents(parts, budget, { events, hasChanged, reported })
    if (!hasChanged) return disrupted.nextLateMs
    for (const name of disrupted.late) await recordPodEvent(parts, budget, name)
    return disrupted.nextLateMs
  } catch (thrown) {
    if (!(thrown instanceof ScaleError)) throw thrown
    const message = `Failed to calculate the number of expected pods: ${thrown.message}`
    const hasChanged = await write(parts, address, { budget, status: failedStatus(budget, thrown.message, nowMs) })
    const failed: Event = { type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message }
    await recordBudgetEvents(parts, budget, { events: [failed], hasChanged, reported })
    return 'again'
  }
}

async function podsOf(
  { engine, catalogs }: ControllerParts,
  namespace: string,
  { budget, run }: { readonly budget: PodDisruptionBudget; readonly run: Run },
): Promise<readonly CountedPod[]> {
  const { pods: resource } = resourcesOf(catalogs.current)
  const found: CountedPod[] = []
  if (resource === undefined || budget.spec?.selector === undefined) return found
  const labels = fromSelectorObject(budget.spec.selector)
  for (const stored of engine.store.readInSteps({ resource, namespace, selection: everything })) {
    if (stored !== undefined && labels.matches(stored.labels())) found.push(countedPod(stored.decode(resource) as Pod))
    await run.budget.yieldIfSpent()
  }
  return found
}

const hasCondition = ({ status }: Pod, wanted: string): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === wanted && value === 'True') === true

const countedPod = (pod: Pod): CountedPod => ({
  name: pod.metadata?.name ?? '',
  created: pod.metadata?.creationTimestamp,
  isTerminating: pod.metadata?.deletionTimestamp !== undefined,
  isDisruptionTarget: hasCondition(pod, 'DisruptionTarget'),
  isReady: hasCondition(pod, 'Ready'),
  controller: controllerOf(pod as ApiObject),
})

interface PodTargets {
  readonly expected: number
  readonly desired: number
}

interface PodCount {
  readonly pods: readonly CountedPod[]
  readonly events: Event[]
}

async function podTargets(parts: ControllerParts, budget: PodDisruptionBudget, { pods, events }: PodCount): Promise<PodTargets> {
  const { minAvailable, maxUnavailable } = (budget.spec ?? {}) as {
    readonly minAvailable?: number | string
    readonly maxUnavailable?: number | string
  }
  if (maxUnavailable === undefined && typeof minAvailable === 'number') return { expected: pods.length, desired: minAvailable }
  if (maxUnavailable === undefined && minAvailable === undefined) return { expected: 0, desired: 0 }
  const { count, unmanaged } = await expectedScale(parts, budget.metadata?.namespace ?? '', pods)
  if (unmanaged.length > 0) events.push({ type: 'Warning', reason: 'UnmanagedPods', message: unmanagedMessage(unmanaged) })
  if (maxUnavailable === undefined) return { expected: count, desired: scaled(minAvailable ?? 0, count) }
  return { expected: count, desired: Math.max(0, count - scaled(maxUnavailable, count)) }
}

const unmanagedMessage = (names: readonly string[]): string =>
  `Pods selected by this PodDisruptionBudget (${names.slice(0, 10).join(', ')}) were found to be unmanaged. As a result, the status of the ` +
  'PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" ' +
  'field of the PDB to an integer value.'

interface StatusChange {
  readonly budget: PodDisruptionBudget
  readonly status: PodDisruptionBudgetStatus
}

/** Returns false if the status is unchanged. A conflict, such as with an eviction, is retried by the controller. */
async function write({ engine }: ControllerParts, address: ObjectAddress, { budget, status }: StatusChange): Promise<boolean> {
  if (sameValue(budget.status ?? {}, status)) return false
  const { uid = '', resourceVersion = '' } = budget.metadata ?? {}
  const change = { metadata: { uid, resourceVersion }, status: createMergePatch(budget.status ?? {}, status) }
  await internalPatch(engine, { ...address, subresource: 'status' }, change)
  return true
}

interface Event {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

interface BudgetReport {
  readonly events: readonly Event[]
  /** True if the status was written. */
  readonly hasChanged: boolean
  readonly reported: ReportedEvents
}

/** Records events that are new, or come with another status; otherwise each change of a pod would record them again. */
async function recordBudgetEvents(
  parts: ControllerParts,
  budget: PodDisruptionBudget,
  { events, hasChanged, reported }: BudgetReport,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = budget.metadata ?? {}
  const text = JSON.stringify([uid, events])
  // After a start nothing is known: events of an unchanged status were recorded before.
  const before = reported.get(`${namespace}/${name}`) ?? text
  reported.set(`${namespace}/${name}`, text)
  if (!hasChanged && before === text) return
  const involved = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace, name, uid }
  for (const event of events) await recordEvent(parts, involved, { ...event, component })
}

async function recordPodEvent(parts: ControllerParts, budget: PodDisruptionBudget, pod: string): Promise<void> {
  const { namespace = '', name = '' } = budget.metadata ?? {}
  const message = `Pod was expected by PDB ${namespace}/${name} to be deleted but it wasn't`
  await recordEvent(
    parts,
    { apiVersion: 'v1', kind: 'Pod', namespace, name: pod, uid: '' },
    { type: 'Warning', reason: 'NotDeleted', message, component },
  )
}
