// Informer: a local copy of a collection, kept up to date by list and watch, with listeners for changes.

import { onAbort } from '@cluster-apiserver/api/base/async/on-abort.js'
import { type OptionNames, refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import { type ApiObject, keyOf } from '../objects/objects.js'
import { type Change, type Index, ObjectStore } from './object-store.js'
import { type ReflectOptions, type ReflectorUpdate, reflect, reflectNames, type Watchable } from './reflector.js'

export interface InformerOptions<T> extends ReflectOptions {
  readonly indexes?: { readonly [name: string]: Index<T> }
  /** Maps an object to the part that is stored. */
  readonly transform?: (object: T) => T
}

const informNames: OptionNames<InformerOptions<unknown>> = { indexes: true, transform: true, ...reflectNames }

export type ChangeListener<T> = (change: Change<T>) => void

export class Informer<T extends ApiObject> {
  /** The local copy. */
  readonly store: ObjectStore<T>
  /** Resolves when the store has the first list; rejects if the informer ends earlier. */
  readonly ready: Promise<void>
  /** Resolves after `close()` or an abort of the signal; rejects with the error that ended the informer. */
  readonly ended: Promise<void>
  private readonly listeners = new Set<ChangeListener<T>>()
  private readonly controller = new AbortController()
  private readonly options: InformerOptions<T>
  private readonly namespace: string | undefined
  private version = ''
  private isReady = false
  private waiters: (() => void)[] = []

  /** `namespace`: default of `get`, for informers of a single namespace. */
  constructor(source: Watchable<T>, options: InformerOptions<T> = {}, namespace?: string) {
    refuseUnknownOptions('inform', options, informNames)
    this.options = options
    this.namespace = namespace
    this.store = new ObjectStore(options.indexes)
    const { signal } = options
    const abort = (): void => this.controller.abort(signal?.reason)
    if (signal?.aborted === true) abort()
    const unsubscribe = signal && onAbort(signal, abort)
    let becomeReady: () => void = () => undefined
    let fail: (error: unknown) => void = () => undefined
    this.ready = new Promise((resolve, reject) => {
      becomeReady = resolve
      fail = reject
    })
    this.ready.catch(() => undefined)
    this.ended = this.run(source, becomeReady)
      .finally(() => {
        this.controller.abort()
        unsubscribe?.()
        for (const wake of this.waiters.splice(0)) wake()
      })
      .then(
        () => fail(new Error('the informer was closed before it was ready')),
        (thrown) => {
          fail(thrown)
          const { onError } = this.options
          if (!this.isReady || onError !== undefined) this.ended.catch(() => undefined)
          onError?.(thrown)
          throw thrown
        },
      )
  }

  /** The resourceVersion of the store. */
  get resourceVersion(): string {
    return this.version
  }

  get hasSynced(): boolean {
    return this.isReady
  }

  get(name: string, namespace = this.namespace): T | undefined {
    return this.store.get(name, namespace)
  }

  list(namespace?: string): readonly T[] {
    return this.store.list(namespace)
  }

  byIndex(name: string, value: string): readonly T[] {
    return this.store.byIndex(name, value)
  }

  /** Calls the listener after each change, and with `replay` for each stored object first. Returns a function that removes the listener. */
  onChange(listener: ChangeListener<T>, options: { readonly replay?: boolean } = {}): () => void {
    refuseUnknownOptions('onChange', options, { replay: true })
    if (options.replay === true) for (const object of this.store.values()) listener({ type: 'add', object })
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** Resolves when `isMet` returns true for the synced store; rejects if the signal aborts or the informer ends. */
  async until(isMet: (store: ObjectStore<T>) => boolean, signal?: AbortSignal): Promise<void> {
    const { signal: closeSignal } = this.controller
    let wake: () => void = () => undefined
    const stop = (): void => wake()
    const unsubscribers = [closeSignal, ...(signal === undefined ? [] : [signal])].map((source) => onAbort(source, stop))
    try {
      while (!(this.isReady && isMet(this.store))) {
        signal?.throwIfAborted()
        if (closeSignal.aborted) throw new Error('the informer was closed')
        await new Promise<void>((resolve) => {
          wake = resolve
          this.waiters.push(resolve)
        })
      }
    } finally {
      for (const unsubscribe of unsubscribers) unsubscribe()
    }
  }

  close(): void {
    this.controller.abort()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  private async run(source: Watchable<T>, becomeReady: () => void): Promise<void> {
    const { signal } = this.controller
    for await (const update of reflect(source, { ...this.options, signal }, { shouldRetryForever: true, shouldParseObjects: true })) {
      if (signal.aborted) return
      this.applyUpdate(update)
      if (!this.isReady) {
        this.isReady = true
        becomeReady()
      }
      if (this.waiters.length > 0) for (const wake of this.waiters.splice(0)) wake()
    }
  }

  private applyUpdate(update: ReflectorUpdate<T>): void {
    const { transform = unchanged } = this.options
    if (update.type === 'list') {
      this.version = update.resourceVersion
      this.notify(this.store.replace(update.items, transform))
      return
    }
    for (const { type, object, resourceVersion } of update.events) {
      this.version = resourceVersion || this.version
      if (type === 'BOOKMARK') continue
      const stored = transform(object as T)
      const change = type === 'DELETED' ? this.store.remove(keyOf(object), stored) : this.store.put(stored, object)
      if (change !== undefined) this.notify([change])
    }
  }

  /** Skips listeners that were added meanwhile, which replay the store, or removed. */
  private notify(changes: readonly Change<T>[]): void {
    const listeners = [...this.listeners]
    for (const change of changes) {
      for (const listener of listeners) if (this.listeners.has(listener)) this.notifyListener(listener, change)
    }
  }

  private notifyListener(listener: ChangeListener<T>, change: Change<T>): void {
    try {
      listener(change)
    } catch (thrown) {
      const { onError } = this.options
      if (onError !== undefined) onError(thrown)
      else
        queueMicrotask(() => {
          throw thrown
        })
    }
  }
}

const unchanged = <T>(object: T): T => object
