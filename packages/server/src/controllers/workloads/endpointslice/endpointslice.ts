// EndpointSlice controller: the addresses of the pods that a Service selects, in slices by IP family and ports.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import type { IpFamily } from '@cluster-apiserver/api/api/validation/network/ip-text.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { Node, Pod, Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { Endpoint, EndpointPort, EndpointSlice } from '@cluster-apiserver/api/resources/discovery/v1.schema.js'
import { KeyedController, type Run, type Source } from '../../framework/controller.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { familiesOf, hasPods, hostnameOf, isEndpointPod, isHeadless, podIpOf, referenceOf, targetPortOf } from '../endpoint/service-pods.js'
import { podsOfService, ServiceSelectors } from '../endpoint/service-sources.js'
import { TriggerTimes } from '../endpoint/trigger-times.js'
import { isReadyPod } from '../kit/pod-state.js'
import { addressOfKey, isTerminating, newControllerRef, readAll, readObject, type WorkloadParts } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { HintedServices } from './hinted-services.js'
import { joinChanges, noChanges, planSlices, portsKeyOf, recycle, type SliceChanges } from './slice-plan.js'
import { managedSlices, type SliceResources, sliceNames, writeSlices } from './slice-writes.js'
import { addHints, removeHints, wantsHints, zoneCpuOf, zoneRatiosOf } from './topology-hints.js'

interface Resources extends SliceResources {
  readonly services: Resource
  readonly pods: Resource
  readonly nodes: Resource
}

interface Context {
  readonly parts: WorkloadParts
  readonly writer: Writer
  readonly resources: Resources
  readonly triggers: TriggerTimes
  readonly hinted: HintedServices
}

const stem = 'endpointslice-controller'
const backOff = { firstMs: 1000, maxMs: 1_000_000 }

function resourcesIn(catalog: Catalog, discovery: string): Resources | undefined {
  const [services, pods, nodes] = ['services', 'pods', 'nodes'].map((plural) => catalog.find('', 'v1', plural))
  const slices = catalog.find(discovery, 'v1', 'endpointslices')
  if (services === undefined || pods === undefined || nodes === undefined || slices === undefined) return undefined
  return { services, pods, nodes, slices }
}

export const endpointSlices = (parts: WorkloadParts): Controller => {
  const { identity } = parts.engine
  const discovery = identity.group({ stem: 'discovery' })
  const writer = new Writer(parts, stem)
  const selectors = new ServiceSelectors()
  const state = { triggers: new TriggerTimes(), hinted: new HintedServices() }
  return new KeyedController(parts, {
    name: 'endpoint_slice',
    concurrency: 5,
    backOff,
    sources: (catalog) => {
      const found = resourcesIn(catalog, discovery)
      if (found === undefined) return []
      const names = sliceNames(identity, stem)
      return [...selectors.sources(found.services, found.pods), managedSlices(found.slices, names), zonesSource(parts, found, state.hinted)]
    },
    work: async (key, run) => {
      const resources = resourcesIn(parts.catalogs.current, discovery)
      if (resources === undefined) return undefined
      if (key === nodesKey) return { keys: state.hinted.overloadedBy(ratiosOf(parts, resources)) }
      return reconcile({ parts, writer, resources, ...state }, key, run)
    },
  })
}

const nodesKey = 'nodes'

/** Only Services that a change of the nodes overloads are reconciled for it, as in kube-controller-manager. */
const zonesSource = ({ engine: { identity } }: WorkloadParts, { nodes }: Resources, hinted: HintedServices): Source => ({
  resource: nodes,
  namespace: '',
  onlyChanges: true,
  keyOf: (stored, eventType, previous) => {
    if (hinted.isEmpty) return undefined
    const cpuOf = (object: typeof stored) => zoneCpuOf(identity, object.decode(nodes) as Node)
    return eventType === 'MODIFIED' && previous !== undefined && sameValue(cpuOf(stored), cpuOf(previous)) ? undefined : nodesKey
  },
})

const ratiosOf = (parts: WorkloadParts, { nodes }: Resources) => zoneRatiosOf(parts.engine.identity, readAll<Node>(parts, nodes, ''))

async function reconcile(context: Context, key: string, run: Run): Promise<Outcome> {
  const { parts, writer, resources, triggers, hinted } = context
  const { identity, store } = parts.engine
  const service = readObject<Service>(parts, addressOfKey(resources.services, key))
  if (service === undefined) {
    triggers.forget(key)
    hinted.forget(key)
    return undefined
  }
  if (!hasPods(service)) return undefined
  const pods = await podsOfService(parts, { service, pods: resources.pods }, run)
  const names = sliceNames(identity, stem)
  const labels = fromSelectorObject({ matchLabels: { [names.service]: service.metadata?.name ?? '', [names.managedBy]: names.manager } })
  const { namespace = '' } = service.metadata ?? {}
  const existing = Array.from(
    store.readAll({ resource: resources.slices, namespace, selection: { labels, fields: undefined }, limit: 0 }).objects(),
    (stored) => stored.decode(resources.slices) as EndpointSlice,
  ).filter((slice) => !isTerminating(slice))
  const triggerTime = triggers.next(key, service, pods)
  const families = familiesOf(service)
  const failures = new Set<string>()
  try {
    for (const family of families) {
      const slices = existing.filter(({ addressType }) => addressType === family)
      const { changes, missingNodes, hints } = planFamily(context, service, { family, pods, slices })
      const event = hinted.note(key, family, hints)
      if (event !== undefined) await writer.event(resources.services, service, event)
      await writeSlices(writer, resources, { changes, owner: service, triggerTime, names, ownerText: `Service ${key}` })
      for (const missing of missingNodes) failures.add(missing)
    }
    const remove = existing.filter(({ addressType }) => !families.includes(addressType as IpFamily))
    for (const { addressType } of remove) hinted.remove(key, addressType as IpFamily)
    await writeSlices(writer, resources, {
      changes: { ...noChanges, remove },
      owner: service,
      triggerTime,
      names,
      ownerText: `Service ${key}`,
    })
  } catch (thrown) {
    failures.add(errorMessage(thrown))
  }
  if (failures.size === 0) return undefined
  const text = failures.size === 1 ? [...failures][0] : `[${[...failures].join(', ')}]`
  const message = `Error updating Endpoint Slices for Service ${key}: ${text}`
  await writer.event(resources.services, service, { type: 'Warning', reason: 'FailedToUpdateEndpointSlices', message })
  return 'again'
}

interface FamilyState {
  readonly family: IpFamily
  readonly pods: readonly Pod[]
  readonly slices: readonly EndpointSlice[]
}

interface PortGroup {
  readonly ports: readonly EndpointPort[]
  readonly endpoints: Endpoint[]
  readonly existing: EndpointSlice[]
}

interface FamilyPlan {
  readonly changes: SliceChanges
  readonly missingNodes: readonly string[]
  /** Hints by zone, or why there are none; undefined: the Service does not want any. */
  readonly hints: ReadonlyMap<string, number> | string | undefined
}

function planFamily({ parts, resources }: Context, service: Service, { family, pods, slices }: FamilyState): FamilyPlan {
  const { identity, gates } = parts.engine
  const { name = '', namespace = '' } = service.metadata ?? {}
  const names = sliceNames(identity, stem)
  const missingNodes: string[] = []
  const groups = new Map<string, PortGroup>()
  const zoneOf = (node: Node): string => node.metadata?.labels?.[identity.label('zone', 'topology')] ?? ''
  for (const pod of pods) {
    if (!isEndpointPod(pod, true)) continue
    const ports = endpointPortsOf(service, pod)
    const { endpoints } = getOrInsert(groups, portsKeyOf(ports), () => ({ ports, endpoints: [], existing: [] }))
    const { nodeName = '' } = pod.spec ?? {}
    const node = nodeName === '' ? undefined : readObject<Node>(parts, { resource: resources.nodes, namespace: '', name: nodeName })
    if (node === undefined && service.spec?.publishNotReadyAddresses !== true) {
      missingNodes.push(`skipping Pod ${pod.metadata?.name} for Service ${namespace}/${name}: Node ${nodeName} Not Found`)
      continue
    }
    const endpoint = endpointOf(service, pod, { family, zone: node === undefined ? '' : zoneOf(node) })
    if (endpoint !== undefined) endpoints.push(endpoint)
  }
  const labels = labelsOf(service, names)
  const templateOf = (ports: readonly EndpointPort[]): EndpointSlice => ({
    metadata: {
      namespace,
      generateName: `${name}-`,
      labels,
      ownerReferences: [newControllerRef(service, resources.services)],
    },
    addressType: family,
    ports,
    endpoints: [],
  })
  let changes = noChanges
  const isOwned = ({ metadata }: EndpointSlice): boolean =>
    metadata?.ownerReferences?.some(({ uid, controller }) => controller === true && uid === service.metadata?.uid) === true
  for (const slice of slices) {
    const group = isOwned(slice) ? groups.get(portsKeyOf(slice.ports)) : undefined
    if (group === undefined) changes = joinChanges(changes, { ...noChanges, remove: [slice] })
    else group.existing.push(slice)
  }
  const hasLabels = (slice: EndpointSlice): boolean => sameValue(slice.metadata?.labels ?? {}, labels)
  for (const { existing, endpoints, ports } of groups.values())
    changes = joinChanges(changes, planSlices({ existing, desired: endpoints, template: templateOf(ports), hasLabels }))
  // A Service has at least one slice of each family.
  if (slices.length === changes.remove.length && changes.create.length === 0) {
    const [only, ...others] = changes.remove
    const isPlaceholder =
      only !== undefined && others.length === 0 && isOwned(only) && hasLabels(only) && isEmpty(only.endpoints) && isEmpty(only.ports)
    changes = isPlaceholder ? { ...changes, remove: [], unchanged: [only] } : { ...changes, create: [templateOf([])] }
  }
  const hasHints = gates('TopologyAwareHints') && wantsHints(identity, service.metadata?.annotations)
  const hinted = hasHints ? addHints(changes, ratiosOf(parts, resources)) : { changes: removeHints(changes), hints: undefined }
  return { changes: recycle(hinted.changes, isOwned), missingNodes, hints: hinted.hints }
}

const isEmpty = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length === 0

function labelsOf(service: Service, names: ReturnType<typeof sliceNames>): { readonly [name: string]: string } {
  const { [names.headless]: _, ...labels } = service.metadata?.labels ?? {}
  return {
    ...labels,
    ...(isHeadless(service) ? { [names.headless]: '' } : {}),
    [names.service]: service.metadata?.name ?? '',
    [names.managedBy]: names.manager,
  }
}

function endpointPortsOf({ spec }: Service, pod: Pod): readonly EndpointPort[] {
  return (spec?.ports ?? []).flatMap((servicePort) => {
    const port = targetPortOf(pod, servicePort)
    const { name = '', protocol = 'TCP', appProtocol } = servicePort
    return port === undefined ? [] : { name, protocol, port, ...(appProtocol == null ? {} : { appProtocol }) }
  })
}

function endpointOf(service: Service, pod: Pod, { family, zone }: { family: IpFamily; zone: string }): Endpoint | undefined {
  const ip = podIpOf(pod, family)
  if (ip === undefined) return undefined
  const serving = isReadyPod(pod)
  const terminating = isTerminating(pod)
  const hostname = hostnameOf(pod, service)
  return {
    addresses: [ip],
    // Clients that do not know `terminating` must not use a terminating pod.
    conditions: { ready: service.spec?.publishNotReadyAddresses === true || (serving && !terminating), serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: referenceOf(pod),
    ...(pod.spec?.nodeName === undefined || pod.spec.nodeName === '' ? {} : { nodeName: pod.spec.nodeName }),
    ...(zone === '' ? {} : { zone }),
  }
}
