// Service controller with a simulated load balancer: gives Services of type LoadBalancer an address of --service-lb-range.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { everything } from '../../../objects/list/selection.js'
import { KeyedController, type Run } from '../../framework/controller.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { ownersSource } from '../kit/owner-keys.js'
import { addressOfKey, isTerminating, readObject, type WorkloadParts } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { isInRange, nextAddress } from './load-balancer-addresses.js'

const backOff = { firstMs: 5000, maxMs: 300_000 }

interface Context {
  readonly parts: WorkloadParts
  readonly writer: Writer
  readonly services: Resource
  readonly range: string
  readonly finalizer: string
  readonly run: Run
}

export const serviceLoadBalancers = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'service-controller')
  const range = parts.flags?.serviceLbRange ?? '198.51.100.0/24'
  const finalizer = parts.engine.identity.label('load-balancer-cleanup', 'service')
  return new KeyedController(parts, {
    name: 'service',
    // One at a time: two Services must not get the same address.
    concurrency: 1,
    backOff,
    sources: (catalog) => {
      const services = catalog.find('', 'v1', 'services')
      return services === undefined ? [] : [ownersSource(services)]
    },
    work: async (key, run) => {
      const services = parts.catalogs.current.find('', 'v1', 'services')
      return services === undefined ? undefined : reconcile({ parts, writer, services, range, finalizer, run }, key)
    },
  })
}

type Ingress = NonNullable<NonNullable<NonNullable<Service['status']>['loadBalancer']>['ingress']>

const ingressOf = ({ status }: Service): Ingress => status?.loadBalancer?.ingress ?? []

async function reconcile(context: Context, key: string): Promise<Outcome> {
  const { parts, writer, services, range, finalizer } = context
  const service = readObject<Service>(parts, addressOfKey(services, key))
  if (service === undefined) return undefined
  const { finalizers = [] } = service.metadata ?? {}
  // Services with a class belong to another controller.
  const isWanted = service.spec?.type === 'LoadBalancer' && service.spec.loadBalancerClass === undefined
  const event = (reason: string, message: string, type: 'Normal' | 'Warning' = 'Normal') =>
    writer.event(services, service, { type, reason, message })
  if (!isWanted || isTerminating(service)) {
    if (!finalizers.includes(finalizer)) return undefined
    await event('DeletingLoadBalancer', 'Deleting load balancer')
    const released = ingressOf(service).length === 0 ? service : await setIngress(context, service, [])
    const left = finalizers.filter((name) => name !== finalizer)
    await writer.update<Service>(services, { ...released, metadata: { ...released.metadata, finalizers: left } })
    await event('DeletedLoadBalancer', 'Deleted load balancer')
    return undefined
  }
  const { loadBalancerIP: wanted = '' } = service.spec ?? {}
  const [current] = ingressOf(service)
  const isKept = current?.ip !== undefined && (wanted === '' ? isInRange(range, current.ip) : current.ip === wanted)
  if (finalizers.includes(finalizer) && isKept) return undefined
  await event('EnsuringLoadBalancer', 'Ensuring load balancer')
  const withFinalizer = finalizers.includes(finalizer)
    ? service
    : await writer.update<Service>(services, { ...service, metadata: { ...service.metadata, finalizers: [...finalizers, finalizer] } })
  const ip = isKept ? current.ip : nextAddress(range, await takenAddresses(context, key), wanted)
  if (ip === undefined) {
    const why = wanted === '' ? `no address of ${range} is free` : `${wanted} is not a free address of ${range}`
    await event('SyncLoadBalancerFailed', `Error syncing load balancer: failed to ensure load balancer: ${why}`, 'Warning')
    return 'again'
  }
  await setIngress(context, withFinalizer, [{ ip }])
  await event('EnsuredLoadBalancer', 'Ensured load balancer')
  return undefined
}

async function setIngress({ writer, services }: Context, service: Service, ingress: Ingress): Promise<Service> {
  if (sameValue(ingressOf(service), ingress)) return service
  const loadBalancer = ingress.length === 0 ? {} : { ingress }
  return writer.update<Service>(services, { ...service, status: { ...service.status, loadBalancer } }, 'status')
}

const ingressText = Buffer.from('"ingress"')

/** Only this controller writes addresses, one key at a time, so the reads may yield to the event loop. */
async function takenAddresses({ parts, services, run }: Context, except: string): Promise<ReadonlySet<string>> {
  const taken = new Set<string>()
  for (const stored of parts.engine.store.readInSteps({ resource: services, namespace: '', selection: everything })) {
    await run.budget.yieldIfSpent()
    if (stored?.entry.value.includes(ingressText) !== true) continue
    const service = stored.decode(services) as Service
    if (`${service.metadata?.namespace}/${service.metadata?.name}` === except) continue
    for (const { ip } of ingressOf(service)) if (ip !== undefined) taken.add(ip)
  }
  return taken
}
