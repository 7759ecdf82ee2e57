// The cluster as plugins see it: the index, and objects that are read from the store when a plugin needs them.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { GroupName } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import {
  type CompiledLabelSelector,
  fromRequirements,
  fromSelectorObject,
  type LabelSelectorObject,
  type Requirement,
} from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { getOrInsert, RecentMap } from '@cluster-apiserver/api/base/recent-map.js'
import type { Namespace, PersistentVolume, Pod, Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { CSIStorageCapacity } from '@cluster-apiserver/api/resources/storage/v1.schema.js'
import { controllerRefOf, readAll, readObject, type WorkloadParts } from '../kit/workload-parts.js'
import { classNameOf } from '../persistent-volume/volume-annotations.js'
import type { ClusterIndex } from './cluster-index.js'
import type { Cluster, VolumeObjects } from './plugins/plugin.js'

const storage = { stem: 'storage' }
const maxCached = 1024

export class ClusterView {
  readonly #parts: WorkloadParts
  readonly #index: ClusterIndex
  /** Volumes that are being bound for a pod. */
  readonly reserved = new Set<string>()
  readonly #serviceSelectors = new RecentMap<string, readonly Labels[]>(maxCached)
  /** By namespace, kind, name and uid, as the pod refers to its owner: selectors of ReplicaSets and StatefulSets never change. */
  readonly #ownerSelectors = new RecentMap<string, readonly Requirement[]>(maxCached)

  constructor(parts: WorkloadParts, index: ClusterIndex) {
    this.#parts = parts
    this.#index = index
  }

  forgetServices(namespace: string): void {
    this.#serviceSelectors.delete(namespace)
  }

  resource(group: GroupName, name: string): Resource | undefined {
    const { catalogs, engine } = this.#parts
    return catalogs.current.find(engine.identity.group(group), 'v1', name)
  }

  /** Valid until the next change: for one decision. */
  now(): Cluster {
    const { identity, gates } = this.#parts.engine
    const index = this.#index
    return {
      nodes: index.nodes,
      node: (name) => index.node(name),
      placedShapes: () => index.placedShapes,
      identity,
      gates,
      volumes: this.#volumeObjects(),
      hasAffinities: index.hasAffinities,
      namespaceLabels: (name) => this.#read<Namespace>('', 'namespaces', name)?.metadata?.labels,
      namespacesMatching: (selector) => this.#namespacesMatching(selector),
      groupSelector: (pod) => this.#groupSelector(pod),
    }
  }

  #read<T extends ApiObject>(group: GroupName, name: string, objectName: string, namespace = ''): T | undefined {
    const resource = this.resource(group, name)
    return resource === undefined || objectName === '' ? undefined : readObject<T>(this.#parts, { resource, namespace, name: objectName })
  }

  #readAll<T extends ApiObject>(group: GroupName, name: string, namespace = ''): Iterable<T> {
    const resource = this.resource(group, name)
    return resource === undefined ? [] : readAll<T>(this.#parts, resource, namespace)
  }

  #volumeObjects(): VolumeObjects {
    const { identity } = this.#parts.engine
    const read = new Map<string, ApiObject | undefined>()
    const once = <T extends ApiObject>(group: GroupName, resource: string, name: string, namespace = ''): T | undefined => {
      const key = `${resource}/${namespace}/${name}`
      if (!read.has(key)) read.set(key, this.#read<T>(group, resource, name, namespace))
      return read.get(key) as T | undefined
    }
    let volumesByClass: Map<string, PersistentVolume[]> | undefined
    let capacities: readonly CSIStorageCapacity[] | undefined
    const classes = (): Map<string, PersistentVolume[]> => {
      if (volumesByClass !== undefined) return volumesByClass
      const byClass = new Map<string, PersistentVolume[]>()
      for (const volume of this.#readAll<PersistentVolume>('', 'persistentvolumes'))
        getOrInsert(byClass, classNameOf(identity, volume), () => []).push(volume)
      volumesByClass = byClass
      return byClass
    }
    return {
      claim: (namespace, name) => once('', 'persistentvolumeclaims', name, namespace),
      volume: (name) => once('', 'persistentvolumes', name),
      volumesOfClass: (className) => classes().get(className) ?? [],
      storageClass: (name) => once(storage, 'storageclasses', name),
      csiNode: (name) => once(storage, 'csinodes', name),
      csiDriver: (name) => once(storage, 'csidrivers', name),
      storageCapacities: () => {
        capacities ??= [...this.#readAll<CSIStorageCapacity>(storage, 'csistoragecapacities')]
        return capacities
      },
      isReserved: (name) => this.reserved.has(name),
    }
  }

  #namespacesMatching(selector: CompiledLabelSelector): readonly string[] {
    const names: string[] = []
    for (const { metadata } of this.#readAll<Namespace>('', 'namespaces'))
      if (metadata?.name !== undefined && selector.matches(metadata.labels)) names.push(metadata.name)
    return names
  }

  #groupSelector(pod: Pod): CompiledLabelSelector | undefined {
    const { namespace = '', labels = {} } = pod.metadata ?? {}
    const own: Record<string, string> = {}
    for (const selector of this.#selectorsOfServices(namespace))
      if (Object.entries(selector).every(([key, value]) => labels[key] === value)) Object.assign(own, selector)
    const requirements = [...requirementsOf({ matchLabels: own }), ...this.#ownerRequirements(pod, namespace)]
    return requirements.length === 0 ? undefined : fromRequirements(requirements)
  }

  #selectorsOfServices(namespace: string): readonly Labels[] {
    const known = this.#serviceSelectors.get(namespace)
    if (known !== undefined) return known
    const selectors: Labels[] = []
    for (const { spec } of this.#readAll<Service>('', 'services', namespace))
      if (Object.keys(spec?.selector ?? {}).length > 0) selectors.push(spec?.selector ?? {})
    this.#serviceSelectors.set(namespace, selectors)
    return selectors
  }

  #ownerRequirements(pod: Pod, namespace: string): readonly Requirement[] {
    const { kind = '', apiVersion = '', name = '', uid = '' } = controllerRefOf(pod) ?? {}
    if (apiVersion === 'v1' && kind === 'ReplicationController') {
      const selector = this.#read<SelectingOwner>('', 'replicationcontrollers', name, namespace)?.spec?.selector
      return selector === undefined ? [] : requirementsOf({ matchLabels: selector as Labels })
    }
    const resource = apiVersion === 'apps/v1' ? ownerResources.get(kind) : undefined
    if (resource === undefined) return []
    const key = `${namespace}/${kind}/${name}/${uid}`
    const known = this.#ownerSelectors.get(key)
    if (known !== undefined) return known
    const selector = this.#read<SelectingOwner>('apps', resource, name, namespace)?.spec?.selector
    if (selector === undefined) return []
    const requirements = requirementsOf(selector as LabelSelectorObject)
    this.#ownerSelectors.set(key, requirements)
    return requirements
  }
}

type Labels = Readonly<Record<string, string>>

interface SelectingOwner extends ApiObject {
  readonly spec?: { readonly selector?: object }
}

const ownerResources: ReadonlyMap<string, string> = new Map([
  ['ReplicaSet', 'replicasets'],
  ['StatefulSet', 'statefulsets'],
])

const requirementsOf = (selector: LabelSelectorObject): readonly Requirement[] => fromSelectorObject(selector).requirements
