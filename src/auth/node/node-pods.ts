// Which pods run on which node, and what they name. Nothing is known of it before an agent of a node asks for something; from then on it follows
// every change. What a pod names is read from the store when somebody asks about its node, and kept until the pod changes: containers for a look
// inside may come. Whatever many objects are read for is done in pieces.

import type { Catalog, Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { nowOrInPieces, SharedPieces } from '../../base/pieces.js'
import { type Promised, whenThere } from '../../base/promised.js'
import { fieldsInSteps, mostReadAtOnce } from '../../objects/fields-in-steps.js'
import { partsOf } from '../../objects/keys.js'
import { leanObject } from '../../objects/lean-object.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'
import type { StoredObject } from '../../objects/stored-object.js'
import type { Pod } from '../../resources/core/v1.schema.js'
import type { VolumeAttachment } from '../../resources/storage/v1.schema.js'
import { BoundVolumes } from './bound-volumes.js'
import { type KnownPod, NodeNames, type Wanted } from './node-names.js'
import { type PodReferences, referencesIn, type Sort, textOf } from './pod-references.js'

/** What somebody wants to know of a node: whether its pods name an object. */
interface Question extends Wanted {
  readonly node: string
  readonly names: NodeNames
}

/** About what names of pods may take in memory, of all nodes together: those of nodes that have asked least recently go first. */
const mostKeptBytes = 64 << 20

export class NodePods {
  readonly #store: ObjectStore
  readonly #catalog: Catalog
  readonly #resource: Resource | undefined
  readonly #volumes: BoundVolumes
  readonly #mostKeptBytes: number
  readonly #byNode = new Map<string, NodeNames>()
  /** By their keys. */
  readonly #pods = new Map<string, KnownPod>()
  /** Nodes of which names are kept. */
  readonly #keeping = new Set<NodeNames>()
  #keptBytes = 0
  #questions = 0
  /** Agents of many nodes may ask at a time: all that is done for them in one turn is one piece. */
  readonly #pieces = new SharedPieces()
  /** Keys that changed while all pods are looked at: what was seen of them before does not count. */
  #changed: Set<string> | undefined
  #reading: Promise<void> | undefined
  #isReady = false

  constructor(store: ObjectStore, catalog: Catalog, keptBytes = mostKeptBytes) {
    this.#store = store
    this.#catalog = catalog
    this.#mostKeptBytes = keptBytes
    this.#resource = catalog.find('', 'v1', 'pods')
    this.#volumes = new BoundVolumes(store, catalog)
  }

  /** Undefined when it is known which pods there are. */
  ready(): Promise<void> | undefined {
    if (this.#isReady) return undefined
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  /** About what is kept of names. */
  get keptBytes(): number {
    return this.#keptBytes
  }

  /** Whether pods on the node name an object; a secret may also be needed by volumes of their claims. */
  has(node: string, sort: Sort, namespace: string, name: string): Promised<boolean> {
    const names = this.#byNode.get(node)
    if (names === undefined) return false
    const question = { node, names, sort, namespace, name, text: textOf(namespace, name) }
    names.lastAsked = ++this.#questions
    return names.has(question) || nowOrInPieces(this.#look(question), this.#pieces)
  }

  hasVolume(node: string, name: string): Promised<boolean> {
    return whenThere(nowOrInPieces(this.#volumes.claimOf(name), this.#pieces), (claim) => {
      if (claim === undefined) return false
      const slash = claim.indexOf('/')
      return this.has(node, 'claims', claim.slice(0, slash), claim.slice(slash + 1))
    })
  }

  hasAttachment(node: string, name: string): boolean {
    const resource = this.#catalog.find(this.#catalog.identity.group({ stem: 'storage' }), 'v1', 'volumeattachments')
    return this.#object<VolumeAttachment>(resource, '', name)?.spec?.nodeName === node
  }

  *#look(question: Question): Generator<undefined, boolean, undefined> {
    const { node, names, sort, text } = question
    names.visitors += 1
    try {
      if (this.#pieces.isOver) yield undefined
      for (const pod of names.unread) {
        const references = yield* this.#referencesOf(pod)
        // It may have changed meanwhile, or somebody else has noted it: then it is found among the others.
        if (names.unread.has(pod)) {
          this.#keep(names, pod, references)
          if (references[sort].has(question.name) && pod.namespace === question.namespace) return true
        }
        yield undefined
      }
      for (const pod of names.unkept) if (yield* this.#isNamedBy(pod, question)) return true
      if (sort === 'secrets' && (yield* this.#isNeededFor(names.claims(), text))) return true
      // Pods that have changed meanwhile have taken their names with them before somebody looked at all of those.
      for (const pod of [...names.unread]) if (yield* this.#isNamedBy(pod, question)) return true
      return names.has(question)
    } finally {
      names.visitors -= 1
      this.#dropEmpty(names, node)
    }
  }

  *#isNamedBy(pod: KnownPod, { sort, namespace, name, text }: Question): Generator<undefined, boolean, undefined> {
    if (pod.namespace !== namespace && sort !== 'secrets') return false
    const references = yield* this.#referencesOf(pod)
    if (pod.namespace === namespace && references[sort].has(name)) return true
    yield undefined
    return sort === 'secrets' && (yield* this.#isNeededFor(claimsOf(pod, references), text))
  }

  *#isNeededFor(claims: Iterable<string>, secret: string): Generator<undefined, boolean, undefined> {
    for (const claim of claims) {
      if (yield* this.#volumes.needsSecret(claim, secret)) return true
      yield undefined
    }
    return false
  }

  /** Keeps what a pod names where there is room. */
  #keep(names: NodeNames, pod: KnownPod, references: PodReferences): void {
    this.#change(names, () => names.keep(pod, references))
    while (this.#keptBytes > this.#mostKeptBytes) {
      const oldest = this.#leastRecent()
      if (oldest === undefined) {
        this.#change(names, () => names.putAside(pod))
        break
      }
      this.#change(oldest, () => oldest.clear())
    }
  }

  /** Of the nodes about which nobody asks at the moment: somebody who is looking through names must find all of them. */
  #leastRecent(): NodeNames | undefined {
    let oldest: NodeNames | undefined
    for (const names of this.#keeping)
      if (names.visitors === 0 && names.lastAsked < (oldest?.lastAsked ?? Number.POSITIVE_INFINITY)) oldest = names
    return oldest
  }

  #change(names: NodeNames, act: () => void): void {
    const before = names.bytes
    act()
    this.#keptBytes += names.bytes - before
    if (names.bytes === 0) this.#keeping.delete(names)
    else this.#keeping.add(names)
  }

  *#referencesOf({ namespace, name }: KnownPod): Generator<undefined, PodReferences, undefined> {
    const resource = this.#resource
    const stored = resource && this.#store.read({ resource, namespace, name })
    const fields = resource && stored && stored.size > mostReadAtOnce ? yield* fieldsInSteps(stored, resource) : undefined
    const pod = fields ?? (resource && stored?.decode(resource)) ?? {}
    return yield* referencesIn(pod as Pod, this.#catalog.identity)
  }

  #object<T extends ApiObject>(resource: Resource | undefined, namespace: string, name: string): T | undefined {
    const stored = resource && this.#store.read({ resource, namespace, name })
    return resource && stored && (leanObject(stored, resource) as T)
  }

  async #read(): Promise<void> {
    const resource = this.#resource
    if (resource !== undefined) {
      const changed = new Set<string>()
      this.#changed = changed
      const unwatch = this.#store.watch({
        resource,
        namespace: '',
        matches: undefined,
        deliver: ({ type, object }) => {
          this.#changed?.add(object.key)
          if (type === 'DELETED') this.#forget(object.key)
          else this.#note(resource, object)
        },
      })
      try {
        await nowOrInPieces(this.#noteAll(resource, changed), this.#pieces)
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
    const node = object.fields(resource)?.['spec.nodeName'] ?? ''
    this.#forget(object.key)
    if (node === '') return
    const pod = { ...partsOf(resource, object.key), node }
    this.#pods.set(object.key, pod)
    getOrInsert(this.#byNode, node, () => new NodeNames()).unread.add(pod)
  }

  #forget(key: string): void {
    const pod = this.#pods.get(key)
    if (pod === undefined) return
    this.#pods.delete(key)
    const names = this.#byNode.get(pod.node)
    if (names === undefined) return
    this.#change(names, () => names.remove(pod))
    this.#dropEmpty(names, pod.node)
  }

  /** A pod that has changed comes back at once: whoever is looking must find it in the same place. */
  #dropEmpty(names: NodeNames, node: string): void {
    if (names.isEmpty && names.visitors === 0) this.#byNode.delete(node)
  }
}

function* claimsOf({ namespace }: KnownPod, { claims }: PodReferences): Generator<string> {
  for (const claim of claims) yield textOf(namespace, claim)
}
