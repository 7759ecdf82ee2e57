// Sets the Available condition of APIServices from their Service and Endpoints and by polling their discovery, with a back-off for each.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { ApiServiceSource, RemoteVersion } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { localCondition } from '@cluster-apiserver/api/resources/apiregistration/api-service.js'
import type { APIService, APIServiceCondition } from '@cluster-apiserver/api/resources/apiregistration/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { partsOf } from '../../objects/object-keys.js'
import { type ControllerParts, KeyedController, type Run, type Source } from '../framework/controller.js'
import { internalPatch } from '../framework/internal-call.js'
import type { Outcome } from '../framework/work-queue.js'
import type { Controller } from '../leader-election/leader-election.js'
import type { AggregationCounters } from './aggregation-metrics.js'
import type { ExtensionClient } from './extension-client.js'
import type { ServiceFinder } from './find-service.js'
import { apiServicesResource, isAvailable } from './follow-api-services.js'
import { defaultAttempts, type Probing, probeVersion } from './probe-api-service.js'

interface AvailabilityParts {
  readonly services: ApiServiceSource
  readonly finder: ServiceFinder
  readonly extensionClient: ExtensionClient
  readonly counters: AggregationCounters
}

/** Interval of checks of services that are available, or that wait for a change of an object. */
const recheckMs = 30_000

/** High, because a service that does not respond takes seconds. */
const concurrency = 200

const attemptsAfterFailure = 2

/** Prefix of keys that name a core Service, not an APIService. */
const servicePrefix = '@'

export const apiServiceAvailability =
  ({ services, finder, extensionClient, counters }: AvailabilityParts) =>
  (parts: ControllerParts): Controller => {
    const context = { parts, services, finder, extensionClient, counters }
    return new KeyedController(parts, {
      name: 'AvailableConditionController',
      concurrency,
      backOff: { firstMs: 200, maxMs: recheckMs },
      sources: (catalog) => {
        const resource = apiServicesResource(catalog)
        if (resource === undefined) return []
        const sources: Source[] = [
          { resource, namespace: '', keyOf: ({ key }, eventType) => (eventType === 'DELETED' ? undefined : partsOf(resource, key).name) },
        ]
        for (const plural of ['services', 'endpoints']) {
          const backing = catalog.find('', 'v1', plural)
          if (backing !== undefined) sources.push(changesOf(backing, services))
        }
        return sources
      },
      work: (key, run) => work(context, key, run),
    })
  }

const changesOf = (resource: Resource, services: ApiServiceSource): Source => ({
  resource,
  namespace: '',
  onlyChanges: true,
  keyOf: ({ key }) => {
    if (services.current.remotes.length === 0) return undefined
    const { namespace, name } = partsOf(resource, key)
    return services.current.remotes.some(({ remote: { service } }) => service.name === name && service.namespace === namespace)
      ? `${servicePrefix}${namespace}/${name}`
      : undefined
  },
})

interface Context extends AvailabilityParts {
  readonly parts: ControllerParts
}

async function work(context: Context, key: string, run: Run): Promise<Outcome> {
  if (!key.startsWith(servicePrefix)) return await reconcileService(context, key, run)
  const affected = context.services.current.remotes.filter(
    ({ remote: { service } }) => key === `${servicePrefix}${service.namespace}/${service.name}`,
  )
  const outcomes = await Promise.all(affected.map(({ name }) => reconcileService(context, name, run)))
  return outcomes.includes('again') ? 'again' : undefined
}

async function reconcileService(context: Context, name: string, run: Run): Promise<Outcome> {
  const { parts, services } = context
  const resource = apiServicesResource(parts.catalogs.current)
  const stored = resource && parts.engine.store.read({ resource, namespace: '', name })
  if (resource === undefined || stored === undefined) return undefined
  const service = stored.decode(resource) as APIService
  const listed = services.current.all.get(name)
  if (service.spec?.service === undefined) {
    await writeCondition(context, { resource, service, condition: localCondition(parts.engine.clock.now()) })
    return undefined
  }
  // The list of APIServices may lag behind the store; its pending change queues the key again.
  if (listed?.remote === undefined) return undefined
  const attempts = hasFailed(service) ? attemptsAfterFailure : defaultAttempts
  const { condition, shouldRetry } = await checkService(context, listed as RemoteVersion, { signal: run.signal, attempts })
  if (run.signal.aborted) return undefined
  await writeCondition(context, { resource, service, condition })
  return shouldRetry ? 'again' : { afterMs: recheckMs }
}

const hasFailed = ({ status }: APIService): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'Available' && reason === 'FailedDiscoveryCheck') === true

interface CheckOutcome {
  readonly condition: APIServiceCondition
  readonly shouldRetry: boolean
}

async function checkService({ parts, finder, extensionClient }: Context, version: RemoteVersion, probing: Probing): Promise<CheckOutcome> {
  const conditionOf = (status: string, reason: string, message: string): APIServiceCondition => ({
    type: 'Available',
    status,
    lastTransitionTime: timeOf(parts.engine.clock.now()),
    reason,
    message,
  })
  const problem = finder.findProblem(version.remote.service)
  if (problem !== undefined) return { condition: conditionOf('False', problem.reason, problem.message), shouldRetry: false }
  const failure = await probeVersion(extensionClient, version, probing)
  return failure === undefined
    ? { condition: conditionOf('True', 'Passed', 'all checks passed'), shouldRetry: false }
    : { condition: conditionOf('False', 'FailedDiscoveryCheck', failure), shouldRetry: true }
}

interface ConditionUpdate {
  readonly resource: Resource
  readonly service: APIService
  readonly condition: APIServiceCondition
}

/** Changes lastTransitionTime only if `status` changes. */
async function writeCondition({ parts, counters }: Context, { resource, service, condition }: ConditionUpdate): Promise<void> {
  const { engine } = parts
  const name = service.metadata?.name ?? ''
  const before = service.status?.conditions ?? []
  const old = before.find(({ type }) => type === condition.type)
  const isSame = old?.status === condition.status
  if (isSame && old?.reason === condition.reason && old?.message === condition.message) return
  const next = isSame ? { ...condition, lastTransitionTime: old?.lastTransitionTime ?? condition.lastTransitionTime } : condition
  const conditions = old === undefined ? [...before, next] : before.map((each) => (each === old ? next : each))
  const { uid = '', resourceVersion = '' } = service.metadata ?? {}
  const target = { resource, name, subresource: 'status', options: { fieldManager: engine.identity.prefixed('apiserver') } }
  try {
    await internalPatch(engine, target, { metadata: { uid, resourceVersion }, status: { conditions } })
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || (thrown.status.code !== 404 && thrown.status.code !== 409)) throw thrown
    return
  }
  if (isAvailable(service) && condition.status !== 'True') counters.countUnavailable(name, condition.reason ?? '')
}
