// pods/eviction: deletes a pod and charges its PodDisruptionBudget, if any; rejects with 429 if the budget allows no disruption.

import { ApiError, badRequest, conflict, forbidden, notFound } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { checkDeleteOptions, type DeleteOptions } from '@cluster-apiserver/api/api/options/delete-options.js'
import { isDryRun } from '@cluster-apiserver/api/api/options/write-options.js'
import { fromSelectorObject, type LabelSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { everything } from '../../objects/list/selection.js'
import { checkPreconditions, remove } from '../delete.js'
import { addressOf, type Engine } from '../engine.js'
import { change, modifiedMessage } from '../update.js'
import type { LiveObject } from '../worker-steps.js'
import type { ActionRequest } from './virtual-resource-types.js'

interface Eviction extends ApiObject {
  readonly deleteOptions?: DeleteOptions
}

interface Pod extends ApiObject {
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] }
}

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
  readonly observedGeneration?: number
}

interface Budget extends ApiObject {
  readonly spec?: { readonly selector?: LabelSelectorObject; readonly unhealthyPodEvictionPolicy?: string }
  readonly status?: {
    readonly observedGeneration?: number
    readonly disruptionsAllowed?: number
    readonly desiredHealthy?: number
    readonly currentHealthy?: number
    readonly disruptedPods?: { readonly [pod: string]: string }
    readonly conditions?: readonly Condition[]
  }
}

const maxDisruptedPods = 2000

const maxAttempts = 20

export async function evict(engine: Engine, call: Call, request: ActionRequest): Promise<undefined> {
  const eviction = request.body as Eviction
  if ((eviction.metadata?.name ?? '') !== call.name) throw badRequest('name in URL does not match name in Eviction object')
  checkDeleteOptions(eviction.deleteOptions ?? {}, call.identity)
  currentPod(engine, call)
  await request.validate()
  const options = { ...eviction.deleteOptions, ...(isDryRun(call.options) ? { dryRun: call.options.dryRun ?? [] } : {}) }
  for (let attempts = 1; ; attempts++) {
    // Read again after admission webhooks, which may have taken long.
    const pod = currentPod(engine, call)
    if (!needsNoBudget(pod)) return evictByBudget(engine, call, { pod, request, options })
    try {
      return await removePod(engine, call, isTerminated(pod) || hasVersion(options) ? options : withPodVersion(options, pod))
    } catch (thrown) {
      if (!isConflict(thrown) || hasVersion(options) || attempts === maxAttempts) throw thrown
    }
  }
}

function currentPod(engine: Engine, call: Call): Pod {
  const stored = engine.store.read(addressOf(call))
  if (stored === undefined) throw notFound(call.resource.subject, call.name)
  return stored.decode(call.resource)
}

async function evictByBudget(engine: Engine, call: Call, charge: Charge): Promise<undefined> {
  const { pod, options } = charge
  const skippedBudget = await chargeBudget(engine, call, charge)
  try {
    return await removePod(engine, call, skippedBudget === undefined ? options : withPodVersion(options, pod))
  } catch (thrown) {
    if (skippedBudget === undefined || !isConflict(thrown) || hasVersion(options)) throw thrown
    throw budgetNotReady(stillProcessedMessage(skippedBudget))
  }
}

async function removePod(engine: Engine, call: Call, options: DeleteOptions): Promise<undefined> {
  const hasCondition = call.gates('PodDisruptionConditions') && !isDryRun(options)
  const version = hasCondition ? await setDisruptionTarget(engine, call, options) : undefined
  const deletion = call.with({ subresource: undefined, options: version === undefined ? options : withVersion(options, version) })
  await remove(engine, deletion, { isAdmitted: true })
}

const isConflict = (thrown: unknown): boolean => thrown instanceof ApiError && thrown.status.code === 409

const hasVersion = ({ preconditions }: DeleteOptions): boolean => preconditions?.resourceVersion !== undefined

const withPodVersion = (options: DeleteOptions, { metadata }: Pod): DeleteOptions =>
  metadata?.resourceVersion === undefined
    ? options
    : { ...options, preconditions: { ...options.preconditions, resourceVersion: metadata.resourceVersion } }

/** Sets the DisruptionTarget condition, which the Job controller reads. Returns the new resourceVersion. */
async function setDisruptionTarget(engine: Engine, call: Call, options: DeleteOptions): Promise<string | undefined> {
  const subresource = call.resource.subresources.get('status')
  const current = engine.store.read(addressOf(call))
  if (current === undefined) throw notFound(call.resource.subject, call.name)
  const next = ({ object: live }: LiveObject): ApiObject => {
    checkPreconditions(call, live, options)
    return withDisruptionTarget(live, timeOf(call.now))
  }
  const { result } = await change(engine, call.with({ subresource, options: {} }), { current, isPatch: true, isAdmitted: true, next })
  return result.stored?.decode(call.resource).metadata?.resourceVersion
}

const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' }

function withDisruptionTarget(pod: Pod, lastTransitionTime: string): Pod {
  const conditions = pod.status?.conditions ?? []
  const before = conditions.find(({ type }) => type === disruption.type)
  const since = before?.status === disruption.status ? before.lastTransitionTime : undefined
  const condition: Condition = { ...disruption, lastTransitionTime: since ?? lastTransitionTime }
  const next = before === undefined ? [...conditions, condition] : conditions.map((other) => (other === before ? condition : other))
  return { ...pod, status: { ...pod.status, conditions: next } }
}

const withVersion = (options: DeleteOptions, resourceVersion: string): DeleteOptions =>
  options.preconditions?.resourceVersion === undefined
    ? options
    : { ...options, preconditions: { ...options.preconditions, resourceVersion } }

/** Pending, finished and terminating pods are evicted without a budget. */
const needsNoBudget = (pod: Pod): boolean => isTerminated(pod) || pod.status?.phase === 'Pending'

const isTerminated = ({ metadata, status }: Pod): boolean =>
  metadata?.deletionTimestamp !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed'

interface Charge {
  readonly pod: Pod
  readonly request: ActionRequest
  readonly options: DeleteOptions
}

/** Returns the name of a budget that was not charged because the pod is not ready; undefined if it was charged or there is none. */
async function chargeBudget(engine: Engine, call: Call, { pod, request, options }: Charge): Promise<string | undefined> {
  const budgets = request.catalog.find('policy', 'v1', 'poddisruptionbudgets')
  if (budgets === undefined) return undefined
  const [first, second] = await budgetsOf(engine, call, { budgets, pod })
  if (first === undefined) return undefined
  if (second !== undefined) throw tooManyBudgets()
  const name = first.metadata?.name ?? ''
  if (!isReady(pod) && allowsUnreadyPods(call, first)) return name
  const budgetCall = call.with({ resource: budgets, subresource: budgets.subresources.get('status'), name, options })
  const current = engine.store.read(addressOf(budgetCall))
  if (current === undefined) throw conflict(budgets.subject, name, modifiedMessage)
  const charged = ({ object: live }: LiveObject): ApiObject => charge(call, budgets, live)
  await change(engine, budgetCall, { current, isPatch: true, next: charged })
  return undefined
}

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false

/** Unready pods may be evicted if the budget has enough healthy pods, or if its unhealthyPodEvictionPolicy is AlwaysAllow. */
function allowsUnreadyPods({ gates }: Call, { spec, status: { currentHealthy = 0, desiredHealthy = 0 } = {} }: Budget): boolean {
  if (gates('PDBUnhealthyPodEvictionPolicy') && spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  return currentHealthy >= desiredHealthy && desiredHealthy > 0
}

async function budgetsOf(
  { store }: Engine,
  call: Call,
  { budgets: resource, pod }: { readonly budgets: Resource; readonly pod: Pod },
): Promise<readonly Budget[]> {
  const found: Budget[] = []
  for (const stored of store.readInSteps({ resource, namespace: call.namespace, selection: everything })) {
    if (store.budget.isSpent) {
      await store.budget.nextTurn()
      call.throwIfAborted()
    }
    const budget = stored?.decode(resource) as Budget | undefined
    if (budget === undefined || !fromSelectorObject(budget.spec?.selector).matches(pod.metadata?.labels)) continue
    if (found.push(budget) === 2) break
  }
  return found
}

function charge(call: Call, resource: Resource, budget: Budget): ApiObject {
  const { status = {}, metadata } = budget
  const name = metadata?.name ?? ''
  if ((status.observedGeneration ?? 0) < (metadata?.generation ?? 0)) throw budgetNotReady(stillProcessedMessage(name))
  const allowed = status.disruptionsAllowed ?? 0
  if (allowed < 0) throw forbidden(resource.subject, name, 'pdb disruptions allowed is negative')
  if (Object.keys(status.disruptedPods ?? {}).length > maxDisruptedPods)
    throw forbidden(resource.subject, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller')
  if (allowed === 0)
    throw budgetExceeded(
      `The disruption budget ${name} needs ${status.desiredHealthy ?? 0} healthy pods and has ${status.currentHealthy ?? 0} currently`,
    )
  const disruptedPods = { ...status.disruptedPods, [call.name]: timeOf(call.now) }
  const conditions = allowed === 1 ? { conditions: exhaustedConditions(status, timeOf(call.now)) } : {}
  return { ...budget, status: { ...status, disruptionsAllowed: allowed - 1, disruptedPods, ...conditions } } as ApiObject
}

/** Sets DisruptionAllowed to False at once, without waiting for the disruption controller. */
function exhaustedConditions(
  { conditions = [], observedGeneration = 0 }: NonNullable<Budget['status']>,
  now: string,
): readonly Condition[] {
  const before = conditions.find(({ type }) => type === 'DisruptionAllowed')
  const condition: Condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(observedGeneration === 0 ? {} : { observedGeneration }),
    lastTransitionTime: before?.status === 'False' ? (before.lastTransitionTime ?? now) : now,
    reason: 'InsufficientPods',
    message: '',
  }
  return before === undefined ? [...conditions, condition] : conditions.map((other) => (other === before ? condition : other))
}

const stillProcessedMessage = (name: string): string => `The disruption budget ${name} is still being processed by the server.`

const retrySeconds = 10

/** 429 with Retry-After: the disruption controller has not processed the budget yet. */
const budgetNotReady = (message: string): ApiError => refused(message, { retryAfterSeconds: retrySeconds })

/** 429 without Retry-After: it is unknown when the budget allows a disruption. */
const budgetExceeded = (message: string): ApiError => refused(message, {})

const refused = (message: string, retry: { readonly retryAfterSeconds?: number }): ApiError =>
  new ApiError({
    code: 429,
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: { causes: [{ reason: 'DisruptionBudget', message }], ...retry },
  })

const tooManyBudgets = (): ApiError =>
  new ApiError({
    code: 500,
    reason: 'InternalError',
    message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
  })
