// Says of each API service whether the server behind it answers: from the objects of its service, and by asking for its discovery again and
// again. What does not answer is asked later and later, and holds nothing else up.

import { ApiError } from '../../api/api-error.js'
import type { ApiServiceSource, RemoteVersion } from '../../api/api-services.js'
import type { Resource } from '../../api/catalog.js'
import { partsOf } from '../../objects/keys.js'
import { leanObject } from '../../objects/lean-object.js'
import { localCondition } from '../../resources/apiregistration/api-service.js'
import type { APIService, APIServiceCondition } from '../../resources/apiregistration/v1.schema.js'
import { timeOf } from '../../schema/scalars.js'
import type { Outcome } from '../kit/keyed-queue.js'
import { KeyedLoop, type LoopParts, type Run, type Source } from '../kit/loop.js'
import type { Loop } from '../leader-election.js'
import { patchOwn } from '../own-write.js'
import type { ExtensionAsker } from './ask-extension.js'
import type { ServiceFinder } from './find-service.js'
import { apiServicesResource, isAvailable } from './follow-api-services.js'
import { type Probing, probeVersion, usualAttempts } from './probe-version.js'
import type { AggregationTallies } from './tallies.js'

export interface AvailabilityParts {
  readonly services: ApiServiceSource
  readonly finder: ServiceFinder
  readonly asker: ExtensionAsker
  readonly tallies: AggregationTallies
}

/** How often what is well, or cannot be until an object changes, is looked at again. */
const recheckMs = 30_000

/** A service that never answers takes seconds each time: so many are asked at once. */
const concurrency = 200

/** Of one that did not answer the last time not many answers are expected. */
const attemptsAfterFailure = 2

/** In front of the keys that are services of the core group, and not API services. */
const serviceMark = '@'

export const apiServiceAvailability =
  ({ services, finder, asker, tallies }: AvailabilityParts) =>
  (parts: LoopParts): Loop => {
    const tending = { parts, services, finder, asker, tallies }
    return new KeyedLoop(parts, {
      name: 'AvailableConditionController',
      concurrency,
      backOff: { firstMs: 200, mostMs: recheckMs },
      sources: (catalog) => {
        const resource = apiServicesResource(catalog)
        if (resource === undefined) return []
        const parts: Source[] = [
          { resource, namespace: '', keyOf: ({ key }, seen) => (seen === 'DELETED' ? undefined : partsOf(resource, key).name) },
        ]
        for (const plural of ['services', 'endpoints']) {
          const behind = catalog.find('', 'v1', plural)
          if (behind !== undefined) parts.push(changesOf(behind, services))
        }
        return parts
      },
      work: (key, run) => work(tending, key, run),
    })
  }

/** Only those that an API service names. */
const changesOf = (resource: Resource, services: ApiServiceSource): Source => ({
  resource,
  namespace: '',
  onlyChanges: true,
  keyOf: ({ key }) => {
    if (services.current.remotes.length === 0) return undefined
    const { namespace, name } = partsOf(resource, key)
    return services.current.remotes.some(({ remote: { service } }) => service.name === name && service.namespace === namespace)
      ? `${serviceMark}${namespace}/${name}`
      : undefined
  },
})

interface Tending extends AvailabilityParts {
  readonly parts: LoopParts
}

async function work(tending: Tending, key: string, run: Run): Promise<Outcome> {
  if (!key.startsWith(serviceMark)) return await tendOne(tending, key, run)
  const concerned = tending.services.current.remotes.filter(({ remote: { service } }) => key === `@${service.namespace}/${service.name}`)
  const outcomes = await Promise.all(concerned.map(({ name }) => tendOne(tending, name, run)))
  return outcomes.includes('again') ? 'again' : undefined
}

async function tendOne(tending: Tending, name: string, run: Run): Promise<Outcome> {
  const { parts, services } = tending
  const resource = apiServicesResource(parts.catalogs.current)
  const stored = resource && parts.engine.store.read({ resource, namespace: '', name })
  if (resource === undefined || stored === undefined) return undefined
  const service = leanObject(stored, resource) as APIService
  const listed = services.current.all.get(name)
  if (service.spec?.service === undefined) {
    await report(tending, { resource, service, condition: localCondition(parts.engine.clock.now()) })
    return undefined
  }
  // The version that was followed is the one that is asked; where it is older than what is stored, the change is a key of its own.
  if (listed?.remote === undefined) return undefined
  const attempts = hasFailed(service) ? attemptsAfterFailure : usualAttempts
  const { condition, isAskedSoon } = await examine(tending, listed as RemoteVersion, { signal: run.signal, attempts })
  if (run.signal.aborted) return undefined
  await report(tending, { resource, service, condition })
  return isAskedSoon ? 'again' : { afterMs: recheckMs }
}

const hasFailed = ({ status }: APIService): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'Available' && reason === 'FailedDiscoveryCheck') === true

interface Examined {
  readonly condition: APIServiceCondition
  readonly isAskedSoon: boolean
}

async function examine({ parts, finder, asker }: Tending, version: RemoteVersion, probing: Probing): Promise<Examined> {
  const conditionOf = (status: string, reason: string, message: string): APIServiceCondition => ({
    type: 'Available',
    status,
    lastTransitionTime: timeOf(parts.engine.clock.now()),
    reason,
    message,
  })
  const problem = finder.findProblem(version.remote.service)
  if (problem !== undefined) return { condition: conditionOf('False', problem.reason, problem.message), isAskedSoon: false }
  const failure = await probeVersion(asker, version, probing)
  return failure === undefined
    ? { condition: conditionOf('True', 'Passed', 'all checks passed'), isAskedSoon: false }
    : { condition: conditionOf('False', 'FailedDiscoveryCheck', failure), isAskedSoon: true }
}

interface Report {
  readonly resource: Resource
  readonly service: APIService
  readonly condition: APIServiceCondition
}

/** The time of a condition changes with its status only. */
async function report({ parts, tallies }: Tending, { resource, service, condition }: Report): Promise<void> {
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
    await patchOwn(engine, target, { metadata: { uid, resourceVersion }, status: { conditions } })
  } catch (thrown) {
    // It changed meanwhile, and so is a key again; or it is gone.
    if (!(thrown instanceof ApiError) || (thrown.status.code !== 404 && thrown.status.code !== 409)) throw thrown
    return
  }
  if (isAvailable(service) && condition.status !== 'True') tallies.countUnavailable(name, condition.reason ?? '')
}
