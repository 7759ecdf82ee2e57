// Which pods run on which node. Nothing is known of it before an agent of a node asks for something; from then on it follows every change.
// What a pod refers to is read from the store when it is first asked for, and kept until the pod changes: containers for a look inside may come.

import type { Catalog, Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { inPieces } from '../../base/pieces.js'
import { partsOf } from '../../objects/keys.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'
import type { StoredObject } from '../../objects/stored-object.js'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../resources/core/v1.schema.js'
import type { VolumeAttachment } from '../../resources/storage/v1.schema.js'
import { type PodReferences, referencesOf, volumeSecrets } from './pod-references.js'

interface KnownPod {
  readonly namespace: string
  readonly name: string
  /** Undefined until somebody asks. */
  references: PodReferences | undefined
}

export class NodePods {
  readonly #store: ObjectStore
  readonly #catalog: Catalog
  readonly #pods: Resource | undefined
  readonly #byNode = new Map<string, Map<string, KnownPod>>()
  /** Where each pod runs, by its key. */
  readonly #nodes = new Map<string, string>()
  /** Keys that changed while all pods are looked at: what was seen of them before does not count. */
  #changed: Set<string> | undefined
  #reading: Promise<void> | undefined
  #isReady = false

  constructor(store: ObjectStore, catalog: Catalog) {
    this.#store = store
    this.#catalog = catalog
    this.#pods = catalog.find('', 'v1', 'pods')
  }

  /** Undefined when everything is known. */
  ready(): Promise<void> | undefined {
    if (this.#isReady) return undefined
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  hasSecret(node: string, namespace: string, name: string): boolean {
    for (const pod of this.#podsOn(node)) if (pod.namespace === namespace && this.#referencesOf(pod).secrets.has(name)) return true
    const wanted = `${namespace}/${name}`
    for (const volume of this.#volumesOf(node)) for (const secret of volumeSecrets(volume)) if (secret === wanted) return true
    return false
  }

  hasConfigMap(node: string, namespace: string, name: string): boolean {
    for (const pod of this.#podsOn(node)) if (pod.namespace === namespace && this.#referencesOf(pod).configMaps.has(name)) return true
    return false
  }

  hasClaim(node: string, namespace: string, name: string): boolean {
    for (const pod of this.#podsOn(node)) if (pod.namespace === namespace && this.#referencesOf(pod).claims.has(name)) return true
    return false
  }

  hasServiceAccount(node: string, namespace: string, name: string): boolean {
    for (const pod of this.#podsOn(node)) if (pod.namespace === namespace && this.#referencesOf(pod).serviceAccount === name) return true
    return false
  }

  hasVolume(node: string, name: string): boolean {
    const claim = this.#object<PersistentVolume>('', 'persistentvolumes', '', name)?.spec?.claimRef
    return claim !== undefined && this.hasClaim(node, claim.namespace ?? '', claim.name ?? '')
  }

  hasAttachment(node: string, name: string): boolean {
    const group = this.#catalog.identity.group({ stem: 'storage' })
    return this.#object<VolumeAttachment>(group, 'volumeattachments', '', name)?.spec?.nodeName === node
  }

  #podsOn(node: string): Iterable<KnownPod> {
    return this.#byNode.get(node)?.values() ?? []
  }

  /** Volumes that are bound to claims of pods: each must say so itself. */
  *#volumesOf(node: string): Generator<PersistentVolume> {
    for (const pod of this.#podsOn(node)) {
      for (const claim of this.#referencesOf(pod).claims) {
        const bound = this.#object<PersistentVolumeClaim>('', 'persistentvolumeclaims', pod.namespace, claim)?.spec?.volumeName ?? ''
        const volume = bound === '' ? undefined : this.#object<PersistentVolume>('', 'persistentvolumes', '', bound)
        const of = volume?.spec?.claimRef
        if (volume !== undefined && of?.namespace === pod.namespace && of.name === claim) yield volume
      }
    }
  }

  #referencesOf(pod: KnownPod): PodReferences {
    if (pod.references !== undefined) return pod.references
    const found = this.#object<Pod>('', 'pods', pod.namespace, pod.name)
    const references = referencesOf(found ?? {}, this.#catalog.identity)
    pod.references = references
    return references
  }

  #object<T extends ApiObject>(group: string, plural: string, namespace: string, name: string): T | undefined {
    const resource = this.#catalog.find(group, 'v1', plural)
    return resource && (this.#store.read({ resource, namespace, name })?.decode(resource) as T | undefined)
  }

  async #read(): Promise<void> {
    const resource = this.#pods
    if (resource !== undefined) {
      const changed = new Set<string>()
      this.#changed = changed
      const unwatch = this.#store.watch({
        resource,
        namespace: '',
        matches: undefined,
        deliver: ({ type, object }) => {
          this.#changed?.add(object.key)
          if (type !== 'MODIFIED') this.#forget(object.key)
          if (type !== 'DELETED') this.#note(resource, object)
        },
      })
      try {
        await inPieces(this.#noteAll(resource, changed))
      } catch (thrown) {
        unwatch()
        throw thrown
      } finally {
        this.#changed = undefined
      }
    }
    this.#isReady = true
  }

  *#noteAll(resource: Resource, changed: ReadonlySet<string>): Generator<undefined, void, undefined> {
    for (const object of this.#store.look({ resource, namespace: '', selection: everything })) {
      if (object !== undefined && !changed.has(object.key)) this.#note(resource, object)
      yield undefined
    }
  }

  #note(resource: Resource, object: StoredObject): void {
    const node = object.index(resource).fields?.['spec.nodeName'] ?? ''
    if (this.#nodes.get(object.key) === node) {
      const pod = this.#byNode.get(node)?.get(object.key)
      if (pod !== undefined) pod.references = undefined
      return
    }
    this.#forget(object.key)
    if (node === '') return
    this.#nodes.set(object.key, node)
    getOrInsert(this.#byNode, node, () => new Map()).set(object.key, { ...partsOf(resource, object.key), references: undefined })
  }

  #forget(key: string): void {
    const node = this.#nodes.get(key)
    if (node === undefined) return
    this.#nodes.delete(key)
    const pods = this.#byNode.get(node)
    pods?.delete(key)
    if (pods?.size === 0) this.#byNode.delete(node)
  }
}
