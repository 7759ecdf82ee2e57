// What the pods of one node name, each name once with how many pods name it: whether any of them does is one look-up, however many there are.

import { getOrInsert } from '../../base/get-or-insert.js'
import { namesIn, type PodReferences, type Sort } from './pod-references.js'

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

/** About what a name and a reference to one take beside their letters. */
const nameBytes = 120
const referenceBytes = 8

export class NodeNames {
  /** Pods of which nothing is known yet, and those for whose names there was no room. */
  readonly unread = new Set<KnownPod>()
  readonly unkept = new Set<KnownPod>()
  readonly #kept = new Map<KnownPod, readonly Named[]>()
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
    return this.unread.size === 0 && this.unkept.size === 0 && this.#kept.size === 0
  }

  /** `text`: namespace and name. */
  has(sort: Sort, text: string): boolean {
    return this.#names[sort].has(text)
  }

  /** Every claim once, also those that come meanwhile. */
  claims(): Iterable<string> {
    return this.#names.claims.keys()
  }

  keep(pod: KnownPod, references: PodReferences): void {
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
    const names = this.#kept.get(pod)
    if (names === undefined) return
    this.#kept.delete(pod)
    this.#bytes -= names.length * referenceBytes
    for (const named of names) if (--named.pods === 0) this.#dropName(named)
  }

  /** All pods are to be read again when somebody asks. */
  clear(): void {
    for (const pods of [this.#kept.keys(), this.unkept]) for (const pod of pods) this.unread.add(pod)
    this.#kept.clear()
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
