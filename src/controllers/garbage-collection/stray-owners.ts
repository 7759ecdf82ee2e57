// Owners that are not in the namespace in which a dependent looks for them. Where such an owner is in another one, whoever wrote the reference made
// a mistake and is told so with an event: the dependent is collected, or, where it belongs to no namespace itself, left alone for ever.
//
// To find an owner by its uid, its collection is gone through. That is done for many at once, and rarely: nothing waits for it.

import type { Resource } from '../../api/catalog.js'
import { inPieces } from '../../base/pieces.js'
import { RecentMap } from '../../base/recent-map.js'
import { partsOf, rangeOf } from '../../objects/keys.js'
import type { OwnerIndex } from '../../objects/owner-index.js'
import type { LoopParts } from '../kit/loop.js'
import { recordEvent } from '../kit/record-event.js'
import { systemTimers } from '../kit/timers.js'
import type { LocalObject, StrayReference } from './graph.js'

const mostPending = 1000
const mostTold = 2000
/** A search begins when others may have joined it, and takes at most a twentieth of the time. */
const firstMs = 500
const restFactor = 20

interface Stray {
  readonly dependent: LocalObject
  /** As the dependent was when it was looked at: it may be gone when somebody is told. */
  readonly uid: string
  readonly owner: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string }
  readonly owners: Resource
}

export class StrayOwners {
  readonly #parts: LoopParts
  readonly #index: () => OwnerIndex
  readonly #told = new RecentMap<string, true>(mostTold)
  #pending: Stray[] = []
  #restMs = firstMs
  #cancel: (() => void) | undefined
  #searching: Promise<void> | undefined
  readonly #signal: AbortSignal

  constructor(parts: LoopParts, index: () => OwnerIndex, signal: AbortSignal) {
    this.#parts = parts
    this.#index = index
    this.#signal = signal
  }

  /** An owner of this uid is not where the dependent says. What there is no room for is not told to anybody. */
  note(dependent: LocalObject, { uid, reference }: StrayReference, owners: Resource): void {
    if (!owners.namespaced || this.#pending.length >= mostPending || this.#signal.aborted) return
    const { apiVersion = '', kind = '', name = '', uid: ownerUid = '' } = reference
    const pair = `${uid} ${ownerUid}`
    if (this.#told.get(pair) !== undefined) return
    this.#told.set(pair, true)
    this.#pending.push({ dependent, uid, owner: { apiVersion, kind, name, uid: ownerUid }, owners })
    this.#plan()
  }

  async close(): Promise<void> {
    this.#cancel?.()
    await this.#searching
  }

  #plan(): void {
    if (this.#cancel !== undefined || this.#searching !== undefined || this.#signal.aborted) return
    this.#cancel = (this.#parts.timers ?? systemTimers).after(this.#restMs, () => {
      this.#cancel = undefined
      this.#searching = this.#search()
        .catch((err: unknown) => this.#parts.logger.warn({ loop: 'garbagecollector', err }, 'cannot look for owners in other namespaces'))
        .finally(() => {
          this.#searching = undefined
          if (this.#pending.length > 0) this.#plan()
        })
    })
  }

  async #search(): Promise<void> {
    const begunMs = performance.now()
    const strays = this.#pending
    this.#pending = []
    for (const owners of new Set(strays.map((stray) => stray.owners))) {
      const wanted = new Map<string, Stray[]>()
      for (const stray of strays) if (stray.owners === owners) wanted.set(stray.owner.uid, [...(wanted.get(stray.owner.uid) ?? []), stray])
      const found = await inPieces(this.#findIn(owners, new Set(wanted.keys())))
      for (const [uid, namespace] of found)
        for (const stray of wanted.get(uid) ?? []) if (namespace !== stray.dependent.namespace) await this.#tell(stray)
    }
    this.#restMs = Math.max(firstMs, (performance.now() - begunMs) * restFactor)
  }

  *#findIn(owners: Resource, uids: ReadonlySet<string>): Generator<undefined, readonly (readonly [string, string])[], void> {
    const namespaces: (readonly [string, string])[] = []
    for (const keys of this.#index().find(rangeOf(owners, ''), uids)) {
      if (this.#signal.aborted) return []
      for (const key of keys) namespaces.push([this.#index().uidAt(key) ?? '', partsOf(owners, key).namespace])
      yield undefined
    }
    return namespaces
  }

  #tell({ dependent: { resource, namespace, name }, uid, owner }: Stray): Promise<void> {
    const whom = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`
    return recordEvent(
      this.#parts,
      { apiVersion: resource.apiVersion, kind: resource.kind, namespace, name, uid },
      {
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `ownerRef ${whom} does not exist in namespace ${JSON.stringify(namespace)}`,
        component: 'garbage-collector-controller',
      },
    )
  }
}
