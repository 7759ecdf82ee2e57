// Creates, repairs and deletes the APIServices of versions that CustomResourceDefinitions serve.

import { customPriorities } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { createMergePatch } from '@cluster-apiserver/api/base/create-merge-patch.js'
import type { CustomResourceDefinition } from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import type { APIService, APIServiceSpec } from '@cluster-apiserver/api/resources/apiregistration/v1.schema.js'
import type { StoredObject } from '../../objects/entry/stored-object.js'
import { create } from '../../verbs/create.js'
import { automanagedLabel, managedLabelValue as managed } from '../bootstrap/api-services.js'
import { crdResource, isBuiltInGroup } from '../custom-resources/crd-catalog.js'
import { CachedExtracts, groupIn, NamesByGroup } from '../custom-resources/names-by-group.js'
import { type ControllerParts, KeyedController, type Run } from '../framework/controller.js'
import {
  type InternalTarget,
  ignoreErrors,
  internalCall,
  internalDelete,
  internalPatch,
  notFoundOrConflict,
} from '../framework/internal-call.js'
import type { Controller } from '../leader-election/leader-election.js'
import { apiServicesResource } from './follow-api-services.js'

/** Keys are API groups. */
export const customApiServices = (parts: ControllerParts): Controller => {
  const { store } = parts.engine
  const names = { crds: new NamesByGroup(store), services: new NamesByGroup(store) }
  const served = new CachedExtracts(store, servedVersions)
  return new KeyedController(parts, {
    name: 'autoregister',
    sources: (catalog) => {
      const crds = crdResource(parts.catalogs)
      const services = apiServicesResource(catalog)
      if (crds === undefined || services === undefined) return []
      const label = automanagedLabel(catalog)
      const isManaged = (object: StoredObject): boolean => object.labels()?.[label] === managed
      return [
        {
          resource: crds,
          namespace: '',
          keyOf: ({ key }, eventType) => {
            const name = names.crds.update(crds, key, eventType)
            served.forget(name)
            return groupIn(name)
          },
        },
        {
          resource: services,
          namespace: '',
          keyOf: (object, eventType) => {
            const name = names.services.update(services, object.key, eventType)
            // An APIService without the label is not managed, but may have the name of a managed one.
            return isManaged(object) || parts.catalogs.current.isCustomGroup(groupIn(name)) ? groupIn(name) : undefined
          },
        },
      ]
    },
    work: async (group, run) => {
      const crds = crdResource(parts.catalogs)
      const services = apiServicesResource(parts.catalogs.current)
      if (crds === undefined || services === undefined || isBuiltInGroup(parts.catalogs.current, group)) return undefined
      await reconcileGroup({ ...parts, crds, services, names, served, run }, group)
      return undefined
    },
  })
}

interface ServedVersions {
  readonly group: string
  readonly versions: readonly string[]
}

const servedVersions = ({ spec }: CustomResourceDefinition): ServedVersions => ({
  group: spec?.group ?? '',
  versions: (spec?.versions ?? []).flatMap(({ name, served }) => (served === true && name !== undefined ? [name] : [])),
})

interface Context extends ControllerParts {
  readonly crds: Resource
  readonly services: Resource
  readonly names: { readonly crds: NamesByGroup; readonly services: NamesByGroup }
  readonly served: CachedExtracts<ServedVersions>
  readonly run: Run
}

async function reconcileGroup(context: Context, group: string): Promise<void> {
  const { crds, names, served } = context
  const wanted = new Set<string>()
  for (const name of names.crds.namesIn(crds, group)) {
    const found = served.get(crds, name)
    if (found?.group === group) for (const version of found.versions) wanted.add(version)
  }
  const label = automanagedLabel(context.catalogs.current)
  const stored = new Map(servicesOf(context, group, label).map((service) => [service.spec?.version ?? '', service] as const))
  for (const version of wanted) await ensureService(context, { group, version, label }, stored.get(version))
  for (const [version, service] of stored) {
    if (!wanted.has(version) && service.isManaged) await deleteService(context, service)
  }
}

interface StoredAPIService extends APIService {
  readonly isManaged: boolean
}

function servicesOf({ engine, services, names }: Context, group: string, label: string): readonly StoredAPIService[] {
  return names.services.namesIn(services, group).flatMap((name) => {
    const stored = engine.store.read({ resource: services, namespace: '', name })
    const service = stored && (stored.decode(services) as APIService)
    return service?.spec?.group === group ? [{ ...service, isManaged: (stored as StoredObject).labels()?.[label] === managed }] : []
  })
}

interface WantedVersion {
  readonly group: string
  readonly version: string
  readonly label: string
}

async function ensureService(
  context: Context,
  { group, version, label }: WantedVersion,
  stored: StoredAPIService | undefined,
): Promise<void> {
  const { groupPriority: groupPriorityMinimum, versionPriority } = customPriorities
  const spec: APIServiceSpec = { group, version, groupPriorityMinimum, versionPriority }
  const name = `${version}.${group}`
  const target = targetFor(context, name)
  if (stored === undefined) {
    const object = { metadata: { name, labels: { [label]: managed } }, spec } as ApiObject
    await ignoreErrors(notFoundOrConflict, create(context.engine, internalCall(context.engine, target), { object }))
    return
  }
  if (!stored.isManaged || sameValue(stored.spec, spec)) return
  const { uid = '', resourceVersion = '' } = stored.metadata ?? {}
  const change = { metadata: { uid, resourceVersion }, spec: createMergePatch(stored.spec ?? {}, spec) }
  await ignoreErrors(notFoundOrConflict, internalPatch(context.engine, target, change))
}

async function deleteService(context: Context, service: APIService): Promise<void> {
  const { name = '', uid } = service.metadata ?? {}
  const options = uid === undefined ? {} : { preconditions: { uid } }
  await ignoreErrors(notFoundOrConflict, internalDelete(context.engine, { ...targetFor(context, name), options }))
}

const targetFor = ({ engine, services, run }: Context, name: string): InternalTarget => ({
  resource: services,
  name,
  options: { fieldManager: engine.identity.prefixed('apiserver') },
  signal: run.signal,
})
