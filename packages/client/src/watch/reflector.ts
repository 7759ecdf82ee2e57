// Reflector of watches and informers: lists, watches, resumes, and lists again if the version is compacted or too new.

import { onAbort } from '@cluster-apiserver/api/base/async/on-abort.js'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import { type OptionNames, refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import {
  ConnectionError,
  CredentialError,
  isClientError,
  isClosedError,
  isExpired,
  isVersionTooLarge,
  StatusError,
  TimeoutError,
} from '../errors.js'
import { PageProgress } from '../objects/list-pages.js'
import type { ApiObject, ObjectList, WatchEvent } from '../objects/objects.js'
import { type ListOptions, type RequestOptions, type SelectOptions, selectNames } from '../requests/request-options.js'
import { sleep } from '../requests/requester.js'
import type { RawWatchOptions } from './watch-stream.js'

export interface Watchable<T> {
  list(options: ListOptions): Promise<ObjectList<T>>
  openWatch(options: RawWatchOptions): Promise<AsyncIterable<readonly WatchEvent<T>[]>>
}

export interface ReflectOptions extends SelectOptions, Pick<RequestOptions, 'signal'> {
  /** Page size of lists. Default: 500. */
  readonly limit?: number
  /** Called before each retry, and with the error that ends an informer. Errors such as 403 end a watch, but no synced informer. */
  readonly onError?: (error: unknown) => void
  readonly backOff?: BackOffSettings
  /** Seconds after which the server ends each watch request, which detects lost connections. Default: 300. */
  readonly timeoutSeconds?: number
  /** Timeout of each page of a list. Default: 60 s. */
  readonly listTimeoutMs?: number
}

export const reflectNames: OptionNames<ReflectOptions> = {
  ...selectNames,
  limit: true,
  onError: true,
  backOff: true,
  timeoutSeconds: true,
  listTimeoutMs: true,
  signal: true,
}

export type ReflectorUpdate<T> =
  | { readonly type: 'list'; readonly items: readonly T[]; readonly resourceVersion: string }
  | { readonly type: 'events'; readonly events: readonly WatchEvent<T>[] }

const defaultTimeoutSeconds = 300
/** Time after `timeoutSeconds` until a watch is considered dead. */
const silenceGraceSeconds = 30
const defaultListTimeoutMs = 60_000
const stableWatchMs = 5000

interface ReflectStart {
  /** resourceVersion after which the watch starts; undefined: after a list. */
  readonly from?: string | undefined
  /** Retries all errors of the server after the first list: permissions and CRDs may come back. */
  readonly shouldRetryForever?: boolean
  /** Throws 410 and 504 of an unavailable version instead of listing again. */
  readonly needsHistory?: boolean
  /** Parses every object before its event is yielded, so that invalid JSON restarts the watch. */
  readonly shouldParseObjects?: boolean
}

/** Ends if the signal is aborted or the client is closed; throws errors that are not retryable. */
export async function* reflect<T extends ApiObject>(
  source: Watchable<T>,
  options: ReflectOptions,
  { from, shouldRetryForever = false, needsHistory = false, shouldParseObjects = false }: ReflectStart = {},
): AsyncGenerator<ReflectorUpdate<T>, void, undefined> {
  const { signal, onError } = options
  const backOff = new BackOff(options.backOff)
  let version = from
  let hasStarted = from !== undefined
  for (;;) {
    try {
      if (version === undefined) {
        const list = await listAll(source, options)
        version = list.resourceVersion
        hasStarted = true
        yield list
      }
      const begunMs = performance.now()
      const watch = new WatchAttempt<T>(options)
      try {
        for await (const events of await watch.open(source, version)) {
          if (shouldParseObjects) parseObjects(events)
          version = events.at(-1)?.resourceVersion || version
          backOff.reset()
          yield { type: 'events', events }
        }
      } finally {
        watch.end()
      }
      // Watches without events that end sooner do not reset the back-off.
      if (performance.now() - begunMs > stableWatchMs) backOff.reset()
    } catch (thrown) {
      if (signal?.aborted === true || isClosedError(thrown)) return
      if (isVersionUnavailable(thrown) && !needsHistory) version = undefined
      else if (!isRetryable(thrown) && !(shouldRetryForever && hasStarted && isClientError(thrown))) throw thrown
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

/** True if the version is compacted, or newer than the server's state, such as after a restore from backup. */
const isVersionUnavailable = (thrown: unknown): boolean => isExpired(thrown) || isVersionTooLarge(thrown)

const isRetryable = (thrown: unknown): boolean =>
  thrown instanceof ConnectionError ||
  thrown instanceof TimeoutError ||
  thrown instanceof CredentialError ||
  (thrown instanceof StatusError && isTemporary(thrown.code) && !isVersionTooLarge(thrown))

const isTemporary = (code: number): boolean => code >= 500 || code === 429 || code === 401 || code === 408

async function listAll<T>(source: Watchable<T>, options: ReflectOptions): Promise<Extract<ReflectorUpdate<T>, { type: 'list' }>> {
  const selection = selectionOf(options)
  const limit = options.limit ?? 500
  const items: T[] = []
  const { listTimeoutMs: timeoutMs = defaultListTimeoutMs } = options
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

class WatchAttempt<T> {
  private readonly controller = new AbortController()
  private readonly timeoutSeconds: number
  private readonly timer: ReturnType<typeof setTimeout>
  private readonly options: ReflectOptions
  private readonly unsubscribe: (() => void) | undefined
  private readonly stop = (): void => this.controller.abort(this.options.signal?.reason)

  constructor(options: ReflectOptions) {
    this.options = options
    const { signal, timeoutSeconds = defaultTimeoutSeconds } = options
    this.timeoutSeconds = timeoutSeconds
    if (signal?.aborted === true) this.stop()
    this.unsubscribe = signal && onAbort(signal, this.stop)
    const maxDurationMs = (timeoutSeconds + silenceGraceSeconds) * 1000
    this.timer = setTimeout(
      () => this.controller.abort(new ConnectionError('the server did not end the watch in time')),
      timerMs(maxDurationMs),
    )
  }

  open(source: Watchable<T>, resourceVersion: string): Promise<AsyncIterable<readonly WatchEvent<T>[]>> {
    const { timeoutSeconds } = this
    return source.openWatch({ ...selectionOf(this.options), resourceVersion, timeoutSeconds, signal: this.controller.signal })
  }

  end(): void {
    clearTimeout(this.timer)
    this.unsubscribe?.()
  }
}

const selectionOf = ({ labelSelector, fieldSelector, signal }: ReflectOptions): SelectOptions & RequestOptions => ({
  ...(labelSelector === undefined ? {} : { labelSelector }),
  ...(fieldSelector === undefined ? {} : { fieldSelector }),
  ...(signal === undefined ? {} : { signal }),
})

interface BackOffSettings {
  readonly firstMs?: number
  readonly maxMs?: number
}

const backOffNames: OptionNames<BackOffSettings> = { firstMs: true, maxMs: true }

class BackOff {
  private readonly firstMs: number
  private readonly maxMs: number
  private nextMs: number

  constructor(settings: BackOffSettings = {}) {
    refuseUnknownOptions('backOff', settings, backOffNames)
    const { firstMs = 100, maxMs = 30_000 } = settings
    this.firstMs = firstMs
    this.maxMs = maxMs
    this.nextMs = firstMs
  }

  reset(): void {
    this.nextMs = this.firstMs
  }

  async wait(signal?: AbortSignal): Promise<void> {
    const ms = this.nextMs * (0.5 + Math.random() / 2)
    this.nextMs = Math.min(this.nextMs * 2, this.maxMs)
    await sleep(ms, signal)
  }
}
