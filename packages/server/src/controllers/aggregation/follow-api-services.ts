// Follows the API services in the store, on every server: who answers for what changes with the commit that says so.

import type { ApiServiceSource, ListedVersion, RemoteTarget } from '../../api/api-services.js'
import { ApiServices, customPriorities } from '../../api/api-services.js'
import type { Catalog, Resource } from '../../api/catalog.js'
import { sameValue } from '../../api/validation/same-value.js'
import { sharedPieces } from '../../base/pieces.js'
import { partsOf } from '../../objects/keys.js'
import { leanObject } from '../../objects/lean-object.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'
import { labelOf } from '../../objects/stored-label.js'
import type { StoredObject } from '../../objects/stored-object.js'
import type { APIService } from '../../resources/apiregistration/v1.schema.js'
import { automanagedLabel, keptLabel } from '../bootstrap/api-services.js'
import { groupIn } from '../custom-resources/names-by-group.js'
import { newEnding } from '../kit/ending.js'

export const apiServicesResource = (catalog: Catalog): Resource | undefined =>
  catalog.find(catalog.identity.group({ stem: 'apiregistration' }), 'v1', 'apiservices')

/** Gives what ends it. */
export function followApiServices(store: ObjectStore, catalog: Catalog, source: ApiServiceSource): () => void {
  const resource = apiServicesResource(catalog)
  if (resource === undefined) return () => undefined
  const own = resource.group
  const label = automanagedLabel(catalog)
  const all = new Map<string, ListedVersion>()
  const put = (object: StoredObject): boolean => {
    const service = leanObject(object, resource) as APIService
    const name = service.metadata?.name ?? ''
    const before = all.get(name)
    const next = listedVersion(service, before)
    // Who answers for everything else is not asked who that is.
    if (next.group === own || sameValue(before, next)) return false
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
  for (const object of store.look({ resource, namespace: '', selection: everything })) {
    if (object === undefined) continue
    if (labelOf(object, label) !== keptLabel) put(object)
    else {
      // There may be hundreds, all of which say the same: they are read behind the start.
      const expected = customVersion(partsOf(resource, object.key).name)
      all.set(expected.name, expected)
      unread.push(expected.name)
    }
  }
  source.replace(new ApiServices(new Map(all)))
  const ending = newEnding()
  void readBehind(
    unread,
    (name) => {
      const object = store.read({ resource, namespace: '', name })
      if (object !== undefined && put(object)) source.replace(new ApiServices(new Map(all)))
    },
    ending.signal,
  )
  return () => {
    ending.abort()
    unwatch()
  }
}

async function readBehind(names: readonly string[], read: (name: string) => void, signal: AbortSignal): Promise<void> {
  for (const name of names) {
    if (sharedPieces.isOver) await sharedPieces.next()
    if (signal.aborted) return
    read(name)
  }
}

/** As the server itself makes it for a custom kind. */
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
    // The same value as long as it says the same: connections are kept for it.
    remote: sameValue(target, before?.remote) ? before?.remote : target,
  }
}

function remoteTarget({ spec }: APIService): RemoteTarget | undefined {
  if (spec?.service === undefined) return undefined
  const { namespace = '', name = '', port = usualPort } = spec.service
  return {
    service: { namespace, name, port },
    ca: spec.caBundle === undefined ? '' : Buffer.from(spec.caBundle, 'base64').toString(),
    isInsecure: spec.insecureSkipTLSVerify === true,
  }
}

const usualPort = 443
