// Keeps the list of APIServices current, on every replica, by watching them in the store.

import type { ApiServiceSource, ListedVersion, RemoteTarget } from '@cluster-apiserver/api/api/catalog/api-services.js'
import { ApiServices, customPriorities } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { APIService } from '@cluster-apiserver/api/resources/apiregistration/v1.schema.js'
import { decodeOnce, type StoredObject } from '../../objects/entry/stored-object.js'
import { everything } from '../../objects/list/selection.js'
import { partsOf } from '../../objects/object-keys.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { automanagedLabel, managedLabelValue } from '../bootstrap/api-services.js'
import { groupIn } from '../custom-resources/names-by-group.js'
import { newAbortController } from '../framework/timers.js'

export const apiServicesResource = (catalog: Catalog): Resource | undefined =>
  catalog.find(catalog.identity.group({ stem: 'apiregistration' }), 'v1', 'apiservices')

export function followApiServices(store: ObjectStore, catalog: Catalog, source: ApiServiceSource): () => void {
  const resource = apiServicesResource(catalog)
  if (resource === undefined) return () => undefined
  const ownGroup = resource.group
  const label = automanagedLabel(catalog)
  const all = new Map<string, ListedVersion>()
  const put = (object: StoredObject): boolean => {
    const service = decodeOnce(object, resource) as APIService
    const name = service.metadata?.name ?? ''
    const before = all.get(name)
    const next = listedVersion(service, before)
    // The group of APIServices itself is always served locally.
    if (next.group === ownGroup || sameValue(before, next)) return false
    all.set(name, next)
    return true
  }
  const remove = (object: StoredObject): boolean => all.delete(partsOf(resource, object.key).name)
  const unwatch = store.watch({
    resource,
    namespace: '',
    matches: undefined,
    deliver: ({ type, object }) => {
      if (type === 'DELETED' ? remove(object) : put(object)) source.replace(new ApiServices(new Map(all)))
    },
  })
  const unread: string[] = []
  for (const object of store.readInSteps({ resource, namespace: '', selection: everything })) {
    if (object === undefined) continue
    if (object.labels()?.[label] !== managedLabelValue) put(object)
    // APIServices of CRDs have predictable content: they are listed now and read in the background.
    else {
      const expected = customVersion(partsOf(resource, object.key).name)
      all.set(expected.name, expected)
      unread.push(expected.name)
    }
  }
  source.replace(new ApiServices(new Map(all)))
  const stop = newAbortController()
  void readInBackground(
    unread,
    (name) => {
      const object = store.read({ resource, namespace: '', name })
      if (object !== undefined && put(object)) source.replace(new ApiServices(new Map(all)))
    },
    stop.signal,
  )
  return () => {
    stop.abort()
    unwatch()
  }
}

async function readInBackground(names: readonly string[], read: (name: string) => void, signal: AbortSignal): Promise<void> {
  for (const name of names) {
    await turnBudget.yieldIfSpent()
    if (signal.aborted) return
    read(name)
  }
}

const customVersion = (name: string): ListedVersion => ({
  name,
  group: groupIn(name),
  version: name.slice(0, name.indexOf('.')),
  ...customPriorities,
  isAvailable: true,
  remote: undefined,
})

export const isAvailable = ({ status }: APIService): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Available' && value === 'True') === true

function listedVersion(service: APIService, before: ListedVersion | undefined): ListedVersion {
  const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0 } = service.spec ?? {}
  const target = remoteTarget(service)
  return {
    name: service.metadata?.name ?? '',
    group,
    version,
    groupPriority: groupPriorityMinimum,
    versionPriority,
    isAvailable: isAvailable(service),
    // Keep the previous object if it is equal: it is the key of cached connections.
    remote: sameValue(target, before?.remote) ? before?.remote : target,
  }
}

function remoteTarget({ spec }: APIService): RemoteTarget | undefined {
  if (spec?.service === undefined) return undefined
  const { namespace = '', name = '', port = defaultPort } = spec.service
  return {
    service: { namespace, name, port },
    ca: spec.caBundle === undefined ? '' : Buffer.from(spec.caBundle, 'base64').toString(),
    isInsecure: spec.insecureSkipTLSVerify === true,
  }
}

const defaultPort = 443
