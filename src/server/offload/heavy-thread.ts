// The thread for requests that are too heavy for the event loop: started when the first of them comes, ended when none has come for a while.
//
// It is a server of its own on the same storage, as another replica would be, without a port and without loops. While a request waits, for a
// webhook for example, others are carried out; what they write is committed here, so that everybody hears of it.

import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import type { AdmissionTallies } from '../../admission/admission-tallies.js'
import type { TakeEvents } from '../../admission/plugins/event-rate-limit.js'
import type { Turns } from '../../admission/quota/turns.js'
import type { HookTallies } from '../../admission/webhooks/hook-tallies.js'
import type { Recording } from '../../admission/webhooks/review-recorder.js'
import { requestTimedOut, unavailable } from '../../api/api-error.js'
import type { Resource } from '../../api/catalog.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import { nothingDrawn } from '../../api/draws.js'
import { mastersGroup, type User } from '../../api/user.js'
import { timerMs } from '../../base/clock.js'
import type { Logger } from '../../base/logger.js'
import type { ItemForm } from '../../codec/item-form.js'
import type { ItemsText } from '../../codec/list-text.js'
import type { Offload, OffloadedAnswer, OffloadedRequest } from '../../http/offload.js'
import { OverloadedError } from '../../http/pressure.js'
import type { CertificateTally } from '../../net/shown-certificate.js'
import type { ItemMaker } from '../../objects/heavy-items.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { StoredObject } from '../../objects/stored-object.js'
import type { Storage } from '../../storage/storage.js'
import type { OwnRequest } from '../../verbs/engine.js'
import type { AdminCredential } from '../client-configuration.js'
import type { ParsedFlags } from '../options/parse-flags.js'
import { answerQuestion, replyOf, sentEntry } from './answer-question.js'
import { errorOf, failureOf } from './failure.js'
import { HeavyQueue } from './heavy-queue.js'
import type { FromThread, Question, Reply, SentCounts, SentEntry, SentOutcome, Task, ToThread } from './messages.js'
import { copyOf } from './own-bytes.js'
import { Silence } from './silence.js'
import { SyncServer } from './sync-calls.js'
import { isFound, needsKeys } from './thread-kinds.js'

export interface HeavyThreadParts {
  readonly flags: ParsedFlags
  /** The files that they name, by path. */
  readonly texts: ReadonlyMap<string, string>
  readonly credential: AdminCredential
  /** Where keys are kept, if they are. */
  readonly dataDir: string | undefined
  readonly ownCa: string
  readonly storage: Storage
  /** Hears how writes went. */
  readonly store: Pick<ObjectStore, 'noteWrite'>
  /** Those in which the event loop charges quotas. */
  readonly turns: Turns
  /** Where the event loop counts events. */
  readonly takeEvents: TakeEvents
  /** Where what admission does, and what webhooks show of themselves, is counted. */
  readonly counts: {
    readonly admission: AdmissionTallies | undefined
    readonly hooks: HookTallies
    readonly certificates: CertificateTally
  }
  /** Hears of reviews that hooks were sent, where they are recorded. */
  readonly keepRecording: (recording: Recording) => void
  readonly logger: Logger
  /** What is served now, and when that changes. */
  readonly catalogs: Pick<CatalogSource, 'current' | 'onChange'>
  /** How long a request may take. */
  readonly requestMs: number
  /** What is made of a request may be large, and is not the memory of the server. */
  readonly mostHeapMiB?: number
  /** How long it is kept without a request. */
  readonly idleMs?: number
}

interface Job {
  readonly task: Unnumbered<Task>
  readonly user: User
  readonly isWanted: () => boolean
  readonly resolve: (answer: never) => void
  readonly reject: (reason: unknown) => void
  /** Whether it may have written something. */
  hasCommitted: boolean
  /** Whether it is begun once more, with nobody beside it. */
  isAlone: boolean
  /** Whether its time was up long ago. */
  isOverdue: boolean
  timer: NodeJS.Timeout | undefined
}

type Unnumbered<T> = T extends Task ? Omit<T, 'catalog' | 'job'> : never

interface Thread {
  readonly worker: Worker
  readonly calls: SyncServer<Question, Reply<unknown>>
  readonly silence: Silence
  /** The turns at quotas that it has, each with what ends it. */
  readonly turns: Map<number, () => void>
}

/** One user can have a quarter of the room. */
const mostWaiting = { total: 32, ofOneUser: 8 }
/** Each may hold a large object while it waits for somebody else, and all have one memory. Masters are never kept out by others. */
const mostRunning = { total: 4, ofOneUser: 2, withMasters: 5, items: 4 }
const usualIdleMs = 30_000
/** How often somebody looks whether it is held. */
const watchMs = 500
/** For a request whose client was told that its time is up, before the thread is given up. */
const graceMs = 10_000
const defaultHeapMiB = 768

/**
 * For whom parts of lists and watches are made: they have a turn like a user, and are never refused, for there are no more of them than requests
 * that wait for one.
 */
const everybody: User = { name: 'system:heavy-items', uid: '', groups: [mastersGroup], extra: {} }

export class HeavyThread implements Offload, ItemMaker {
  readonly #parts: HeavyThreadParts
  readonly #waiting = new HeavyQueue<Job>(mostWaiting, ({ reject }) => reject(requestTimedOut()))
  /** How many threads were ended because a reply did not belong to their call. */
  mixedUp = 0
  /** By the number that the thread knows it by. */
  readonly #running = new Map<number, Job>()
  #jobs = 0
  /** Those that were carried out beside others when the thread ended: one of them may need more memory than there is. */
  #again: Job[] = []
  #thread: Thread | undefined
  #idle: NodeJS.Timeout | undefined
  #watching: NodeJS.Timeout | undefined
  #isClosed = false
  /** Resolves when those that were given up have ended. */
  #ended: Promise<unknown> = Promise.resolve()
  /** Of the kinds that are served. */
  #catalogNumber = 0
  readonly #unfollow: () => void

  constructor(parts: HeavyThreadParts) {
    this.#parts = parts
    this.#unfollow = parts.catalogs.onChange(() => {
      this.#catalogNumber += 1
    })
  }

  serves(resource: Resource): boolean {
    return this.#parts.dataDir !== undefined || !needsKeys(resource)
  }

  serve(request: OffloadedRequest, isWanted: () => boolean): Promise<OffloadedAnswer> {
    return this.#do({ kind: 'request', request }, request.user, isWanted)
  }

  /** A write of the server itself. */
  carryOut({ method, path, headers, body, user }: OwnRequest, isWanted: () => boolean): Promise<OffloadedAnswer> {
    const nothingYet = { warnings: [], answered: [], drawn: nothingDrawn }
    const own = { url: path, now: Date.now(), auditId: randomUUID(), remoteAddress: '', audit: undefined }
    return this.serve({ ...own, ...nothingYet, method, headers, body: Buffer.from(body), user }, isWanted)
  }

  knows({ wish, resource }: ItemForm): boolean {
    return wish !== undefined && isFound(this.#parts.catalogs.current, resource)
  }

  make({ wish: form, resource }: ItemForm, { entry }: StoredObject): Promise<Uint8Array> {
    const { group, version, subject } = resource
    if (form === undefined) return Promise.reject(new Error('a form that cannot be described was to be made elsewhere'))
    const item = { group, version, resource: subject.resource, form, entry: { ...entry, value: copyOf(entry.value) } }
    return this.#do({ kind: 'item', item }, everybody, () => true)
  }

  writeItems(text: ItemsText): Promise<Uint8Array> {
    return this.#do({ kind: 'text', text }, everybody, () => true)
  }

  #do<T>(task: Unnumbered<Task>, user: User, isWanted: () => boolean): Promise<T> {
    if (this.#isClosed) return Promise.reject(unavailable('the server is shutting down'))
    return new Promise((resolve: (answer: T) => void, reject) => {
      const job: Job = { task, user, isWanted, resolve, reject, hasCommitted: false, isAlone: false, isOverdue: false, timer: undefined }
      const hasRoom = this.#waiting.add(job)
      if (hasRoom) this.#next()
      else reject(new OverloadedError())
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#unfollow()
    for (const { reject } of [...this.#waiting.clear(), ...this.#again]) reject(unavailable('the server is shutting down'))
    this.#again = []
    await this.#end()
  }

  #next(): void {
    for (let job = this.#choose(); job !== undefined; job = this.#choose()) this.#begin(job)
    if (this.#running.size > 0) return
    this.#thread?.worker.unref()
    clearTimeout(this.#idle)
    clearInterval(this.#watching)
    this.#watching = undefined
    this.#idle = setTimeout(() => void this.#end(), this.#parts.idleMs ?? usualIdleMs).unref()
  }

  #choose(): Job | undefined {
    while (this.#running.size === 0 && this.#again.length > 0) {
      const again = this.#again.shift()
      if (again?.isWanted() === true) return again
      again?.reject(requestTimedOut())
    }
    if (this.#again.length > 0) return undefined
    for (const { isAlone } of this.#running.values()) if (isAlone) return undefined
    return this.#waiting.next(this.#mayBegin)
  }

  readonly #mayBegin = (user: User): boolean => {
    let own = 0
    let requests = 0
    for (const job of this.#running.values()) {
      if (job.user.name === user.name) own++
      if (job.user !== everybody) requests++
    }
    if (user === everybody) return own < mostRunning.items
    if (user.groups.includes(mastersGroup)) return requests < mostRunning.withMasters
    return requests < mostRunning.total && own < mostRunning.ofOneUser
  }

  #begin(job: Job): void {
    clearTimeout(this.#idle)
    this.#thread ??= this.#start()
    // Somebody waits for it.
    this.#thread.worker.ref()
    if (this.#running.size === 0) this.#thread.silence.begin()
    this.#watching ??= setInterval(() => this.#watch(), watchMs).unref()
    const number = ++this.#jobs
    this.#running.set(number, job)
    job.timer = setTimeout(
      () => {
        job.isOverdue = true
        void this.#end()
      },
      timerMs(this.#parts.requestMs + graceMs),
    ).unref()
    const message = { ...job.task, job: number, catalog: this.#catalogNumber } as Task
    this.#thread.worker.postMessage(message)
  }

  #finish(number: number): Job | undefined {
    const job = this.#running.get(number)
    this.#running.delete(number)
    clearTimeout(job?.timer)
    return job
  }

  #start(): Thread {
    const { flags, texts, credential, dataDir, ownCa } = this.#parts
    const calls = new SyncServer<Question, Reply<unknown>>((question) => {
      const reply = answerQuestion(this.#parts, question)
      return { reply, transfer: givenAway(reply) }
    })
    const worker = new Worker(new URL('./heavy-entry.js', import.meta.url), {
      workerData: { flags, texts, credential, dataDir, ownCa, calls: calls.link },
      transferList: [calls.link.port],
      // What was meant for this process, such as a profile, is not meant for its threads.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#parts.mostHeapMiB ?? defaultHeapMiB },
    })
    const thread = { worker, calls, silence: new Silence(), turns: new Map<number, () => void>() }
    worker.on('message', (message: FromThread) => void this.#hear(thread, message))
    worker.on('error', (error) => this.#lose(thread, error))
    worker.on('exit', () => this.#lose(thread, undefined))
    return thread
  }

  #watch(): void {
    const thread = this.#thread
    if (thread === undefined) return
    const jobs = [...this.#running.values()]
    const isAlone = jobs.some((job) => job.isAlone)
    const isForNobody = jobs.some((job) => !job.isWanted())
    const isHeld = thread.silence.isTooLong(isAlone && !isForNobody)
    if (isHeld && (isForNobody || this.#keepsOthers(jobs))) {
      for (const job of jobs) job.isOverdue = isAlone
      const why = isForNobody ? 'for a client that has gone' : 'while others waited'
      this.#parts.logger.warn({ requests: jobs.length }, `a request held up the thread for heavy requests ${why}`)
      void this.#end()
    } else thread.silence.ask(() => thread.worker.postMessage({ kind: 'ask' } satisfies ToThread))
  }

  #keepsOthers([first, ...others]: readonly Job[]): boolean {
    if (first === undefined) return false
    const isOther = ({ user }: Job): boolean => user.name !== first.user.name
    return others.some(isOther) || this.#again.some(isOther) || this.#waiting.hasOther(first.user)
  }

  async #hear(thread: Thread, message: FromThread): Promise<void> {
    thread.silence.end()
    if (message.kind === 'awake') return
    if (message.kind === 'answer' || message.kind === 'made' || message.kind === 'failed') {
      const job = this.#finish(message.job)
      if (message.kind === 'answer') this.#count(message.counts)
      if (message.kind === 'failed') job?.reject(errorOf(message.failure))
      else job?.resolve((message.kind === 'answer' ? message.answer : message.bytes) as never)
      this.#next()
      return
    }
    if (message.kind === 'recorded') {
      this.#parts.keepRecording(message.recording)
      return
    }
    if (message.kind === 'turn') {
      void this.#parts.turns.take(message.namespace, () => this.#giveTurn(thread, message.id))
      return
    }
    if (message.kind === 'turnOver') {
      thread.turns.get(message.id)?.()
      thread.turns.delete(message.id)
      return
    }
    const { id } = message
    const work = message.kind === 'commit' ? this.#commit(message) : this.#parts.storage.readIndex(message.purpose)
    const reply = await Promise.resolve(work).then(
      (value) => replyOf(this.#parts.storage, value),
      (thrown: unknown) => ({ failure: failureOf(thrown) }),
    )
    const answer: ToThread = { kind: 'done', id, reply }
    thread.worker.postMessage(answer)
  }

  /** Resolves when the thread gives it back, or has ended. */
  #giveTurn(thread: Thread, id: number): Promise<void> {
    if (this.#thread !== thread) return Promise.resolve()
    return new Promise((resolve) => {
      thread.turns.set(id, resolve)
      const given: ToThread = { kind: 'done', id, reply: replyOf(this.#parts.storage, undefined) }
      thread.worker.postMessage(given)
    })
  }

  #count({ plugins, policies, hooks, certificates }: SentCounts): void {
    const { counts } = this.#parts
    counts.admission?.addAll(plugins)
    counts.admission?.policies.addAll(policies)
    counts.hooks.addAll(hooks)
    counts.certificates.add(certificates)
  }

  async #commit({ job: number, writes }: Extract<FromThread, { kind: 'commit' }>): Promise<SentOutcome> {
    const job = this.#running.get(number)
    if (job?.isWanted() !== true) throw requestTimedOut()
    job.hasCommitted = true
    const { storage, store } = this.#parts
    const received = writes.map((write) => ({ ...write, value: write.value === undefined ? undefined : bufferOf(write.value) }))
    const outcome = await storage.commit(received).catch((thrown: unknown) => {
      store.noteWrite(thrown)
      throw thrown
    })
    store.noteWrite()
    return outcome.ok ? outcome : { ...outcome, current: sentEntry(outcome.current) }
  }

  /** A thread that ended by itself, for want of memory for example: what it was carrying out fails, and the next request starts another. */
  #lose(thread: Thread, error: Error | undefined): void {
    if (this.#thread !== thread) return
    this.#thread = undefined
    thread.calls.close()
    for (const end of thread.turns.values()) end()
    if (error !== undefined) this.#parts.logger.error({ err: error }, 'the thread for heavy requests ended')
    const isMixedUp = error?.name === 'SyncCallError'
    if (isMixedUp) this.mixedUp += 1
    const jobs = [...this.#running.keys()].flatMap((number) => this.#finish(number) ?? [])
    // Those that began last first: they are the least likely to have held the others.
    for (const job of jobs.reverse()) {
      // Whoever was beside the one that needed too much has done nothing wrong: each is tried once more by itself, if it has written nothing.
      if (isMixedUp) {
        job.reject(error)
        continue
      }
      const isTriedAgain = jobs.length > 1 && !job.isAlone && !job.hasCommitted && !job.isOverdue && !this.#isClosed
      if (isTriedAgain) this.#again.push({ ...job, isAlone: true })
      else job.reject(unavailable('the request takes more memory or time than there is for one'))
    }
    if (!this.#isClosed) this.#next()
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle)
    clearInterval(this.#watching)
    this.#watching = undefined
    const thread = this.#thread
    if (thread !== undefined) {
      this.#ended = Promise.all([this.#ended, thread.worker.terminate()])
      // Now, and not when it has ended: whoever comes meanwhile begins in another one.
      this.#lose(thread, undefined)
    }
    await this.#ended
  }
}

/** The bytes of an entry were copied for the thread, and need no second copy. */
const givenAway = (reply: Reply<unknown>): readonly ArrayBuffer[] =>
  'value' in reply && typeof reply.value === 'object' && reply.value !== null && 'value' in reply.value
    ? [(reply.value as SentEntry).value.buffer]
    : []

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
