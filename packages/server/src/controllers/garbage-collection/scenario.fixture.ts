// Little plays: what is there, what happens, and what is left in the end.

import type { Catalog, Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { systemClock } from '../../base/clock.js'
import { silentLogger } from '../../base/logger.js'
import { everything } from '../../objects/selection.js'
import { create } from '../../verbs/create.js'
import { remove } from '../../verbs/delete.js'
import { patch } from '../../verbs/patch.js'
import { type Stage, stageOf } from '../engine.fixture.js'
import { LoopCounters } from '../kit/counters.js'
import type { LoopParts } from '../kit/loop.js'
import { FakeTimers } from '../kit/timers.fixture.js'
import type { Loop } from '../leader-election.js'
import { ownCall } from '../own-call.js'
import type { Extensions } from './elsewhere/remote-objects.js'
import { garbageCollection } from './garbage-collection.js'

/** An object: a ConfigMap in the namespace `n` if nothing else is said. */
export interface Thing {
  readonly name: string
  readonly kind?: 'ConfigMap' | 'Secret' | 'ClusterRole' | 'Pod'
  readonly namespace?: string
  readonly owners?: readonly Owner[]
  readonly finalizers?: readonly string[]
}

/** Another thing, or what is said of one that may not be there. */
export type Owner = string | { readonly of: string; readonly blocks?: boolean; readonly as?: { readonly [field: string]: string } }

export type Step =
  | { readonly make: Thing }
  | { readonly remove: string; readonly policy?: 'Orphan' | 'Foreground' | 'Background' }
  /** Other metadata. */
  | { readonly change: string; readonly metadata: object }
  /** It is there again as it was made, with its uid, as a backup or a reset puts it back. */
  | { readonly restore: string }
  /** Time passes. */
  | { readonly wait: number }
  /** The server stops; what happens afterwards it does not see. */
  | { readonly stop: true }
  | { readonly start: true }

export interface Play {
  readonly title: string
  readonly given: readonly Thing[]
  readonly when: readonly Step[]
  readonly expect: {
    /** Names of what is there; those that were deleted and are held with a `-` in front. */
    readonly left: readonly string[]
    readonly owners?: { readonly [name: string]: readonly string[] }
    readonly events?: readonly string[]
  }
}

const resources = { ConfigMap: 'configmaps', Secret: 'secrets', Pod: 'pods', ClusterRole: 'clusterroles' } as const

export class Theatre {
  readonly timers = new FakeTimers()
  readonly counters = new LoopCounters()
  readonly stage: Stage
  readonly #uids = new Map<string, string>()
  readonly #places = new Map<string, { readonly resource: Resource; readonly namespace: string; readonly name: string }>()
  #loop: Loop | undefined

  readonly #extensions: Extensions | undefined

  private constructor(stage: Stage, extensions: Extensions | undefined) {
    this.stage = stage
    this.#extensions = extensions
  }

  static async open(extensions?: Extensions): Promise<Theatre> {
    const theatre = new Theatre(await stageOf('cluster', systemClock), extensions)
    theatre.start()
    return theatre
  }

  get parts(): LoopParts {
    const { engine, catalogs } = this.stage
    return { engine, catalogs, logger: silentLogger, timers: this.timers, counters: this.counters }
  }

  start(): void {
    this.#loop = garbageCollection(this.parts, undefined, this.#extensions)
  }

  async stop(): Promise<void> {
    await this.#loop?.close()
    this.#loop = undefined
  }

  async do(step: Step): Promise<void> {
    if ('make' in step) await this.make(step.make)
    else if ('remove' in step) await this.remove(step.remove, step.policy)
    else if ('change' in step) await this.change(step.change, step.metadata)
    else if ('restore' in step) await this.restore(step.restore)
    else if ('wait' in step) await this.timers.advance(step.wait)
    else if ('stop' in step) await this.stop()
    else this.start()
  }

  async make({ name, kind = 'ConfigMap', namespace = 'n', owners = [], finalizers }: Thing): Promise<void> {
    const { engine, catalog } = this.stage
    const resource = this.resourceOf(catalog, kind)
    const place = { resource, namespace: resource.namespaced ? namespace : '', name }
    const metadata = {
      name,
      ...(finalizers && { finalizers }),
      ...(owners.length > 0 && { ownerReferences: owners.map((each) => this.refer(each)) }),
    }
    const { result } = await create(engine, ownCall(engine, place), { object: { ...bodies[kind], metadata } as ApiObject })
    this.#uids.set(name, result.stored?.decode(resource).metadata?.uid ?? '')
    this.#places.set(name, place)
  }

  refer(owner: Owner): object {
    const { of, blocks, as = {} } = typeof owner === 'string' ? { of: owner } : owner
    const place = this.#places.get(of)
    const { apiVersion = 'v1', kind = 'ConfigMap' } = place?.resource ?? {}
    const uid = this.#uids.get(of) ?? `nobody-${of}`
    return { apiVersion, kind, name: of, uid, ...(blocks === undefined ? {} : { blockOwnerDeletion: blocks }), ...as }
  }

  async remove(name: string, policy?: string): Promise<void> {
    const { engine } = this.stage
    const options = policy === undefined ? {} : { propagationPolicy: policy }
    await remove(engine, ownCall(engine, { ...this.placeOf(name), options }))
  }

  async change(name: string, metadata: object): Promise<void> {
    const { engine } = this.stage
    await patch(engine, ownCall(engine, this.placeOf(name)), { type: 'merge', patch: { metadata }, duplicates: [] })
  }

  async restore(name: string): Promise<void> {
    const { store } = this.stage.engine
    const place = this.placeOf(name)
    const object = { metadata: { name, namespace: place.namespace, uid: this.#uids.get(name) } } as ApiObject
    await store.put(place, store.encode(place.resource, object), { expect: 0, uniqueKeys: { gained: [], released: [] }, alongside: [] })
  }

  placeOf(name: string): { readonly resource: Resource; readonly namespace: string; readonly name: string } {
    const place = this.#places.get(name)
    if (place === undefined) throw new Error(`there was never a ${name}`)
    return place
  }

  get left(): readonly string[] {
    return [...this.#places.keys()]
      .flatMap((name) => {
        const object = this.read(name)
        if (object === undefined || object.metadata?.uid !== this.#uids.get(name)) return []
        return object.metadata?.deletionTimestamp === undefined ? [name] : [`-${name}`]
      })
      .sort()
  }

  /** How many things of the usual kind are left: quicker than to look at each. */
  get count(): number {
    return this.stage.engine.store.count(this.resourceOf(this.stage.catalog, 'ConfigMap'), '')
  }

  ownersOf(name: string): readonly string[] {
    return (this.read(name)?.metadata?.ownerReferences ?? []).map((each) => each.name ?? '')
  }

  read(name: string): ApiObject | undefined {
    const place = this.placeOf(name)
    return this.stage.engine.store.read(place)?.decode(place.resource)
  }

  events(): readonly { readonly reason: string; readonly message: string; readonly involvedObject: { readonly name: string } }[] {
    const { engine, catalog } = this.stage
    const resource = catalog.find('', 'v1', 'events') as Resource
    const page = engine.store.list({ resource, namespace: '', selection: everything, limit: 0 })
    return [...page.objects()].map((stored) => stored.decode(resource) as never)
  }

  private resourceOf(catalog: Catalog, kind: keyof typeof resources): Resource {
    const group = kind === 'ClusterRole' ? this.stage.engine.identity.group({ stem: 'rbac.authorization' }) : ''
    return catalog.find(group, 'v1', resources[kind]) as Resource
  }
}

const bodies = {
  ConfigMap: {},
  Secret: {},
  ClusterRole: {},
  Pod: { spec: { containers: [{ name: 'c', image: 'i' }] } },
}
