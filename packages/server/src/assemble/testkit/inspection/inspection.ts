// Inspection of a server by tests: its requests, whether it is idle, the history of objects, and connections that clients left open.

import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import type { Storage } from '../../../storage/storage.js'
import { type ObjectRef, type ResolvedRef, resolveRef } from '../object-ref.js'
import { ChangeRecord } from './change-record.js'
import { explainFailure } from './explain.js'
import { type IdleOptions, type IdleParts, waitForIdle } from './idle.js'
import { ClientConnections, type Leak, ownUserAgent } from './leaks.js'
import { ObjectHistory } from './object-history.js'
import { RequestLog } from './request-log.js'

/** Part of the embedding API. */
export interface InspectedServer {
  /** Requests of all clients, the last 1,000. */
  readonly requests: RequestLog
  /**
   * Resolves when controllers have nothing queued, no request is in progress and watchers were sent everything. Rejects after the timeout
   * (10 s) with a list of what is busy.
   */
  idle(options?: IdleOptions): Promise<void>
  /** Every version of an object since the start, with who changed which field. */
  history(ref: ObjectRef): ObjectHistory
  /** Watches and connections that clients have open, except the server's own clients; after `close`: as of the start of `close`. */
  leaks(): readonly Leak[]
  /** Runs `work`. If it throws, the error's message shows the last requests, events and changes of the objects. */
  explain<T>(refs: ObjectRef | readonly ObjectRef[], work: () => T | Promise<T>): Promise<T>
}

interface InspectedParts extends IdleParts {
  readonly catalogs: CatalogSource
  readonly storage: Storage
}

export class Inspection {
  readonly requests = new RequestLog()
  readonly changes = new ChangeRecord()
  readonly ownUserAgent = ownUserAgent
  readonly #connections = new ClientConnections()
  readonly hooks = [this.requests.hooks, this.#connections.hooks]
  #leaksAtClose: readonly Leak[] | undefined

  /** Listener for the commits of requests and of the server's start. */
  readonly onCommit = (written: StoredObject, call?: Call): void => {
    this.#recordAuthor(written, call)
    if (call !== undefined) this.requests.onCommit(written, call)
  }
  readonly #recordAuthor = this.changes.listener()

  server(parts: InspectedParts): InspectedServer {
    const historyOf = (ref: ResolvedRef): ObjectHistory => new ObjectHistory(ref, this.changes.of(ref.key), parts.storage.read(ref.key))
    const catalog = () => parts.catalogs.current
    const explained = { catalog, store: parts.engine.store, requests: this.requests, historyOf }
    return {
      requests: this.requests,
      idle: (options) => waitForIdle(parts, this.requests, options),
      history: (ref) => historyOf(resolveRef(catalog(), ref)),
      leaks: () => this.#leaksAtClose ?? this.#connections.leaks(this.requests),
      explain: (refs, work) => explainFailure(explained, refs, work),
    }
  }

  /** Must be called before the server closes its connections. */
  beforeClose(): void {
    this.#leaksAtClose ??= this.#connections.leaks(this.requests)
    this.requests.close()
  }
}
