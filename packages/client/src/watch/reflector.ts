// The one loop behind watches and informers: list, watch from there, and when the watch ends, go on where it was; when that is too long ago,
// list again. Whoever uses it is told of lists and of events, in order, and of nothing twice.

import { timerMs } from '../base/clock.js'
import { onAbort } from '../base/on-abort.js'
import { BackOff, type BackOffSettings } from './back-off.js'
import {
  ConnectionError,
  CredentialError,
  isClientError,
  isClosedError,
  isExpired,
  isVersionTooLarge,
  StatusError,
  TimeoutError,
} from './errors.js'
import { PageProgress } from './list-pages.js'
import type { ApiObject, ObjectList, WatchEvent } from './objects.js'
import type { ListOptions, RequestOptions, SelectOptions } from './query.js'
import type { RawWatchOptions } from './watch-stream.js'

/** What is listed and watched. */
export interface Watchable<T> {
  list(options: ListOptions): Promise<ObjectList<T>>
  openWatch(options: RawWatchOptions): Promise<AsyncIterable<readonly WatchEvent<T>[]>>
}

export interface ReflectOptions extends SelectOptions, Pick<RequestOptions, 'signal'> {
  /** Of the pages in which objects are listed; by default 500. */
  readonly limit?: number
  /**
   * Told of what went wrong before it is tried again. What is not worth a try (403, 404, 400) ends a watch instead, and is thrown; an informer
   * that has begun goes on trying after that as well.
   */
  readonly onError?: (error: unknown) => void
  readonly backOff?: BackOffSettings
  /** Each watch is ended by the server after about this time, so that lost connections are noticed; by default 300. */
  readonly timeoutSeconds?: number
  /** How long each page of a list may take; by default 60 s. */
  readonly listTimeoutMs?: number
}

export type Told<T> =
  /** Everything that there is; what is not in it is gone. */
  | { readonly type: 'list'; readonly items: readonly T[]; readonly resourceVersion: string }
  | { readonly type: 'events'; readonly events: readonly WatchEvent<T>[] }

const usualTimeoutSeconds = 300
/** A connection that says nothing for this long after the server should have ended the watch is dead. */
const graceSeconds = 30
const usualListTimeoutMs = 60_000
const steadyMs = 5000

export interface Beginning {
  /** The version of a list that the caller has already. */
  readonly from?: string | undefined
  /** Once there was a list, nothing that the server says ends it: who may not read now may do so again, and what is not served may come back. */
  readonly isUntiring?: boolean
  /** Who cannot do with a list ends when the version is not kept any more or not there yet, with the error of the server (410, 504). */
  readonly needsHistory?: boolean
  /** Who reads every object is told only of events that have one: what is no JSON breaks the watch, which is tried again. */
  readonly readsObjects?: boolean
}

/** Ends only by the signal, when the client is closed, or by an error that is not worth a try. */
export async function* reflect<T extends ApiObject>(
  source: Watchable<T>,
  options: ReflectOptions,
  { from, isUntiring = false, needsHistory = false, readsObjects = false }: Beginning = {},
): AsyncGenerator<Told<T>, void, undefined> {
  const { signal, onError } = options
  const backOff = new BackOff(options.backOff)
  let version = from
  let hasBegun = from !== undefined
  for (;;) {
    try {
      if (version === undefined) {
        const list = await listAll(source, options)
        version = list.resourceVersion
        hasBegun = true
        yield list
      }
      const beganAt = performance.now()
      const watch = new OneWatch<T>(options)
      try {
        for await (const events of await watch.open(source, version)) {
          if (readsObjects) parseObjects(events)
          version = events.at(-1)?.resourceVersion || version
          backOff.reset()
          yield { type: 'events', events }
        }
      } finally {
        watch.end()
      }
      // A server that ends watches as soon as they have begun is not asked again and again.
      if (performance.now() - beganAt > steadyMs) backOff.reset()
    } catch (thrown) {
      if (signal?.aborted === true || isClosedError(thrown)) return
      if (isLost(thrown) && !needsHistory) version = undefined
      else if (!isWorthATry(thrown) && !(isUntiring && hasBegun && isClientError(thrown))) throw thrown
      onError?.(thrown)
    }
    if (signal?.aborted === true) return
    try {
      await backOff.wait(signal)
    } catch {
      return
    }
  }
}

function parseObjects(events: readonly WatchEvent<unknown>[]): void {
  for (const { object } of events) if (object === undefined) return
}

/** Nobody can watch from there: what happened since is not kept, or the server has never been there, as one that was restored from a backup. */
const isLost = (thrown: unknown): boolean => isExpired(thrown) || isVersionTooLarge(thrown)

/** Connections come back, and so do servers and what gives credentials; what a client may not do it will not be allowed to do in a moment. */
const isWorthATry = (thrown: unknown): boolean =>
  thrown instanceof ConnectionError ||
  thrown instanceof TimeoutError ||
  thrown instanceof CredentialError ||
  (thrown instanceof StatusError && isPassing(thrown.code) && !isVersionTooLarge(thrown))

const isPassing = (code: number): boolean => code >= 500 || code === 429 || code === 401 || code === 408

async function listAll<T>(source: Watchable<T>, options: ReflectOptions): Promise<Extract<Told<T>, { type: 'list' }>> {
  const selection = selectionOf(options)
  const limit = options.limit ?? 500
  const items: T[] = []
  const { listTimeoutMs: timeoutMs = usualListTimeoutMs } = options
  const progress = new PageProgress()
  let page = await source.list({ ...selection, limit, timeoutMs })
  for (;;) {
    for (const item of page.items) items.push(item)
    const next = page.metadata.continue ?? ''
    if (next === '') return { type: 'list', items, resourceVersion: page.metadata.resourceVersion ?? '' }
    progress.check(next, page.items.length)
    page = await source.list({ ...selection, limit, continue: next, timeoutMs })
  }
}

/** A watch that ends with the signal of the caller, or when nothing has come for too long. */
class OneWatch<T> {
  private readonly silence = new AbortController()
  private readonly timeoutSeconds: number
  private readonly timer: ReturnType<typeof setTimeout>
  private readonly options: ReflectOptions
  private readonly leave: (() => void) | undefined
  private readonly stop = (): void => this.silence.abort(this.options.signal?.reason)

  constructor(options: ReflectOptions) {
    this.options = options
    const { signal, timeoutSeconds = usualTimeoutSeconds } = options
    this.timeoutSeconds = timeoutSeconds
    if (signal?.aborted === true) this.stop()
    this.leave = signal && onAbort(signal, this.stop)
    const silentMs = (timeoutSeconds + graceSeconds) * 1000
    this.timer = setTimeout(() => this.silence.abort(new ConnectionError('the watch went silent')), timerMs(silentMs))
  }

  open(source: Watchable<T>, resourceVersion: string): Promise<AsyncIterable<readonly WatchEvent<T>[]>> {
    const { timeoutSeconds } = this
    return source.openWatch({ ...selectionOf(this.options), resourceVersion, timeoutSeconds, signal: this.silence.signal })
  }

  end(): void {
    clearTimeout(this.timer)
    this.leave?.()
  }
}

const selectionOf = ({ labelSelector, fieldSelector, signal }: ReflectOptions): SelectOptions & RequestOptions => ({
  ...(labelSelector === undefined ? {} : { labelSelector }),
  ...(fieldSelector === undefined ? {} : { fieldSelector }),
  ...(signal === undefined ? {} : { signal }),
})
