// A copy of a collection that is kept up to date, with listeners that are told of each change after the copy has it.

import { refuseUnknownOptions } from '../base/known-options.js'
import { onAbort } from '../base/on-abort.js'
import { type Change, type Index, ObjectStore } from './object-store.js'
import { type ApiObject, keyOf } from './objects.js'
import { informNames } from './option-names.js'
import { type ReflectOptions, reflect, type Told, type Watchable } from './reflect.js'

export interface InformerOptions<T> extends ReflectOptions {
  readonly indexes?: { readonly [name: string]: Index<T> }
  /** What is kept of an object, for callers who need only a part of it. */
  readonly transform?: (object: T) => T
}

export type ChangeListener<T> = (change: Change<T>) => void

export class Informer<T extends ApiObject> {
  /** What is there, as far as is known now. */
  readonly store: ObjectStore<T>
  /** Resolves when the first list is in the store; rejects where the informer ends before that. */
  readonly ready: Promise<void>
  /** Resolves when the informer was closed, and rejects with an error that ended it. */
  readonly ended: Promise<void>
  private readonly listeners = new Set<ChangeListener<T>>()
  private readonly controller = new AbortController()
  private readonly options: InformerOptions<T>
  private readonly namespace: string | undefined
  private version = ''
  private isReady = false
  private waiters: (() => void)[] = []

  /** `namespace`: that of all objects, where they are those of one. */
  constructor(source: Watchable<T>, options: InformerOptions<T> = {}, namespace?: string) {
    refuseUnknownOptions('inform', options, informNames)
    this.options = options
    this.namespace = namespace
    this.store = new ObjectStore(options.indexes)
    const { signal } = options
    const follow = (): void => this.controller.abort(signal?.reason)
    if (signal?.aborted === true) follow()
    const leave = signal && onAbort(signal, follow)
    let becomeReady: () => void = () => undefined
    let fail: (error: unknown) => void = () => undefined
    this.ready = new Promise((resolve, reject) => {
      becomeReady = resolve
      fail = reject
    })
    // Who does not ask must not be ended by it.
    this.ready.catch(() => undefined)
    this.ended = this.run(source, becomeReady)
      .finally(() => {
        this.controller.abort()
        leave?.()
        for (const wake of this.waiters.splice(0)) wake()
      })
      .then(
        () => fail(new Error('the informer was closed before it was ready')),
        (thrown) => {
          fail(thrown)
          const { onError } = this.options
          // Whoever has heard of it elsewhere need not ask how it ended; otherwise it would end without anybody knowing.
          if (!this.isReady || onError !== undefined) this.ended.catch(() => undefined)
          onError?.(thrown)
          throw thrown
        },
      )
  }

  /** The version up to which the store is true. */
  get resourceVersion(): string {
    return this.version
  }

  /** Whether the first list is in the store. */
  get hasSynced(): boolean {
    return this.isReady
  }

  /** The namespace can be left out where the informer is for one only. */
  get(name: string, namespace = this.namespace): T | undefined {
    return this.store.get(name, namespace)
  }

  list(namespace?: string): readonly T[] {
    return this.store.list(namespace)
  }

  byIndex(name: string, value: string): readonly T[] {
    return this.store.byIndex(name, value)
  }

  /** Called for each change, in order, once the store has it; with `replay` first for each object that is there already. The answer ends it. */
  onChange(listener: ChangeListener<T>, options: { readonly replay?: boolean } = {}): () => void {
    refuseUnknownOptions('onChange', options, { replay: true })
    if (options.replay === true) for (const object of this.store.values()) listener({ type: 'add', object })
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** Resolves as soon as the store is as wanted. */
  async until(isThere: (store: ObjectStore<T>) => boolean, signal?: AbortSignal): Promise<void> {
    const { signal: own } = this.controller
    let wake: () => void = () => undefined
    // Once for all the changes that are waited for.
    const stop = (): void => wake()
    const leaves = [own, ...(signal === undefined ? [] : [signal])].map((each) => onAbort(each, stop))
    try {
      while (!(this.isReady && isThere(this.store))) {
        signal?.throwIfAborted()
        if (own.aborted) throw new Error('the informer was closed')
        await new Promise<void>((resolve) => {
          wake = resolve
          this.waiters.push(resolve)
        })
      }
    } finally {
      for (const leave of leaves) leave()
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
    for await (const told of reflect(source, { ...this.options, signal }, { isUntiring: true, readsObjects: true })) {
      if (signal.aborted) return
      this.take(told)
      if (!this.isReady) {
        this.isReady = true
        becomeReady()
      }
      if (this.waiters.length > 0) for (const wake of this.waiters.splice(0)) wake()
    }
  }

  private take(told: Told<T>): void {
    const { transform = keepAll } = this.options
    if (told.type === 'list') {
      this.version = told.resourceVersion
      this.tell(this.store.replace(told.items, transform))
      return
    }
    for (const { type, object, resourceVersion } of told.events) {
      this.version = resourceVersion || this.version
      if (type === 'BOOKMARK') continue
      const kept = transform(object as T)
      const change = type === 'DELETED' ? this.store.remove(keyOf(object), kept) : this.store.put(kept, object)
      if (change !== undefined) this.tell([change])
    }
  }

  /** The store has them all by now, and who comes meanwhile is shown what it has. A listener that throws keeps nobody from what comes next. */
  private tell(changes: readonly Change<T>[]): void {
    const listeners = [...this.listeners]
    for (const change of changes) {
      for (const listener of listeners) if (this.listeners.has(listener)) this.tellOne(listener, change)
    }
  }

  private tellOne(listener: ChangeListener<T>, change: Change<T>): void {
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

const keepAll = <T>(object: T): T => object
