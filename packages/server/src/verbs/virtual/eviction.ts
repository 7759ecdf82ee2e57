// A pod is deleted if its disruption budget has one to spare, and the budget is charged for it. One that is not ready may go for nothing.

import { ApiError, badRequest, conflict, forbidden, notFound } from '../../api/api-error.js'
import type { Call } from '../../api/call.js'
import type { Resource } from '../../api/catalog.js'
import { fromSelectorObject, type LabelSelectorObject } from '../../api/label-selector.js'
import type { ApiObject } from '../../api/object.js'
import { checkDeleteOptions, type DeleteOptions } from '../../api/options/delete-options.js'
import { isDryRun } from '../../api/options/write-options.js'
import { nowOrInPieces, Pieces } from '../../base/pieces.js'
import { leanObject } from '../../objects/lean-object.js'
import { everything } from '../../objects/selection.js'
import { timeOf } from '../../schema/scalars.js'
import { checkPreconditions, remove } from '../delete.js'
import { addressOf, type Engine } from '../engine.js'
import type { LiveObject } from '../steps.js'
import { change, modifiedMessage } from '../update.js'
import type { ActionRequest } from './signatures.js'

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

const mostDisruptedPods = 2000

/** How often a pod is looked at that changes again and again. */
const maxAttempts = 20

export async function evict(engine: Engine, call: Call, request: ActionRequest): Promise<undefined> {
  const eviction = request.body as Eviction
  if ((eviction.metadata?.name ?? '') !== call.name) throw badRequest('name in URL does not match name in Eviction object')
  checkDeleteOptions(eviction.deleteOptions ?? {}, call.identity)
  podNow(engine, call)
  await request.validate()
  const options = { ...eviction.deleteOptions, ...(isDryRun(call.options) ? { dryRun: call.options.dryRun ?? [] } : {}) }
  for (let attempts = 1; ; attempts++) {
    // Hooks may have taken long: what the pod is now decides whether its budget has a say.
    const pod = podNow(engine, call)
    if (!isFree(pod)) return evictByBudget(engine, call, { pod, request, options })
    try {
      return await removePod(engine, call, isAtEnd(pod) || hasVersion(options) ? options : asSeen(options, pod))
    } catch (thrown) {
      // It may run by now.
      if (!isConflict(thrown) || hasVersion(options) || attempts === maxAttempts) throw thrown
    }
  }
}

function podNow(engine: Engine, call: Call): Pod {
  const stored = engine.store.read(addressOf(call))
  if (stored === undefined) throw notFound(call.resource.subject, call.name)
  return stored.decode(call.resource)
}

async function evictByBudget(engine: Engine, call: Call, charge: Charge): Promise<undefined> {
  const { pod, options } = charge
  const passedOver = await chargeBudget(engine, call, charge)
  try {
    return await removePod(engine, call, passedOver === undefined ? options : asSeen(options, pod))
  } catch (thrown) {
    if (passedOver === undefined || !isConflict(thrown) || hasVersion(options)) throw thrown
    throw notNow(stillProcessed(passedOver))
  }
}

async function removePod(engine: Engine, call: Call, options: DeleteOptions): Promise<undefined> {
  const isMarked = call.gates('PodDisruptionConditions') && !isDryRun(options)
  const version = isMarked ? await markDisrupted(engine, call, options) : undefined
  const deletion = call.with({ subresource: undefined, options: version === undefined ? options : withVersion(options, version) })
  await remove(engine, deletion, { isAdmitted: true })
}

const isConflict = (thrown: unknown): boolean => thrown instanceof ApiError && thrown.status.code === 409

const hasVersion = ({ preconditions }: DeleteOptions): boolean => preconditions?.resourceVersion !== undefined

/** Only the pod as it was looked at goes. */
const asSeen = (options: DeleteOptions, { metadata }: Pod): DeleteOptions =>
  metadata?.resourceVersion === undefined
    ? options
    : { ...options, preconditions: { ...options.preconditions, resourceVersion: metadata.resourceVersion } }

/** The pod says why it goes, so that whoever counts failures can tell this one from others. Gives the version of the pod since then. */
async function markDisrupted(engine: Engine, call: Call, options: DeleteOptions): Promise<string | undefined> {
  const subresource = call.resource.subresources.get('status')
  const current = engine.store.read(addressOf(call))
  if (current === undefined) throw notFound(call.resource.subject, call.name)
  const next = ({ object: live }: LiveObject): ApiObject => {
    checkPreconditions(call, live, options)
    return disrupted(live, timeOf(call.now))
  }
  const { result } = await change(engine, call.with({ subresource, options: {} }), { current, isPatch: true, isAdmitted: true, next })
  return result.stored?.decode(call.resource).metadata?.resourceVersion
}

const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' }

function disrupted(pod: Pod, lastTransitionTime: string): Pod {
  const conditions = pod.status?.conditions ?? []
  const before = conditions.find(({ type }) => type === disruption.type)
  const since = before?.status === disruption.status ? before.lastTransitionTime : undefined
  const condition: Condition = { ...disruption, lastTransitionTime: since ?? lastTransitionTime }
  const others = before === undefined ? [...conditions, condition] : conditions.map((other) => (other === before ? condition : other))
  return { ...pod, status: { ...pod.status, conditions: others } }
}

/** The mark made a new version of the pod; a condition on the version before it was checked then. */
const withVersion = (options: DeleteOptions, resourceVersion: string): DeleteOptions =>
  options.preconditions?.resourceVersion === undefined
    ? options
    : { ...options, preconditions: { ...options.preconditions, resourceVersion } }

/** A pod that does not run, or goes anyway, costs no budget. */
const isFree = (pod: Pod): boolean => isAtEnd(pod) || pod.status?.phase === 'Pending'

/** Nothing can make it run again. */
const isAtEnd = ({ metadata, status }: Pod): boolean =>
  metadata?.deletionTimestamp !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed'

interface Charge {
  readonly pod: Pod
  readonly request: ActionRequest
  readonly options: DeleteOptions
}

/** Gives the name of a budget that was passed over, because the pod is not one of those that it counts on. */
async function chargeBudget(engine: Engine, call: Call, { pod, request, options }: Charge): Promise<string | undefined> {
  const budgets = request.catalog.find('policy', 'v1', 'poddisruptionbudgets')
  if (budgets === undefined) return undefined
  const pieces = new Pieces(() => call.throwIfAborted())
  const [first, second] = await nowOrInPieces(budgetsOf(engine, call, { budgets, pod }), pieces)
  if (first === undefined) return undefined
  if (second !== undefined) throw tooManyBudgets()
  const name = first.metadata?.name ?? ''
  if (!isReady(pod) && sparesUnready(call, first)) return name
  const budgetCall = call.with({ resource: budgets, subresource: budgets.subresources.get('status'), name, options })
  const current = engine.store.read(addressOf(budgetCall))
  if (current === undefined) throw conflict(budgets.subject, name, modifiedMessage)
  const charged = ({ object: live }: LiveObject): ApiObject => charge(call, budgets, live)
  await change(engine, budgetCall, { current, isPatch: true, next: charged })
  return undefined
}

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false

/** A pod that is not ready is none of those that are wanted: where these are enough, or the budget says so, it may go. */
function sparesUnready({ gates }: Call, { spec, status: { currentHealthy = 0, desiredHealthy = 0 } = {} }: Budget): boolean {
  if (gates('PDBUnhealthyPodEvictionPolicy') && spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  return currentHealthy >= desiredHealthy && desiredHealthy > 0
}

/** Two at most, in short steps: there may be many, and large ones, in the namespace. */
function* budgetsOf(
  { store }: Engine,
  call: Call,
  { budgets: resource, pod }: { readonly budgets: Resource; readonly pod: Pod },
): Generator<undefined, readonly Budget[], void> {
  const found: Budget[] = []
  for (const stored of store.look({ resource, namespace: call.namespace, selection: everything })) {
    yield undefined
    if (stored === undefined) continue
    const budget = leanObject(stored, resource) as Budget
    const { selector } = budget.spec ?? {}
    if (fromSelectorObject(selector).matches(pod.metadata?.labels) && found.push(budget) === 2) break
  }
  return found
}

function charge(call: Call, resource: Resource, budget: Budget): ApiObject {
  const { status = {}, metadata } = budget
  const name = metadata?.name ?? ''
  if ((status.observedGeneration ?? 0) < (metadata?.generation ?? 0)) throw notNow(stillProcessed(name))
  const allowed = status.disruptionsAllowed ?? 0
  if (allowed < 0) throw forbidden(resource.subject, name, 'pdb disruptions allowed is negative')
  if (Object.keys(status.disruptedPods ?? {}).length > mostDisruptedPods)
    throw forbidden(resource.subject, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller')
  if (allowed === 0)
    throw notAtAll(
      `The disruption budget ${name} needs ${status.desiredHealthy ?? 0} healthy pods and has ${status.currentHealthy ?? 0} currently`,
    )
  const disruptedPods = { ...status.disruptedPods, [call.name]: timeOf(call.now) }
  const conditions = allowed === 1 ? { conditions: exhausted(status, timeOf(call.now)) } : {}
  return { ...budget, status: { ...status, disruptionsAllowed: allowed - 1, disruptedPods, ...conditions } } as ApiObject
}

/** A budget of which nothing is left says so at once, and does not wait for whoever keeps it. */
function exhausted({ conditions = [], observedGeneration = 0 }: NonNullable<Budget['status']>, now: string): readonly Condition[] {
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

const stillProcessed = (name: string): string => `The disruption budget ${name} is still being processed by the server.`

const retrySeconds = 10

/** The budget will be known in a moment: come again. */
const notNow = (why: string): ApiError => refused(why, { retryAfterSeconds: retrySeconds })

/** Only other pods can change that, and nobody knows when: no word about when to come again. */
const notAtAll = (why: string): ApiError => refused(why, {})

const refused = (why: string, again: { readonly retryAfterSeconds?: number }): ApiError =>
  new ApiError({
    code: 429,
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: { causes: [{ reason: 'DisruptionBudget', message: why }], ...again },
  })

/** A fault in the making of the cluster, which the one who evicts cannot mend by trying again. */
const tooManyBudgets = (): ApiError =>
  new ApiError({
    code: 500,
    reason: 'InternalError',
    message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
  })
