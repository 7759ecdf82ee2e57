// Keys that a change of a dependent (mostly a pod) queues: of its controllers before and after the change; of the dependent itself if it
// has no controller and may be adopted.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { OwnerReference } from '@cluster-apiserver/api/api/object.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import { partsOf } from '../../../objects/object-keys.js'
import type { Source, SourceEvent } from '../../framework/controller.js'
import { controllerOfStored } from './controlled-objects.js'
import type { WorkloadParts } from './workload-parts.js'

/** Key of the objects of a resource: `<namespace>/<name>`. */
export const ownersSource = (resource: Resource): Source => ({
  resource,
  namespace: '',
  keyOf: ({ key }) => {
    const { namespace, name } = partsOf(resource, key)
    return `${namespace}/${name}`
  },
})

/** Name of the dependent without controller that a key stands for; undefined for the key of an owner. */
export function orphanOf(key: string): { readonly namespace: string; readonly name: string } | undefined {
  const separator = key.indexOf('//')
  return separator < 0 ? undefined : { namespace: key.slice(0, separator), name: key.slice(separator + 2) }
}

/**
 * Changes of the objects of `resource`, for a controller of `owners`: queues keys of owners, and `<namespace>//<name>` for an object
 * that an owner may adopt. Existing objects are not listed: their owners are.
 */
export const dependentsSource = (parts: WorkloadParts, resource: Resource, owners: Resource): Source => ({
  resource,
  namespace: '',
  onlyChanges: true,
  keyOf: (object, eventType, previous) => keysOf(parts, object, { resource, owners, eventType, previous }),
})

interface DependentChange {
  readonly resource: Resource
  readonly owners: Resource
  readonly eventType: SourceEvent
  readonly previous: StoredObject | undefined
}

function keysOf({ engine }: WorkloadParts, object: StoredObject, change: DependentChange): readonly string[] {
  const { resource, owners, eventType, previous } = change
  const { namespace, name } = partsOf(resource, object.key)
  const keys = new Set<string>()
  const controllers = [object, ...(previous === undefined ? [] : [previous])].map(controllerOfStored)
  for (const controller of controllers)
    if (controller !== undefined && mayName(controller, owners)) keys.add(`${namespace}/${controller.name}`)
  const isSameOrphan = previous !== undefined && controllers[1] === undefined && sameValue(object.labels() ?? {}, previous.labels() ?? {})
  if (controllers[0] === undefined && eventType !== 'DELETED' && !isSameOrphan && engine.store.count(owners, namespace) > 0)
    keys.add(`${namespace}//${name}`)
  return [...keys]
}

/** Clients choose the names of owner references: no object has a slash in its name, and the key would stand for something else. */
const mayName = ({ kind, apiVersion, name = '' }: OwnerReference, owners: Resource): boolean =>
  kind === owners.kind && groupOf(apiVersion) === owners.group && !name.includes('/')

const groupOf = (apiVersion = ''): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')))
