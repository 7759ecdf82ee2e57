// Finds owner references to objects of other namespaces by scanning, in batches, and records an event for each.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { systemTimers } from '@cluster-apiserver/api/base/clock.js'
import { RecentMap } from '@cluster-apiserver/api/base/recent-map.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { partsOf, rangeOf } from '../../objects/object-keys.js'
import type { OwnerIndex } from '../../objects/owner-index.js'
import type { ControllerParts } from '../framework/controller.js'
import { recordEvent } from '../framework/record-event.js'
import type { CrossNamespaceReference, LocalObject } from './owner-graph.js'

const maxPending = 1000
const maxReported = 2000
/** Delay of a scan, so that it serves many references; scans take at most a twentieth of the time. */
const minDelayMs = 500
const idleFactor = 20

interface PendingReference {
  readonly dependent: LocalObject
  readonly uid: string
  readonly owner: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string }
  readonly owners: Resource
}

export class CrossNamespaceOwners {
  readonly #parts: ControllerParts
  readonly #index: () => OwnerIndex
  readonly #reported = new RecentMap<string, true>(maxReported)
  #pending: PendingReference[] = []
  #delayMs = minDelayMs
  #cancel: (() => void) | undefined
  #searching: Promise<void> | undefined
  readonly #signal: AbortSignal

  constructor(parts: ControllerParts, index: () => OwnerIndex, signal: AbortSignal) {
    this.#parts = parts
    this.#index = index
    this.#signal = signal
  }

  /** Adds a reference; dropped while too many are pending. */
  add(dependent: LocalObject, { uid, reference }: CrossNamespaceReference, owners: Resource): void {
    if (!owners.namespaced || this.#pending.length >= maxPending || this.#signal.aborted) return
    const { apiVersion = '', kind = '', name = '', uid: ownerUid = '' } = reference
    const referenceKey = `${uid} ${ownerUid}`
    if (this.#reported.get(referenceKey) !== undefined) return
    this.#reported.set(referenceKey, true)
    this.#pending.push({ dependent, uid, owner: { apiVersion, kind, name, uid: ownerUid }, owners })
    this.#schedule()
  }

  async close(): Promise<void> {
    this.#cancel?.()
    await this.#searching
  }

  #schedule(): void {
    if (this.#cancel !== undefined || this.#searching !== undefined || this.#signal.aborted) return
    this.#cancel = (this.#parts.timers ?? systemTimers).after(this.#delayMs, () => {
      this.#cancel = undefined
      this.#searching = this.#search()
        .catch((error: unknown) =>
          this.#parts.logger.warn({ controller: 'garbagecollector', error }, 'cannot search owners in other namespaces'),
        )
        .finally(() => {
          this.#searching = undefined
          if (this.#pending.length > 0) this.#schedule()
        })
    })
  }

  async #search(): Promise<void> {
    const startedMs = performance.now()
    const batch = this.#pending
    this.#pending = []
    for (const owners of new Set(batch.map((pending) => pending.owners))) {
      const wanted = new Map<string, PendingReference[]>()
      for (const pending of batch)
        if (pending.owners === owners) wanted.set(pending.owner.uid, [...(wanted.get(pending.owner.uid) ?? []), pending])
      const found = await this.#findIn(owners, new Set(wanted.keys()))
      for (const [uid, namespace] of found)
        for (const pending of wanted.get(uid) ?? []) if (namespace !== pending.dependent.namespace) await this.#record(pending)
    }
    this.#delayMs = Math.max(minDelayMs, (performance.now() - startedMs) * idleFactor)
  }

  async #findIn(owners: Resource, uids: ReadonlySet<string>): Promise<readonly (readonly [string, string])[]> {
    const namespaces: (readonly [string, string])[] = []
    for (const keys of this.#index().find(rangeOf(owners, ''), uids)) {
      if (this.#signal.aborted) return []
      for (const key of keys) namespaces.push([this.#index().uidAt(key) ?? '', partsOf(owners, key).namespace])
      await turnBudget.yieldIfSpent()
    }
    return namespaces
  }

  #record({ dependent: { resource, namespace, name }, uid, owner }: PendingReference): Promise<void> {
    const ownerText = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`
    return recordEvent(
      this.#parts,
      { apiVersion: resource.apiVersion, kind: resource.kind, namespace, name, uid },
      {
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `ownerRef ${ownerText} does not exist in namespace ${JSON.stringify(namespace)}`,
        component: 'garbage-collector-controller',
      },
    )
  }
}
