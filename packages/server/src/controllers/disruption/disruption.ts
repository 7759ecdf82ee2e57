// Disruption budgets say how many of their pods may be disturbed now: counted again when a budget or one of its pods changes.

import type { Catalog, Resource } from '../../api/catalog.js'
import { fromSelectorObject } from '../../api/label-selector.js'
import type { ApiObject } from '../../api/object.js'
import { sameValue } from '../../api/validation/same-value.js'
import { mergeDifference } from '../../base/merge-difference.js'
import { nowOrInPieces } from '../../base/pieces.js'
import { partsOf } from '../../objects/keys.js'
import { leanObject } from '../../objects/lean-object.js'
import type { ObjectAddress } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'
import type { Pod } from '../../resources/core/v1.schema.js'
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../resources/policy/v1.schema.js'
import type { Outcome } from '../kit/keyed-queue.js'
import { KeyedLoop, type Later, type LoopParts, type Run } from '../kit/loop.js'
import { recordEvent } from '../kit/record-event.js'
import { systemTimers } from '../kit/timers.js'
import type { Loop } from '../leader-election.js'
import { patchOwn } from '../own-write.js'
import { countedStatus, disruptedPods, failedStatus, scaled } from './budget-status.js'
import { type CountedPod, controllerOf, expectedScale, ScaleError } from './expected-pods.js'

/** Whoever makes a budget and changes it is done before it is counted: that is a write of somebody else. */
const firstMs = 300
/** Many pods change together. */
const gatherMs = 100
/** Where there are very many of them, counting takes a tenth of the time at most. */
const restFactor = 10
const component = 'controllermanager'

export const disruptionBudgets = (parts: LoopParts): Loop => {
  const now = (): number => (parts.timers ?? systemTimers).now()
  /** How long the last count took. */
  let tookMs = 0
  return new KeyedLoop(parts, {
    name: 'disruption',
    concurrency: 2,
    backOff: { firstMs: 1000, mostMs: 1_000_000 },
    sources: (catalog) => {
      const { budgets, pods } = kindsOf(catalog)
      if (budgets === undefined || pods === undefined) return []
      return [
        {
          resource: budgets,
          namespace: '',
          keyOf: ({ key }, seen) => {
            const { namespace, name } = partsOf(budgets, key)
            return seen === 'DELETED' ? undefined : { key: `${namespace}/${name}`, afterMs: firstMs }
          },
        },
        {
          resource: pods,
          namespace: '',
          onlyChanges: true,
          keyOf: ({ key }): Later | undefined => {
            const { namespace } = partsOf(pods, key)
            // All budgets of the namespace.
            if (parts.engine.store.count(budgets, namespace) === 0) return undefined
            return { key: `${namespace}/`, afterMs: Math.max(gatherMs, tookMs * restFactor) }
          },
        },
      ]
    },
    work: async (key, run) => {
      const begunMs = now()
      const outcome = await countAgain(parts, key, run)
      tookMs = now() - begunMs
      return outcome
    },
  })
}

const kindsOf = (catalog: Catalog): { readonly budgets: Resource | undefined; readonly pods: Resource | undefined } => ({
  budgets: catalog.find('policy', 'v1', 'poddisruptionbudgets'),
  pods: catalog.find('', 'v1', 'pods'),
})

async function countAgain(parts: LoopParts, key: string, run: Run): Promise<Outcome> {
  const { budgets: resource } = kindsOf(parts.catalogs.current)
  if (resource === undefined) return undefined
  const [namespace = '', name = ''] = key.split('/')
  const names =
    name !== ''
      ? [name]
      : Array.from(
          parts.engine.store.list({ resource, namespace, selection: everything, limit: 0 }).objects(),
          (stored) => partsOf(resource, stored.key).name,
        )
  let againMs: number | undefined
  let isAgain = false
  const failures: unknown[] = []
  for (const each of names) {
    const counted = countOne(parts, { resource, namespace, name: each }, run)
    const next = await counted.catch((thrown: unknown) => void failures.push(thrown))
    if (next === 'again') isAgain = true
    else if (next !== undefined) againMs = Math.min(againMs ?? next, next)
  }
  // One that cannot be counted keeps no other from it.
  if (failures.length > 0) throw failures[0]
  if (isAgain && againMs === undefined) return 'again'
  return againMs === undefined ? undefined : { afterMs: Math.max(1000, againMs - parts.engine.clock.now()) }
}

/** Gives when it is to be counted again, in milliseconds since 1970; `'again'`: what it needs is not there, and nobody tells when it is. */
async function countOne(parts: LoopParts, address: ObjectAddress, run: Run): Promise<number | 'again' | undefined> {
  const { engine } = parts
  const stored = engine.store.read(address)
  if (stored === undefined || run.signal.aborted) return undefined
  const budget = leanObject(stored, address.resource) as PodDisruptionBudget
  const nowMs = engine.clock.now()
  const events: Event[] = []
  try {
    const pods = await podsOf(parts, address.namespace, { budget, run })
    if (pods.length === 0) events.push({ type: 'Normal', reason: 'NoPods', message: 'No matching pods found' })
    const { expected, desired } = await limitsOf(parts, budget, { pods, events })
    const disrupted = disruptedPods(budget, pods, nowMs)
    const status = countedStatus({ budget, pods, expected, desired, disrupted, nowMs })
    if (!(await write(parts, address, { budget, status }))) return disrupted.againMs
    for (const event of events) await tell(parts, budget, event)
    for (const name of disrupted.late) await tellOfPod(parts, budget, name)
    return disrupted.againMs
  } catch (thrown) {
    if (!(thrown instanceof ScaleError)) throw thrown
    const message = `Failed to calculate the number of expected pods: ${thrown.message}`
    const isNew = await write(parts, address, { budget, status: failedStatus(budget, thrown.message, nowMs) })
    if (isNew) await tell(parts, budget, { type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message })
    return 'again'
  }
}

async function podsOf(
  { engine, catalogs }: LoopParts,
  namespace: string,
  { budget, run }: { readonly budget: PodDisruptionBudget; readonly run: Run },
): Promise<readonly CountedPod[]> {
  const { pods: resource } = kindsOf(catalogs.current)
  const found: CountedPod[] = []
  if (resource === undefined || budget.spec?.selector === undefined) return found
  const labels = fromSelectorObject(budget.spec.selector)
  const steps = engine.store.look({ resource, namespace, selection: everything })
  await nowOrInPieces(
    (function* (): Generator<undefined, void, void> {
      for (const stored of steps) {
        if (stored !== undefined && labels.matches(stored.labels())) found.push(countable(leanObject(stored, resource) as Pod))
        yield undefined
      }
    })(),
    run.pieces,
  )
  return found
}

const countable = (pod: Pod): CountedPod => ({
  name: pod.metadata?.name ?? '',
  isGoing: pod.metadata?.deletionTimestamp !== undefined,
  isReady: pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false,
  controller: controllerOf(pod as ApiObject),
})

interface Limits {
  readonly expected: number
  readonly desired: number
}

interface Found {
  readonly pods: readonly CountedPod[]
  /** What is to be told is added to them. */
  readonly events: Event[]
}

async function limitsOf(parts: LoopParts, budget: PodDisruptionBudget, { pods, events }: Found): Promise<Limits> {
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

interface Result {
  readonly budget: PodDisruptionBudget
  readonly status: PodDisruptionBudgetStatus
}

/** Whether there was something to write. Somebody who was quicker, such as an eviction, makes the loop count again. */
async function write({ engine }: LoopParts, address: ObjectAddress, { budget, status }: Result): Promise<boolean> {
  if (sameValue(budget.status ?? {}, status)) return false
  const { uid = '', resourceVersion = '' } = budget.metadata ?? {}
  const change = { metadata: { uid, resourceVersion }, status: mergeDifference(budget.status ?? {}, status) }
  await patchOwn(engine, { ...address, subresource: 'status' }, change)
  return true
}

interface Event {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** Told with what is written, and not whenever it is counted: an event for each change of a pod would be a flood. */
async function tell(parts: LoopParts, budget: PodDisruptionBudget, event: Event): Promise<void> {
  const { namespace = '', name = '', uid = '' } = budget.metadata ?? {}
  await recordEvent(parts, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace, name, uid }, { ...event, component })
}

async function tellOfPod(parts: LoopParts, budget: PodDisruptionBudget, pod: string): Promise<void> {
  const { namespace = '', name = '' } = budget.metadata ?? {}
  const message = `Pod was expected by PDB ${namespace}/${name} to be deleted but it wasn't`
  await recordEvent(
    parts,
    { apiVersion: 'v1', kind: 'Pod', namespace, name: pod, uid: '' },
    { type: 'Warning', reason: 'NotDeleted', message, component },
  )
}
