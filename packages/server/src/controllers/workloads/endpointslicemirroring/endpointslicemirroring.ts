// Mirrors Endpoints that clients write for Services without a selector into EndpointSlices.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { Endpoints, Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { EndpointSlice } from '@cluster-apiserver/api/resources/discovery/v1.schema.js'
import { partsOf } from '../../../objects/object-keys.js'
import { KeyedController, type Source } from '../../framework/controller.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { recycle, type SliceChanges } from '../endpointslice/slice-plan.js'
import { managedSlices, type SliceNames, type SliceResources, sliceNames, writeSlices } from '../endpointslice/slice-writes.js'
import { addressOfKey, newControllerRef, readObject, type WorkloadParts } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { groupKeyOf, type MirroredGroup, maxMirroredAddresses, mirror } from './mirrored-slices.js'

interface Resources extends SliceResources {
  readonly services: Resource
  readonly endpoints: Resource
}

interface Context {
  readonly parts: WorkloadParts
  readonly writer: Writer
  readonly resources: Resources
  readonly names: SliceNames
}

const stem = 'endpointslicemirroring-controller'
const backOff = { firstMs: 1000, maxMs: 100_000 }

function resourcesIn(catalog: Catalog, discovery: string): Resources | undefined {
  const [services, endpoints] = ['services', 'endpoints'].map((plural) => catalog.find('', 'v1', plural))
  const slices = catalog.find(discovery, 'v1', 'endpointslices')
  return services === undefined || endpoints === undefined || slices === undefined ? undefined : { services, endpoints, slices }
}

export const mirroredEndpoints = (parts: WorkloadParts): Controller => {
  const { identity } = parts.engine
  const discovery = identity.group({ stem: 'discovery' })
  const writer = new Writer(parts, stem)
  const names = sliceNames(identity, stem)
  const byName = (resource: Resource): Source => ({
    resource,
    namespace: '',
    keyOf: ({ key }) => {
      const { namespace, name } = partsOf(resource, key)
      return `${namespace}/${name}`
    },
  })
  return new KeyedController(parts, {
    name: 'endpoint_slice_mirroring',
    concurrency: 5,
    backOff,
    sources: (catalog) => {
      const found = resourcesIn(catalog, discovery)
      if (found === undefined) return []
      return [byName(found.endpoints), { ...byName(found.services), onlyChanges: true }, managedSlices(found.slices, names)]
    },
    work: async (key) => {
      const resources = resourcesIn(parts.catalogs.current, discovery)
      if (resources !== undefined) await reconcile({ parts, writer, resources, names }, key)
      return undefined
    },
  })
}

async function reconcile({ parts, writer, resources, names }: Context, key: string): Promise<void> {
  const { identity, store } = parts.engine
  const { namespace, name } = addressOfKey(resources.endpoints, key)
  const labels = fromSelectorObject({ matchLabels: { [names.service]: name, [names.managedBy]: names.manager } })
  const existing = Array.from(
    store.readAll({ resource: resources.slices, namespace, selection: { labels, fields: undefined }, limit: 0 }).objects(),
    (stored) => stored.decode(resources.slices) as EndpointSlice,
  )
  const endpoints = readObject<Endpoints>(parts, addressOfKey(resources.endpoints, key))
  const service = readObject<Service>(parts, addressOfKey(resources.services, key))
  const write = { owner: endpoints ?? {}, ownerText: `Endpoints ${key}`, triggerTime: undefined, names }
  const skipMirror = endpoints?.metadata?.labels?.[identity.label('skip-mirror', 'endpointslice')]
  const leader = endpoints?.metadata?.annotations?.[identity.label('leader', 'control-plane.alpha')]
  const isMirrored = endpoints !== undefined && service !== undefined && leader === undefined && !isTrue(skipMirror)
  if (!isMirrored || service.spec?.selector !== undefined) {
    await writeSlices(writer, resources, { ...write, changes: { create: [], update: [], unchanged: [], remove: existing } })
    return
  }
  const { groups, invalid, skipped } = mirror(endpoints)
  if (invalid > 0) {
    const message = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`
    await writer.event(resources.endpoints, endpoints, { type: 'Warning', reason: 'InvalidIPAddress', message })
  }
  if (skipped > invalid) {
    const message = `A max of ${maxMirroredAddresses} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`
    await writer.event(resources.endpoints, endpoints, { type: 'Warning', reason: 'TooManyAddressesToMirror', message })
  }
  const metadata = metadataOf(endpoints, { names, resources, lastApplied: identity.label('last-applied-configuration', 'kubectl') })
  const changes = plan(groups, existing, metadata)
  await writeSlices(writer, resources, { ...write, changes: recycle(changes, () => true) })
}

const isTrue = (text: string | undefined): boolean => ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text ?? '')

interface SliceContext {
  readonly names: SliceNames
  readonly resources: Resources
  /** Annotation that is not mirrored. */
  readonly lastApplied: string
}

function metadataOf(endpoints: Endpoints, { names, resources, lastApplied }: SliceContext): NonNullable<EndpointSlice['metadata']> {
  const { namespace = '', name = '', labels = {}, annotations: all = {} } = endpoints.metadata ?? {}
  const { [names.triggerTime]: _, [lastApplied]: __, ...annotations } = all
  return {
    namespace,
    generateName: `${name}-`,
    labels: { ...labels, [names.service]: name, [names.managedBy]: names.manager },
    annotations,
    ownerReferences: [newControllerRef(endpoints, resources.endpoints)],
  }
}

/** One slice per group; others of the group are deleted. */
function plan(
  groups: ReadonlyMap<string, MirroredGroup>,
  existing: readonly EndpointSlice[],
  metadata: NonNullable<EndpointSlice['metadata']>,
): SliceChanges {
  const changes = {
    create: [] as EndpointSlice[],
    update: [] as EndpointSlice[],
    remove: [] as EndpointSlice[],
    unchanged: [] as EndpointSlice[],
  }
  const first = new Map<string, EndpointSlice>()
  for (const slice of existing) {
    const key = groupKeyOf(slice.addressType, slice.ports)
    if (groups.has(key) && !first.has(key)) first.set(key, slice)
    else changes.remove.push(slice)
  }
  for (const [key, { family, ports, endpoints: byAddress }] of groups) {
    const endpoints = [...byAddress.values()]
    const slice = first.get(key)
    if (slice === undefined) {
      changes.create.push({ metadata, addressType: family, ports, endpoints })
      continue
    }
    const { labels = {}, annotations = {} } = metadata
    const isSame =
      sameValue(slice.endpoints ?? [], endpoints) &&
      sameValue(slice.metadata?.labels ?? {}, labels) &&
      sameValue(slice.metadata?.annotations ?? {}, annotations)
    if (isSame) changes.unchanged.push(slice)
    else changes.update.push({ ...slice, endpoints, metadata: { ...slice.metadata, labels, annotations } })
  }
  return changes
}
