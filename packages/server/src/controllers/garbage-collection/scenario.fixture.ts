// Scenarios of garbage collection: given objects, steps, and the remaining objects.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { everything } from '../../objects/list/selection.js'
import { create } from '../../verbs/create.js'
import { remove } from '../../verbs/delete.js'
import { patch } from '../../verbs/patch.js'
import type { ControllerParts } from '../framework/controller.js'
import { createTestEngine, type TestEngine } from '../framework/engine.fixture.js'
import { internalCall } from '../framework/internal-call.js'
import { ControllerCounters } from '../framework/queue-metrics.js'
import { FakeTimers } from '../framework/timers.fixture.js'
import type { Controller } from '../leader-election/leader-election.js'
import { garbageCollection } from './garbage-collection.js'
import type { Extensions } from './remote-groups/remote-objects.js'

/** An object; by default a ConfigMap in the namespace `n`. */
interface ScenarioObject {
  readonly name: string
  readonly kind?: 'ConfigMap' | 'Secret' | 'ClusterRole' | 'Pod'
  readonly namespace?: string
  readonly owners?: readonly Owner[]
  readonly finalizers?: readonly string[]
}

type Owner = string | { readonly name: string; readonly blocks?: boolean; readonly fields?: { readonly [field: string]: string } }

type Step =
  | { readonly create: ScenarioObject }
  | { readonly remove: string; readonly policy?: 'Orphan' | 'Foreground' | 'Background' }
  | { readonly change: string; readonly metadata: object }
  /** Writes the object again with its uid, as a restored backup does. */
  | { readonly restore: string }
  | { readonly wait: number }
  | { readonly stop: true }
  | { readonly start: true }

export interface ScenarioCase {
  readonly title: string
  readonly given: readonly ScenarioObject[]
  readonly when: readonly Step[]
  readonly expect: {
    /** Names of remaining objects; with the prefix `-` if terminating. */
    readonly remaining: readonly string[]
    readonly owners?: { readonly [name: string]: readonly string[] }
    readonly events?: readonly string[]
  }
}

const resources = { ConfigMap: 'configmaps', Secret: 'secrets', Pod: 'pods', ClusterRole: 'clusterroles' } as const

export class Scenario {
  readonly timers = new FakeTimers()
  readonly counters = new ControllerCounters()
  readonly testEngine: TestEngine
  readonly #uids = new Map<string, string>()
  readonly #addresses = new Map<string, { readonly resource: Resource; readonly namespace: string; readonly name: string }>()
  #controller: Controller | undefined

  readonly #extensions: Extensions | undefined

  readonly #maxKeys: number | undefined

  private constructor(testEngine: TestEngine, extensions: Extensions | undefined, maxKeys: number | undefined) {
    this.testEngine = testEngine
    this.#extensions = extensions
    this.#maxKeys = maxKeys
  }

  static async open(extensions?: Extensions, maxKeys?: number): Promise<Scenario> {
    const scenario = new Scenario(await createTestEngine('cluster', systemClock), extensions, maxKeys)
    scenario.start()
    return scenario
  }

  get parts(): ControllerParts {
    const { engine, catalogs } = this.testEngine
    return { engine, catalogs, logger: silentLogger, timers: this.timers, counters: this.counters, maxKeys: this.#maxKeys }
  }

  start(): void {
    this.#controller = garbageCollection(this.parts, undefined, this.#extensions)
  }

  async stop(): Promise<void> {
    await this.#controller?.close()
    this.#controller = undefined
  }

  async do(step: Step): Promise<void> {
    if ('create' in step) await this.create(step.create)
    else if ('remove' in step) await this.remove(step.remove, step.policy)
    else if ('change' in step) await this.change(step.change, step.metadata)
    else if ('restore' in step) await this.restore(step.restore)
    else if ('wait' in step) await this.timers.advance(step.wait)
    else if ('stop' in step) await this.stop()
    else this.start()
  }

  async create({ name, kind = 'ConfigMap', namespace = 'n', owners = [], finalizers }: ScenarioObject): Promise<void> {
    const { engine, catalog } = this.testEngine
    const resource = this.resourceOf(catalog, kind)
    const address = { resource, namespace: resource.namespaced ? namespace : '', name }
    const metadata = {
      name,
      ...(finalizers && { finalizers }),
      ...(owners.length > 0 && { ownerReferences: owners.map((each) => this.referenceTo(each)) }),
    }
    const { result } = await create(engine, internalCall(engine, address), { object: { ...bodies[kind], metadata } as ApiObject })
    this.#uids.set(name, result.stored?.decode(resource).metadata?.uid ?? '')
    this.#addresses.set(name, address)
  }

  referenceTo(owner: Owner): object {
    const { name, blocks, fields = {} } = typeof owner === 'string' ? { name: owner } : owner
    const address = this.#addresses.get(name)
    const { apiVersion = 'v1', kind = 'ConfigMap' } = address?.resource ?? {}
    const uid = this.#uids.get(name) ?? `missing-${name}`
    return { apiVersion, kind, name, uid, ...(blocks === undefined ? {} : { blockOwnerDeletion: blocks }), ...fields }
  }

  async remove(name: string, policy?: string): Promise<void> {
    const { engine } = this.testEngine
    const options = policy === undefined ? {} : { propagationPolicy: policy }
    await remove(engine, internalCall(engine, { ...this.addressOf(name), options }))
  }

  async change(name: string, metadata: object): Promise<void> {
    const { engine } = this.testEngine
    await patch(engine, internalCall(engine, this.addressOf(name)), { type: 'merge', patch: { metadata }, duplicates: [] })
  }

  async restore(name: string): Promise<void> {
    const { store } = this.testEngine.engine
    const address = this.addressOf(name)
    const object = { metadata: { name, namespace: address.namespace, uid: this.#uids.get(name) } } as ApiObject
    await store.put(address, store.encode(address.resource, object), { expect: 0, uniqueKeys: { gained: [], released: [] }, alongside: [] })
  }

  addressOf(name: string): { readonly resource: Resource; readonly namespace: string; readonly name: string } {
    const address = this.#addresses.get(name)
    if (address === undefined) throw new Error(`${name} was never created`)
    return address
  }

  get remaining(): readonly string[] {
    return [...this.#addresses.keys()]
      .flatMap((name) => {
        const object = this.read(name)
        if (object === undefined || object.metadata?.uid !== this.#uids.get(name)) return []
        return object.metadata?.deletionTimestamp === undefined ? [name] : [`-${name}`]
      })
      .sort()
  }

  get count(): number {
    return this.testEngine.engine.store.count(this.resourceOf(this.testEngine.catalog, 'ConfigMap'), '')
  }

  ownersOf(name: string): readonly string[] {
    return (this.read(name)?.metadata?.ownerReferences ?? []).map((each) => each.name ?? '')
  }

  read(name: string): ApiObject | undefined {
    const address = this.addressOf(name)
    return this.testEngine.engine.store.read(address)?.decode(address.resource)
  }

  events(): readonly { readonly reason: string; readonly message: string; readonly involvedObject: { readonly name: string } }[] {
    const { engine, catalog } = this.testEngine
    const resource = catalog.find('', 'v1', 'events') as Resource
    const page = engine.store.readAll({ resource, namespace: '', selection: everything, limit: 0 })
    return [...page.objects()].map((stored) => stored.decode(resource) as never)
  }

  private resourceOf(catalog: Catalog, kind: keyof typeof resources): Resource {
    const group = kind === 'ClusterRole' ? this.testEngine.engine.identity.group({ stem: 'rbac.authorization' }) : ''
    return catalog.find(group, 'v1', resources[kind]) as Resource
  }
}

const bodies = {
  ConfigMap: {},
  Secret: {},
  ClusterRole: {},
  Pod: { spec: { containers: [{ name: 'c', image: 'i' }] } },
}
