// A pod is deleted if its disruption budget has one to spare, and the budget is charged for it.

import { ApiError, badRequest, conflict, forbidden, notFound } from '../../api/api-error.js'
import type { Call } from '../../api/call.js'
import type { Resource } from '../../api/catalog.js'
import { fromSelectorObject, type LabelSelectorObject } from '../../api/label-selector.js'
import type { ApiObject } from '../../api/object.js'
import { checkDeleteOptions, type DeleteOptions } from '../../api/options/delete-options.js'
import { isDryRun } from '../../api/options/write-options.js'
import { everything } from '../../objects/selection.js'
import { timeOf } from '../../schema/scalars.js'
import { checkPreconditions, remove } from '../delete.js'
import { addressOf, type Engine } from '../engine.js'
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
  readonly spec?: { readonly selector?: LabelSelectorObject }
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

export async function evict(engine: Engine, call: Call, request: ActionRequest): Promise<undefined> {
  const eviction = request.body as Eviction
  if ((eviction.metadata?.name ?? '') !== call.name) throw badRequest('name in URL does not match name in Eviction object')
  checkDeleteOptions(eviction.deleteOptions ?? {}, call.identity)
  const pod = engine.store.read(addressOf(call))?.decode(call.resource) as Pod | undefined
  if (pod === undefined) throw notFound(call.resource.subject, call.name)
  await request.validate()
  const options = { ...eviction.deleteOptions, ...(isDryRun(call.options) ? { dryRun: call.options.dryRun ?? [] } : {}) }
  if (!isFree(pod)) await chargeBudget(engine, call, { pod, request, options })
  const isMarked = call.gates('PodDisruptionConditions') && !isDryRun(options)
  const version = isMarked ? await markDisrupted(engine, call, options) : undefined
  const deletion = call.with({ subresource: undefined, options: version === undefined ? options : withVersion(options, version) })
  await remove(engine, deletion, { isAdmitted: true })
}

/** The pod says why it goes, so that whoever counts failures can tell this one from others. Gives the version of the pod since then. */
async function markDisrupted(engine: Engine, call: Call, options: DeleteOptions): Promise<string | undefined> {
  const subresource = call.resource.subresources.get('status')
  const current = engine.store.read(addressOf(call))
  if (current === undefined) throw notFound(call.resource.subject, call.name)
  const next = (live: Pod): ApiObject => {
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
function isFree({ metadata, status }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(status?.phase ?? '')
}

interface Charge {
  readonly pod: Pod
  readonly request: ActionRequest
  readonly options: DeleteOptions
}

async function chargeBudget(engine: Engine, call: Call, { pod, request, options }: Charge): Promise<void> {
  const budgets = request.catalog.find('policy', 'v1', 'poddisruptionbudgets')
  if (budgets === undefined) return
  const [first, second] = budgetsOf(engine, budgets, { pod, namespace: call.namespace })
  if (first === undefined) return
  if (second !== undefined) throw tooManyBudgets()
  const name = first.metadata?.name ?? ''
  const budgetCall = call.with({ resource: budgets, subresource: budgets.subresources.get('status'), name, options })
  const current = engine.store.read(addressOf(budgetCall))
  if (current === undefined) throw conflict(budgets.subject, name, modifiedMessage)
  const charged = (live: Budget): ApiObject => charge(call, budgets, live)
  await change(engine, budgetCall, { current, isPatch: true, next: charged })
}

function budgetsOf(
  engine: Engine,
  resource: Resource,
  { pod, namespace }: { readonly pod: Pod; readonly namespace: string },
): readonly Budget[] {
  const page = engine.store.list({ resource, namespace, selection: everything, limit: 0 })
  return Array.from(page.objects(), (object) => object.decode(resource) as Budget).filter(({ spec }) => {
    const selector = fromSelectorObject(spec?.selector)
    return selector.matches(pod.metadata?.labels)
  })
}

function charge(call: Call, resource: Resource, budget: Budget): ApiObject {
  const { status = {}, metadata } = budget
  const name = metadata?.name ?? ''
  if ((status.observedGeneration ?? 0) < (metadata?.generation ?? 0))
    throw notNow(`The disruption budget ${name} is still being processed by the server.`)
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
