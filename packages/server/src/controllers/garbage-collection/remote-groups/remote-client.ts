// What the collector says to other servers about single objects, and what they hold, page by page. One that does not answer is left alone for a
// while, so that it takes no time from the others.

import { ApiError } from '../../../api/api-error.js'
import type { ApiServiceSource, RemoteTarget } from '../../../api/api-services.js'
import type { Identity } from '../../../api/identity.js'
import { inPieces } from '../../../base/pieces.js'
import { isRecord } from '../../../schema/read.js'
import type { ExtensionAsker, Question } from '../../aggregation/ask-extension.js'
import { readAnswer } from './read-answer.js'
import { type RemoteEntry, readEntry } from './remote-entry.js'
import { type RemoteKind, remotePath } from './remote-kinds.js'

export interface RemoteClientParts {
  readonly services: ApiServiceSource
  readonly asker: ExtensionAsker
  readonly identity: Identity
  readonly signal: AbortSignal
  readonly now: () => number
}

export interface Place {
  readonly kind: RemoteKind
  readonly namespace: string
  readonly name: string
}

export interface RemotePage {
  readonly entries: readonly RemoteEntry[]
  readonly revision: string
  /** Empty: it was the last one. */
  readonly next: string
}

const askMs = 5000
const restMs = 10_000
const objectBytes = 4 << 20
const listBytes = 8 << 20
const pageObjects = 200
/** Longer than the server is asked to go on. */
const watchSeconds = 300
const idleMs = (watchSeconds + 30) * 1000

export class RemoteClient {
  readonly #parts: RemoteClientParts
  /** Until when those that did not answer are not asked again. */
  #resting = new WeakMap<RemoteTarget, number>()

  constructor(parts: RemoteClientParts) {
    this.#parts = parts
  }

  /** Those that did not answer may be asked again. */
  forgetFailures(): void {
    this.#resting = new WeakMap()
  }

  /** Undefined: the server says that there is none. Throws where it cannot be told. */
  async read({ kind, namespace, name }: Place): Promise<RemoteEntry | undefined> {
    const { status, document } = await this.#ask(kind, { path: remotePath(kind, namespace, name), accept: this.#accept('') }, objectBytes)
    // Not every answer with this status is about the object.
    if (status === 404 && isRecord(document) && document['kind'] === 'Status' && document['reason'] === 'NotFound') return undefined
    const entry = status === 200 ? readEntry(kind, document) : undefined
    if (entry === undefined) throw new NoAnswerError(`${kind.resource} ${name} was answered with status ${status}`)
    return entry
  }

  async list(kind: RemoteKind, next: string): Promise<RemotePage> {
    const path = `${remotePath(kind)}?limit=${pageObjects}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`
    const { status, document } = await this.#ask(kind, { path, accept: this.#accept('List') }, listBytes)
    if (status !== 200 || !isRecord(document) || !Array.isArray(document['items']))
      throw new NoAnswerError(`the list of ${kind.resource} was answered with status ${status}`)
    const { resourceVersion = '', continue: more = '' } = isRecord(document['metadata']) ? document['metadata'] : {}
    return {
      entries: document['items'].flatMap((item: unknown) => readEntry(kind, item) ?? []),
      revision: String(resourceVersion),
      next: String(more),
    }
  }

  /** The lines of a watch. */
  watch(kind: RemoteKind, revision: string, signal: AbortSignal): AsyncIterable<Buffer> {
    const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${watchSeconds}&resourceVersion=${encodeURIComponent(revision)}`
    return this.#parts.asker.follow(this.#targetOf(kind), {
      path: `${remotePath(kind)}?${query}`,
      accept: this.#accept(''),
      headMs: askMs,
      idleMs,
      mostLineBytes: objectBytes,
      signal,
    })
  }

  async remove(place: Place, options: object): Promise<void> {
    await this.#write(place, { method: 'DELETE', contentType: 'application/json', body: JSON.stringify(options) })
  }

  /** Gives what became of it. */
  patch(place: Place, changes: object): Promise<RemoteEntry | undefined> {
    return this.#write(place, { method: 'PATCH', contentType: 'application/merge-patch+json', body: JSON.stringify(changes) })
  }

  async #write(
    { kind, namespace, name }: Place,
    question: Pick<Question, 'method' | 'contentType' | 'body'>,
  ): Promise<RemoteEntry | undefined> {
    const path = remotePath(kind, namespace, name)
    const { status, document } = await this.#ask(kind, { path, accept: this.#accept(''), ...question }, objectBytes)
    if (status >= 200 && status <= 299) return readEntry(kind, document)
    const message =
      isRecord(document) && typeof document['message'] === 'string' ? document['message'] : `it was answered with status ${status}`
    if (status === 404 || status === 409) throw new ApiError({ code: status, reason: status === 404 ? 'NotFound' : 'Conflict', message })
    throw new NoAnswerError(`${question.method} ${path}: ${message}`)
  }

  async #ask(kind: RemoteKind, question: Omit<Question, 'timeoutMs' | 'mostBytes'>, mostBytes: number): Promise<Answer> {
    const target = this.#targetOf(kind)
    const { asker, signal, now } = this.#parts
    try {
      const { status, body } = await asker.ask(target, { ...question, timeoutMs: askMs, mostBytes, signal })
      return { status, document: await documentIn(body, signal) }
    } catch (thrown) {
      if (!signal.aborted) this.#resting.set(target, now() + restMs)
      throw thrown
    }
  }

  #targetOf({ version: { name } }: RemoteKind): RemoteTarget {
    const { services, now } = this.#parts
    const version = services.current.all.get(name)
    if (version?.remote === undefined || !version.isAvailable) throw new NoAnswerError(`the server of ${name} is not available`)
    if ((this.#resting.get(version.remote) ?? 0) > now()) throw new NoAnswerError(`the server of ${name} did not answer`)
    return version.remote
  }

  /** Whoever can, sends nothing but metadata. */
  #accept(suffix: '' | 'List'): string {
    const group = this.#parts.identity.group({ stem: 'meta' })
    return `application/json;as=PartialObjectMetadata${suffix};g=${group};v=v1,application/json`
  }
}

/** Another server did not answer, or not the question. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

interface Answer {
  readonly status: number
  readonly document: unknown
}

async function documentIn(body: Buffer, signal: AbortSignal): Promise<unknown> {
  try {
    return await inPieces(readAnswer(body), signal)
  } catch {
    signal.throwIfAborted()
    // Whoever asked finds nothing in it.
    return undefined
  }
}
