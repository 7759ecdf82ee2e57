// Requests of the garbage collector to extension API servers; after a failed request, a server is not called for ten seconds.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { ApiServiceSource, RemoteTarget } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import type { ExtensionClient, ExtensionRequest } from '../../aggregation/extension-client.js'
import { type RemoteEntry, readEntry } from './remote-entry.js'
import { type RemoteKind, remotePath } from './remote-kinds.js'

interface RemoteClientParts {
  readonly services: ApiServiceSource
  readonly extensionClient: ExtensionClient
  readonly identity: Identity
  readonly signal: AbortSignal
  readonly now: () => number
}

export interface RemoteAddress {
  readonly kind: RemoteKind
  readonly namespace: string
  readonly name: string
}

interface RemotePage {
  readonly entries: readonly RemoteEntry[]
  readonly revision: string
  /** Empty on the last page. */
  readonly next: string
}

const requestTimeoutMs = 5000
const pauseAfterFailureMs = 10_000
const maxObjectBytes = 4 << 20
const maxListBytes = 4 << 20
const pageSize = 100
/** The idle timeout is longer than the requested watch. */
const watchSeconds = 300
const idleMs = (watchSeconds + 30) * 1000

export class RemoteClient {
  readonly #parts: RemoteClientParts
  #failedUntil = new WeakMap<RemoteTarget, number>()

  constructor(parts: RemoteClientParts) {
    this.#parts = parts
  }

  forgetFailures(): void {
    this.#failedUntil = new WeakMap()
  }

  /** Undefined if the server reports NotFound. Throws if the state is unknown. */
  async read({ kind, namespace, name }: RemoteAddress): Promise<RemoteEntry | undefined> {
    const { status, document } = await this.#send(
      kind,
      { path: remotePath(kind, namespace, name), accept: this.#accept('') },
      maxObjectBytes,
    )
    // A 404 may also mean an unknown path.
    if (status === 404 && isRecord(document) && document['kind'] === 'Status' && document['reason'] === 'NotFound') return undefined
    const entry = status === 200 ? readEntry(kind, document) : undefined
    if (entry === undefined) throw new RemoteUnavailableError(`GET ${kind.resource} ${name} returned status ${status}`)
    return entry
  }

  async list(kind: RemoteKind, next: string): Promise<RemotePage> {
    const path = `${remotePath(kind)}?limit=${pageSize}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`
    const { status, document } = await this.#send(kind, { path, accept: this.#accept('List') }, maxListBytes)
    if (status !== 200 || !isRecord(document) || !Array.isArray(document['items']))
      throw new RemoteUnavailableError(`the list of ${kind.resource} returned status ${status}`)
    const { resourceVersion = '', continue: more = '' } = isRecord(document['metadata']) ? document['metadata'] : {}
    return {
      entries: document['items'].flatMap((item: unknown) => readEntry(kind, item) ?? []),
      revision: String(resourceVersion),
      next: String(more),
    }
  }

  watch(kind: RemoteKind, revision: string, signal: AbortSignal): AsyncIterable<Buffer> {
    const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${watchSeconds}&resourceVersion=${encodeURIComponent(revision)}`
    return this.#parts.extensionClient.streamLines(this.#targetOf(kind), {
      path: `${remotePath(kind)}?${query}`,
      accept: this.#accept(''),
      headMs: requestTimeoutMs,
      idleMs,
      maxLineBytes: maxObjectBytes,
      signal,
    })
  }

  async remove(address: RemoteAddress, options: object): Promise<void> {
    await this.#write(address, { method: 'DELETE', contentType: 'application/json', body: JSON.stringify(options) })
  }

  patch(address: RemoteAddress, changes: object): Promise<RemoteEntry | undefined> {
    return this.#write(address, { method: 'PATCH', contentType: 'application/merge-patch+json', body: JSON.stringify(changes) })
  }

  async #write(
    { kind, namespace, name }: RemoteAddress,
    request: Pick<ExtensionRequest, 'method' | 'contentType' | 'body'>,
  ): Promise<RemoteEntry | undefined> {
    const path = remotePath(kind, namespace, name)
    const { status, document } = await this.#send(kind, { path, accept: this.#accept(''), ...request }, maxObjectBytes)
    if (status >= 200 && status <= 299) return readEntry(kind, document)
    const message = isRecord(document) && typeof document['message'] === 'string' ? document['message'] : `status ${status}`
    if (status === 404 || status === 409) throw new ApiError({ code: status, reason: status === 404 ? 'NotFound' : 'Conflict', message })
    throw new RemoteUnavailableError(`${request.method} ${path}: ${message}`)
  }

  async #send(kind: RemoteKind, request: Omit<ExtensionRequest, 'timeoutMs' | 'maxBytes'>, maxBytes: number): Promise<RemoteResponse> {
    const target = this.#targetOf(kind)
    const { extensionClient, signal, now } = this.#parts
    try {
      const { status, body } = await extensionClient.request(target, { ...request, timeoutMs: requestTimeoutMs, maxBytes, signal })
      return { status, document: parseDocument(body) }
    } catch (thrown) {
      if (!signal.aborted) this.#failedUntil.set(target, now() + pauseAfterFailureMs)
      throw thrown
    }
  }

  #targetOf({ version: { name } }: RemoteKind): RemoteTarget {
    const { services, now } = this.#parts
    const version = services.current.all.get(name)
    if (version?.remote === undefined || !version.isAvailable) throw new RemoteUnavailableError(`the server of ${name} is not available`)
    if ((this.#failedUntil.get(version.remote) ?? 0) > now()) throw new RemoteUnavailableError(`the server of ${name} failed a moment ago`)
    return version.remote
  }

  #accept(suffix: '' | 'List'): string {
    const group = this.#parts.identity.group({ stem: 'meta' })
    return `application/json;as=PartialObjectMetadata${suffix};g=${group};v=v1,application/json`
  }
}

/** An extension API server is unavailable or has just failed, or its response is unusable. */
export class RemoteUnavailableError extends Error {
  override readonly name = 'RemoteUnavailableError'
}

interface RemoteResponse {
  readonly status: number
  readonly document: unknown
}

/** Undefined if the body is not JSON. */
export function parseDocument(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
