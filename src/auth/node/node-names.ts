// What the pods of one node name, each name once with how many pods name it: whether any of them does is one look-up, however many there are.

import { getOrInsert } from '../../base/get-or-insert.js'
import { countOf, lettersOf, namesIn, type PodReferences, type Sort, textOf } from './pod-references.js'

/** A pod as it is until it changes: afterwards another value stands for it. */
export interface KnownPod {
  readonly namespace: string
  readonly name: string
  readonly node: string
}

interface Named {
  readonly text: string
  /** Where it stands. */
  readonly among: Map<string, Named>
  pods: number
}

/** What somebody asks for, and how it is called among those of all namespaces. */
export interface Wanted {
  readonly sort: Sort
  readonly namespace: string
  readonly name: string
  readonly text: string
}

/** Those of a pod with more names are not put among the others, nor taken from them when it changes: either would take long. */
const mostShared = 500
/** About what a name and a reference to one take beside their letters. */
const nameBytes = 120
const referenceBytes = 8

export class NodeNames {
  /** Pods of which nothing is known yet, and those for whose names there was no room. */
  readonly unread = new Set<KnownPod>()
  readonly unkept = new Set<KnownPod>()
  readonly #kept = new Map<KnownPod, readonly Named[]>()
  readonly #long = new Map<KnownPod, PodReferences>()
  readonly #names: { readonly [S in Sort]: Map<string, Named> } = {
    secrets: new Map(),
    configMaps: new Map(),
    claims: new Map(),
    serviceAccounts: new Map(),
  }
  #bytes = 0
  /** How many questions are looking through it: what it knows stays until they have ended. */
  visitors = 0
  /** The number of the last question about it. */
  lastAsked = 0

  /** About what its names take. */
  get bytes(): number {
    return this.#bytes
  }

  get isEmpty(): boolean {
    return this.unread.size === 0 && this.unkept.size === 0 && this.#kept.size === 0 && this.#long.size === 0
  }

  has({ sort, namespace, name, text }: Wanted): boolean {
    if (this.#names[sort].has(text)) return true
    for (const [pod, references] of this.#long) if (pod.namespace === namespace && references[sort].has(name)) return true
    return false
  }

  /** Every claim, also those that come meanwhile. */
  *claims(): Generator<string, void, undefined> {
    yield* this.#names.claims.keys()
    for (const [{ namespace }, { claims }] of this.#long) for (const claim of claims) yield textOf(namespace, claim)
  }

  keep(pod: KnownPod, references: PodReferences): void {
    if (countOf(references) > mostShared) {
      this.#bytes += bytesOf(references)
      this.#long.set(pod, references)
      this.unread.delete(pod)
      return
    }
    const names: Named[] = []
    for (const { sort, text } of namesIn(references, pod.namespace)) {
      const among = this.#names[sort]
      const named = getOrInsert(among, text, () => this.#newName(text, among))
      named.pods += 1
      names.push(named)
    }
    this.#bytes += names.length * referenceBytes
    this.#kept.set(pod, names)
    this.unread.delete(pod)
  }

  /** There is no room for its names. */
  putAside(pod: KnownPod): void {
    this.remove(pod)
    this.unkept.add(pod)
  }

  remove(pod: KnownPod): void {
    this.unread.delete(pod)
    this.unkept.delete(pod)
    const long = this.#long.get(pod)
    if (long !== undefined) {
      this.#long.delete(pod)
      this.#bytes -= bytesOf(long)
    }
    const names = this.#kept.get(pod)
    if (names === undefined) return
    this.#kept.delete(pod)
    this.#bytes -= names.length * referenceBytes
    for (const named of names) if (--named.pods === 0) this.#dropName(named)
  }

  /** All pods are to be read again when somebody asks. */
  clear(): void {
    for (const pods of [this.#kept.keys(), this.#long.keys(), this.unkept]) for (const pod of pods) this.unread.add(pod)
    this.#kept.clear()
    this.#long.clear()
    this.unkept.clear()
    for (const names of Object.values(this.#names)) names.clear()
    this.#bytes = 0
  }

  #newName(text: string, among: Map<string, Named>): Named {
    this.#bytes += nameBytes + text.length
    return { text, among, pods: 0 }
  }

  #dropName({ text, among }: Named): void {
    among.delete(text)
    this.#bytes -= nameBytes + text.length
  }
}

const bytesOf = (references: PodReferences): number => countOf(references) * nameBytes + lettersOf(references)
