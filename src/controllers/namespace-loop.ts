// Namespaces that are being deleted empty themselves: all they hold is deleted, and when nothing is left they are let go.

import { ApiError } from '../api/api-error.js'
import type { Catalog, Resource } from '../api/catalog.js'
import { type ApiObject, members } from '../api/object.js'
import type { Logger } from '../base/logger.js'
import { partsOf } from '../objects/keys.js'
import { everything } from '../objects/selection.js'
import type { StoredObject } from '../objects/stored-object.js'
import { removeCollection } from '../verbs/delete-collection.js'
import type { Engine } from '../verbs/engine.js'
import { update } from '../verbs/update.js'
import type { Loop } from './leader-election.js'
import { type Leftover, terminationConditions } from './namespace-conditions.js'
import { deleteOrphans } from './namespace-orphans.js'
import { ownCall } from './own-call.js'

export interface NamespaceLoopOptions {
  readonly engine: Engine
  readonly catalog: Catalog
  readonly logger: Logger
  /** How long after its deletion a namespace is left as it is, so that whoever writes to it can finish. */
  readonly graceMs?: number
  /** How long after it is gone it is looked at once more: longer than a write can take. */
  readonly sweepMs?: number
}

const defaultGraceMs = 1000
const defaultSweepMs = 30_000
const firstRetryMs = 200
const maxRetryMs = 10_000

interface Namespace extends ApiObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: { readonly phase?: string }
}

export class NamespaceLoop implements Loop {
  private readonly options: NamespaceLoopOptions
  private readonly namespaces: Resource | undefined
  private readonly timers = new Map<string, NodeJS.Timeout>()
  private readonly sweeps = new Set<NodeJS.Timeout>()
  private readonly running = new Set<Promise<void>>()
  private readonly stop: () => void
  private isClosed = false

  constructor(options: NamespaceLoopOptions) {
    this.options = options
    const resource = options.catalog.find('', 'v1', 'namespaces')
    this.namespaces = resource
    if (resource === undefined) {
      this.stop = () => undefined
      return
    }
    const { store } = options.engine
    this.stop = store.watch({
      resource,
      namespace: '',
      matches: undefined,
      deliver: (event) => event.type !== 'DELETED' && this.notice(event.object),
    })
    for (const object of store.list({ resource, namespace: '', selection: everything, limit: 0 }).objects()) this.notice(object)
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.stop()
    for (const timer of this.timers.values()) clearTimeout(timer)
    this.timers.clear()
    for (const timer of this.sweeps) clearTimeout(timer)
    await Promise.allSettled(this.running)
  }

  private notice(object: StoredObject): void {
    const { name } = partsOf(this.namespaces as Resource, object.key)
    if (this.timers.has(name) || !isTerminating(object.decode(this.namespaces as Resource), this.options.engine.identity.self)) return
    this.schedule(name, this.options.graceMs ?? defaultGraceMs, firstRetryMs)
  }

  private schedule(name: string, delayMs: number, nextRetryMs: number): void {
    if (this.isClosed) return
    const work = (): void => {
      const run = this.attempt(name, nextRetryMs).finally(() => this.running.delete(run))
      this.running.add(run)
    }
    this.timers.set(name, setTimeout(work, delayMs))
  }

  private async attempt(name: string, nextRetryMs: number): Promise<void> {
    try {
      const isDone = await this.empty(name)
      if (isDone) this.finish(name)
      else this.schedule(name, nextRetryMs, Math.min(nextRetryMs * 2, maxRetryMs))
    } catch (thrown) {
      this.options.logger.warn({ namespace: name, err: thrown }, 'a namespace could not be emptied; it is tried again')
      this.schedule(name, nextRetryMs, Math.min(nextRetryMs * 2, maxRetryMs))
    }
  }

  /** A write that was allowed while the namespace was there may have taken long, and arrive when it is gone. */
  private finish(name: string): void {
    this.timers.delete(name)
    if (this.isClosed) return
    const timer = setTimeout(() => {
      this.sweeps.delete(timer)
      const run = deleteOrphans(this.options.engine, {
        name,
        namespaces: this.namespaces as Resource,
        collections: this.namespacedCollections(),
      })
        .catch((thrown: unknown) =>
          this.options.logger.warn({ namespace: name, err: thrown }, 'what is left of a namespace could not be deleted'),
        )
        .finally(() => this.running.delete(run))
      this.running.add(run)
    }, this.options.sweepMs ?? defaultSweepMs)
    this.sweeps.add(timer.unref())
  }

  /** One round: true when there is nothing more to do for this namespace. */
  private async empty(name: string): Promise<boolean> {
    const { engine } = this.options
    const resource = this.namespaces as Resource
    const namespace = engine.store.read({ resource, namespace: '', name })?.decode(resource) as Namespace | undefined
    if (namespace === undefined || !isTerminating(namespace, engine.identity.self)) return true
    await this.removeContents(name)
    const leftovers = this.leftovers(name)
    await this.reportProgress(namespace, leftovers)
    if (leftovers.length > 0) return false
    await this.letGo(name)
    return true
  }

  private namespacedCollections(): readonly Resource[] {
    return this.options.catalog.collections().filter((resource) => resource.namespaced && resource.verbs.includes('deletecollection'))
  }

  private async removeContents(name: string): Promise<void> {
    const { engine } = this.options
    for (const resource of this.namespacedCollections()) {
      if (engine.store.count(resource, name) === 0) continue
      const call = { ...ownCall(engine, { resource, namespace: name, name: '' }) }
      await removeCollection(engine, call, {
        list: { selection: everything, version: { mode: 'most-recent' }, limit: 0 },
        options: { propagationPolicy: 'Background' },
      })
    }
  }

  private leftovers(name: string): readonly Leftover[] {
    const { store } = this.options.engine
    return this.namespacedCollections().flatMap((resource) => {
      const page =
        store.count(resource, name) === 0 ? [] : [...store.list({ resource, namespace: name, selection: everything, limit: 0 }).objects()]
      return page.map((object) => ({
        resource: resource.group === '' ? resource.name : `${resource.name}.${resource.group}`,
        finalizers: object.decode(resource).metadata?.finalizers ?? [],
      }))
    })
  }

  private async reportProgress(namespace: Namespace, leftovers: readonly Leftover[]): Promise<void> {
    const { engine } = this.options
    const name = namespace.metadata?.name ?? ''
    const call = ownCall(engine, { resource: this.namespaces as Resource, name, subresource: 'status' })
    const before = (members(namespace)['status'] as { conditions?: readonly never[] } | undefined)?.conditions ?? []
    const conditions = terminationConditions({ before, leftovers, now: call.rules.now })
    if (conditions === before) return
    const object = { ...namespace, status: { ...namespace.status, phase: 'Terminating', conditions } } as ApiObject
    await unlessGone(update(engine, call, { object, options: {} }))
  }

  /** Takes the server's own finalizer away; others may still hold the namespace. */
  private async letGo(name: string): Promise<void> {
    const { engine } = this.options
    const resource = this.namespaces as Resource
    const namespace = engine.store.read({ resource, namespace: '', name })?.decode(resource) as Namespace | undefined
    if (namespace === undefined) return
    const finalizers = (namespace.spec?.finalizers ?? []).filter((finalizer) => finalizer !== engine.identity.self)
    const object = { ...namespace, spec: { ...namespace.spec, finalizers } } as ApiObject
    await unlessGone(update(engine, ownCall(engine, { resource, name, subresource: 'finalize' }), { object, options: {} }))
  }
}

function isTerminating(object: Namespace, own: string): boolean {
  return object.metadata?.deletionTimestamp !== undefined && (object.spec?.finalizers ?? []).includes(own)
}

/** A namespace that went away meanwhile needs no help; one that changed is looked at again in the next round. */
async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status.code !== 404) throw thrown
  }
}
