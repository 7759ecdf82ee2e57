// An API service for every version that a definition of a custom kind serves: made, put into order and taken away with it.

import { ApiError } from '../../api/api-error.js'
import { customPriorities } from '../../api/api-services.js'
import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { sameValue } from '../../api/validation/same-value.js'
import { mergeDifference } from '../../base/merge-difference.js'
import { leanObject } from '../../objects/lean-object.js'
import { labelOf } from '../../objects/stored-label.js'
import type { StoredObject } from '../../objects/stored-object.js'
import type { CustomResourceDefinition } from '../../resources/apiextensions/v1.schema.js'
import type { APIService, APIServiceSpec } from '../../resources/apiregistration/v1.schema.js'
import { create } from '../../verbs/create.js'
import { automanagedLabel, keptLabel as kept } from '../bootstrap/api-services.js'
import { definitionsResource, isOwnGroup } from '../custom-resources/custom-kinds.js'
import { Extracts } from '../custom-resources/extracts.js'
import { groupIn, NamesByGroup } from '../custom-resources/names-by-group.js'
import { KeyedLoop, type LoopParts, type Run } from '../kit/loop.js'
import type { Loop } from '../leader-election.js'
import { type OwnTarget, ownCall } from '../own-call.js'
import { patchOwn, removeOwn } from '../own-write.js'
import { apiServicesResource } from './follow-api-services.js'

/** The keys are groups. */
export const customApiServices = (parts: LoopParts): Loop => {
  const { store } = parts.engine
  const names = { definitions: new NamesByGroup(store), services: new NamesByGroup(store) }
  const served = new Extracts(store, servedBy)
  return new KeyedLoop(parts, {
    name: 'autoregister',
    sources: (catalog) => {
      const definitions = definitionsResource(parts.catalogs)
      const services = apiServicesResource(catalog)
      if (definitions === undefined || services === undefined) return []
      const label = automanagedLabel(catalog)
      const isKept = (object: StoredObject): boolean => labelOf(object, label) === kept
      return [
        {
          resource: definitions,
          namespace: '',
          keyOf: ({ key }, seen) => {
            const name = names.definitions.note(definitions, key, seen)
            served.forget(name)
            return groupIn(name)
          },
        },
        {
          resource: services,
          namespace: '',
          keyOf: (object, seen) => {
            const name = names.services.note(services, object.key, seen)
            // What somebody took the label from is none of these any more, and may be in the way of one.
            return isKept(object) || parts.catalogs.current.isCustomGroup(groupIn(name)) ? groupIn(name) : undefined
          },
        },
      ]
    },
    work: async (group, run) => {
      const definitions = definitionsResource(parts.catalogs)
      const services = apiServicesResource(parts.catalogs.current)
      if (definitions === undefined || services === undefined || isOwnGroup(parts.catalogs.current, group)) return undefined
      await tendGroup({ ...parts, definitions, services, names, served, run }, group)
      return undefined
    },
  })
}

/** Which versions a definition serves. */
interface ServedBy {
  readonly group: string
  readonly versions: readonly string[]
}

const servedBy = ({ spec }: CustomResourceDefinition): ServedBy => ({
  group: spec?.group ?? '',
  versions: (spec?.versions ?? []).flatMap(({ name, served }) => (served === true && name !== undefined ? [name] : [])),
})

interface Tending extends LoopParts {
  readonly definitions: Resource
  readonly services: Resource
  readonly names: { readonly definitions: NamesByGroup; readonly services: NamesByGroup }
  readonly served: Extracts<ServedBy>
  readonly run: Run
}

async function tendGroup(tending: Tending, group: string): Promise<void> {
  const { definitions, names, served } = tending
  const wanted = new Set<string>()
  for (const name of names.definitions.of(definitions, group)) {
    const by = served.of(definitions, name)
    if (by?.group === group) for (const version of by.versions) wanted.add(version)
  }
  const label = automanagedLabel(tending.catalogs.current)
  const stored = new Map(servicesOf(tending, group, label).map((service) => [service.spec?.version ?? '', service] as const))
  for (const version of wanted) await put(tending, { group, version, label }, stored.get(version))
  for (const [version, service] of stored) {
    if (!wanted.has(version) && service.isKept) await drop(tending, service)
  }
}

interface Registered extends APIService {
  /** Whether it is one of those that are made here, and not somebody's own in the place of one. */
  readonly isKept: boolean
}

function servicesOf({ engine, services, names }: Tending, group: string, label: string): readonly Registered[] {
  return names.services.of(services, group).flatMap((name) => {
    const stored = engine.store.read({ resource: services, namespace: '', name })
    const service = stored && (leanObject(stored, services) as APIService)
    return service?.spec?.group === group ? [{ ...service, isKept: labelOf(stored as StoredObject, label) === kept }] : []
  })
}

interface Wanted {
  readonly group: string
  readonly version: string
  readonly label: string
}

async function put(tending: Tending, { group, version, label }: Wanted, stored: Registered | undefined): Promise<void> {
  const { groupPriority: groupPriorityMinimum, versionPriority } = customPriorities
  const spec: APIServiceSpec = { group, version, groupPriorityMinimum, versionPriority }
  const name = `${version}.${group}`
  const target = targetFor(tending, name)
  if (stored === undefined) {
    const object = { metadata: { name, labels: { [label]: kept } }, spec } as ApiObject
    await unlessOvertaken(create(tending.engine, ownCall(tending.engine, target), { object }))
    return
  }
  if (!stored.isKept || sameValue(stored.spec, spec)) return
  const { uid = '', resourceVersion = '' } = stored.metadata ?? {}
  const change = { metadata: { uid, resourceVersion }, spec: mergeDifference(stored.spec ?? {}, spec) }
  await unlessOvertaken(patchOwn(tending.engine, target, change))
}

async function drop(tending: Tending, service: APIService): Promise<void> {
  const { name = '', uid } = service.metadata ?? {}
  const options = uid === undefined ? {} : { preconditions: { uid } }
  await unlessOvertaken(removeOwn(tending.engine, { ...targetFor(tending, name), options }))
}

const targetFor = ({ engine, services, run }: Tending, name: string): OwnTarget => ({
  resource: services,
  name,
  options: { fieldManager: engine.identity.prefixed('apiserver') },
  signal: run.signal,
})

/** Whoever was quicker made a change that comes as a key of its own. */
async function unlessOvertaken(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || (thrown.status.code !== 404 && thrown.status.code !== 409)) throw thrown
  }
}
