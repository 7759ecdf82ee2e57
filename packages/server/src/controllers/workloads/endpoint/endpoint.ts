// Endpoints controller: the addresses of the pods that a Service selects, with its labels.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Endpoints, Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { partsOf } from '../../../objects/object-keys.js'
import { KeyedController, type Run, type Source } from '../../framework/controller.js'
import { ignoreErrors, isNamespaceTerminating, notFoundCodes } from '../../framework/internal-call.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { addressOfKey, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { hasPods, isHeadless } from './service-pods.js'
import { podsOfService, ServiceSelectors } from './service-sources.js'
import { countAddresses, maxAddresses, subsetsOf, truncate } from './subsets.js'
import { TriggerTimes } from './trigger-times.js'

interface Resources {
  readonly services: Resource
  readonly pods: Resource
  readonly endpoints: Resource
}

interface Context {
  readonly parts: WorkloadParts
  readonly writer: Writer
  readonly resources: Resources
  readonly triggers: TriggerTimes
}

function resourcesIn(catalog: Catalog): Resources | undefined {
  const [services, pods, endpoints] = ['services', 'pods', 'endpoints'].map((plural) => catalog.find('', 'v1', plural))
  return services === undefined || pods === undefined || endpoints === undefined ? undefined : { services, pods, endpoints }
}

export const endpointsOfServices = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'endpoint-controller')
  const selectors = new ServiceSelectors()
  const triggers = new TriggerTimes()
  return new KeyedController(parts, {
    name: 'endpoint',
    concurrency: 5,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const found = resourcesIn(catalog)
      return found === undefined ? [] : [...selectors.sources(found.services, found.pods), deletedEndpoints(parts, found)]
    },
    work: async (key, run) => {
      const resources = resourcesIn(parts.catalogs.current)
      if (resources !== undefined) await reconcile({ parts, writer, resources, triggers }, key, run)
      return undefined
    },
  })
}

/** Endpoints that a client deletes are created again; at the start, Endpoints without a Service are deleted. */
const deletedEndpoints = (parts: WorkloadParts, { services, endpoints }: Resources): Source => ({
  resource: endpoints,
  namespace: '',
  keyOf: (stored, eventType) => {
    const { namespace, name } = partsOf(endpoints, stored.key)
    const key = `${namespace}/${name}`
    if (eventType === 'DELETED') return key
    if (eventType !== 'LISTED' || parts.engine.store.read({ resource: services, namespace, name }) !== undefined) return undefined
    const { annotations } = (stored.decode(endpoints) as Endpoints).metadata ?? {}
    return annotations?.[parts.engine.identity.label('leader', 'control-plane.alpha')] === undefined ? key : undefined
  },
})

async function reconcile({ parts, writer, resources, triggers }: Context, key: string, run: Run): Promise<void> {
  const service = readObject<Service>(parts, addressOfKey(resources.services, key))
  const current = readObject<Endpoints>(parts, addressOfKey(resources.endpoints, key))
  if (service === undefined) {
    triggers.forget(key)
    if (current !== undefined) await ignoreErrors(notFoundCodes, writer.delete(resources.endpoints, current))
    return
  }
  if (!hasPods(service)) return
  const pods = await podsOfService(parts, { service, pods: resources.pods }, run)
  const triggerTime = triggers.next(key, service, pods)
  const { identity } = parts.engine
  const names = {
    headless: identity.label('headless', 'service'),
    triggerTime: identity.label('last-change-trigger-time', 'endpoints'),
    overCapacity: identity.label('over-capacity', 'endpoints'),
  }
  const subsets = subsetsOf(service, pods)
  if (current !== undefined && isCurrent(current, service, { subsets, names })) return
  const kept = truncate(subsets)
  const { [names.triggerTime]: _, [names.overCapacity]: __, ...annotations } = current?.metadata?.annotations ?? {}
  const { [names.headless]: ___, ...labels } = service.metadata?.labels ?? {}
  const { namespace, name } = addressOfKey(resources.endpoints, key)
  const next: Endpoints = {
    ...current,
    metadata: {
      ...(current?.metadata ?? { namespace, name }),
      labels: isHeadless(service) ? { ...labels, [names.headless]: '' } : labels,
      annotations: {
        ...annotations,
        ...(triggerTime === undefined ? {} : { [names.triggerTime]: triggerTime }),
        ...(kept === undefined ? {} : { [names.overCapacity]: 'truncated' }),
      },
    },
    subsets: kept ?? subsets,
  }
  try {
    if (current === undefined) await writer.create(resources.endpoints, next)
    else await writer.update(resources.endpoints, next)
  } catch (thrown) {
    if (isNamespaceTerminating(thrown)) return
    const event =
      current === undefined
        ? { reason: 'FailedToCreateEndpoint', message: `Failed to create endpoint for service ${key}: ${errorMessage(thrown)}` }
        : { reason: 'FailedToUpdateEndpoint', message: `Failed to update endpoint ${key}: ${errorMessage(thrown)}` }
    await writer.event(resources.endpoints, next, { type: 'Warning', ...event })
    throw thrown
  }
}

interface Wanted {
  readonly subsets: NonNullable<Endpoints['subsets']>
  readonly names: { readonly headless: string; readonly overCapacity: string }
}

function isCurrent({ metadata, subsets: stored = [] }: Endpoints, service: Service, { subsets, names }: Wanted): boolean {
  const { [names.headless]: _, ...labels } = metadata?.labels ?? {}
  const isOverCapacity = countAddresses(stored) > maxAddresses || metadata?.annotations?.[names.overCapacity] !== undefined
  return !isOverCapacity && sameValue(stored, subsets) && sameValue(labels, service.metadata?.labels ?? {})
}
