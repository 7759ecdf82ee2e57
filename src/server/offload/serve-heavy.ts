// What runs in the thread for heavy requests: a server without a port, whose storage is that of the event loop.

import { parentPort, workerData } from 'node:worker_threads'
import type { AdmissionTallies } from '../../admission/admission-tallies.js'
import type { FindOwners } from '../../admission/owner-kinds.js'
import type { Turns } from '../../admission/quota/turns.js'
import { HookTallies } from '../../admission/webhooks/hook-tallies.js'
import { type RecordReview, recordingOf } from '../../admission/webhooks/review-recorder.js'
import { CatalogSource } from '../../api/catalog-source.js'
import { RbacIndex } from '../../auth/rbac/rbac-index.js'
import { steadyClock } from '../../base/clock.js'
import { Closing } from '../../base/closing.js'
import { silentLogger } from '../../base/logger.js'
import { writeItems } from '../../codec/list-text.js'
import { recordFor } from '../../http/auditing.js'
import { collectAnswer } from '../../http/collected-exchange.js'
import type { Exchange } from '../../http/exchange.js'
import { requestListener } from '../../http/handle.js'
import { Pressure } from '../../http/pressure.js'
import { serveResource } from '../../http/resource-endpoint.js'
import { ObjectStore } from '../../objects/object-store.js'
import { type ServiceRanges, serviceRangesOf } from '../../resources/core/service-allocation.js'
import type { Storage } from '../../storage/storage.js'
import { ClientTrust } from '../client-trust.js'
import { makeEngine } from '../make-engine.js'
import { type HookParts, openHooks } from '../open-hooks.js'
import { readSettings } from '../options/read-settings.js'
import type { Settings } from '../options/settings.js'
import { hookWays, type Outbound, openOutbound } from '../outbound.js'
import { servedCatalog } from '../served-catalog.js'
import { failureOf } from './failure.js'
import { makeHeavyItem } from './make-heavy-item.js'
import type { FromThread, Reply, SentCounts, SentOutcome, Task, ThreadStart, ToThread } from './messages.js'
import { ownBytes } from './own-bytes.js'
import { SyncCaller } from './sync-calls.js'
import { ThreadCatalog } from './thread-catalog.js'
import { type StorageWrites, ThreadStorage } from './thread-storage.js'

/** What is made once for all requests of the thread. */
interface Prepared {
  readonly start: ThreadStart
  readonly calls: SyncCaller
  readonly settings: Settings
  readonly catalog: ThreadCatalog
  readonly serviceRanges: ServiceRanges
  readonly trust: ClientTrust
  readonly pressure: Pressure
  readonly hooks: HookParts
  readonly outbound: Outbound
}

async function prepare(start: ThreadStart): Promise<Prepared> {
  const settings = { ...(await readSettings(start.flags, start.texts)), dataDir: start.dataDir }
  const outbound = openOutbound(settings)
  const calls = new SyncCaller(start.calls, endThread)
  return {
    start,
    calls,
    settings,
    catalog: new ThreadCatalog(servedCatalog(settings), () => storeOf(settings, new ThreadStorage(calls, readsOnly)), hookWays(outbound)),
    serviceRanges: serviceRangesOf(settings.network),
    trust: new ClientTrust(settings.authentication, start.ownCa, silentLogger),
    pressure: new Pressure({
      bodyBytes: Number.POSITIVE_INFINITY,
      answerBytes: Number.POSITIVE_INFINITY,
      answerMs: settings.timeouts.requestMs,
    }),
    hooks: openHooks(settings, outbound, () => true),
    outbound,
  }
}

/** As an uncaught exception before anything else runs in this thread: it must not serve anybody any more. */
const endThread = (error: Error): void =>
  queueMicrotask(() => {
    throw error
  })

/** What is given away is not copied. */
const say = (message: FromThread, given: readonly ArrayBuffer[] = []): void => parentPort?.postMessage(message, given)

const unanswered = new Map<number, (reply: Reply<never>) => void>()
let questions = 0

const ask = <T>(make: (id: number) => FromThread, given?: readonly ArrayBuffer[]): Promise<Reply<T>> =>
  new Promise((resolve) => {
    const id = ++questions
    unanswered.set(id, resolve)
    say(make(id), given)
  })

const readIndex: StorageWrites['readIndex'] = (purpose) => ask<number>((id) => ({ kind: 'readIndex', id, purpose }))

const writesOf = (job: number): StorageWrites => ({
  commit: (sent) =>
    ask<SentOutcome>(
      (id) => ({ kind: 'commit', job, id, writes: sent }),
      sent.flatMap(({ value }) => value?.buffer ?? []),
    ),
  readIndex,
})

const readsOnly: StorageWrites = { commit: () => Promise.reject(new Error('nothing is written here')), readIndex }

/** The event loop has the turns, so that nobody there writes in between. */
const turns: Turns = {
  async take(namespace, work) {
    let turn = 0
    await ask<undefined>((id) => {
      turn = id
      return { kind: 'turn', id, namespace }
    })
    try {
      return await work()
    } finally {
      say({ kind: 'turnOver', id: turn })
    }
  },
}

const storeOf = ({ eventTtlSeconds }: Settings, storage: Storage): ObjectStore =>
  new ObjectStore({ storage, clock: steadyClock, readCacheBytes: 0, eventTtlSeconds })

type Requested = Extract<Task, { kind: 'request' }>

async function serve(
  prepared: Prepared,
  { request, job, catalog: number }: Requested,
): Promise<Pick<Extract<FromThread, { kind: 'answer' }>, 'answer' | 'counts'>> {
  const { start, calls, settings, serviceRanges, trust, pressure, hooks, outbound } = prepared
  const storage = new ThreadStorage(calls, writesOf(job))
  const store = storeOf(settings, storage)
  const catalog = prepared.catalog.at(number, store)
  // Of its own, for whoever listens to it goes with the request.
  const catalogs = new CatalogSource(catalog)
  const closing = new Closing()
  const rbac = new RbacIndex(store, catalog)
  const { credential } = start
  const findOwners: FindOwners = (apiVersion, kind) => storage.owners(apiVersion, kind)
  // Of this request alone: the event loop counts it with its own.
  const tallies = new HookTallies()
  const engine = makeEngine(settings, {
    store,
    catalogs,
    credential,
    serviceRanges,
    trust,
    rbac,
    closing,
    logger: silentLogger,
    turns,
    findOwners,
    takeEvents: (keys) => storage.takeEvents(keys),
    outbound,
    hooks: { ...hooks, tallies, record: hooks.recorder === undefined ? undefined : sayRecorded },
  })
  const resources = { engine, minRequestTimeoutMs: settings.timeouts.minWatchMs }
  let served: Exchange | undefined
  let panic: string | undefined
  const listener = requestListener({
    filters: [
      (exchange) => {
        served = exchange
        exchange.user = request.user
        exchange.goOnFrom(request)
        if (request.audit !== undefined) exchange.audited = recordFor(exchange, request.audit)
        return serveResource(resources, exchange)
      },
    ],
    hooks: [
      {
        panic: (_exchange, thrown) => {
          panic = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
        },
      },
    ],
    catalogs,
    clock: { now: () => request.now },
    requestTimeoutMs: settings.timeouts.requestMs,
    pressure,
  })
  try {
    const collected = await collectAnswer(listener, request)
    const answer = { ...collected, annotations: [...(served?.annotations ?? [])], audited: served?.audited?.kept, panic }
    return { answer, counts: countsOf(engine.admission.tallies, tallies, outbound) }
  } finally {
    store.close()
    await closing.close()
  }
}

const countsOf = (admission: AdmissionTallies | undefined, hooks: HookTallies, { webhooks }: Outbound): SentCounts => ({
  plugins: [...(admission?.plugins() ?? []), ...(admission?.wholeSteps() ?? [])],
  policies: [...(admission?.policies.checks() ?? [])],
  hooks: hooks.counts(),
  certificates: webhooks.take(),
})

/** The event loop has the recordings; what is secret stays here. */
const sayRecorded: RecordReview = (hook, type, text, outcome) => {
  const recording = recordingOf(hook, type, text, outcome)
  if (recording !== undefined) say({ kind: 'recorded', recording })
}

/** What is made of an object for a list or a watch that the event loop sends. */
async function make(prepared: Prepared, task: Exclude<Task, { kind: 'request' }>): Promise<Uint8Array> {
  if (task.kind === 'text') return Buffer.from(writeItems(task.text))
  const store = storeOf(prepared.settings, new ThreadStorage(prepared.calls, readsOnly))
  try {
    return await makeHeavyItem(prepared.settings, prepared.catalog.at(task.catalog, store), task.item)
  } finally {
    store.close()
  }
}

async function sayMade(prepared: Prepared, task: Exclude<Task, { kind: 'request' }>): Promise<void> {
  try {
    const bytes = ownBytes(await make(prepared, task))
    say({ kind: 'made', job: task.job, bytes }, [bytes.buffer])
  } catch (thrown) {
    say({ kind: 'failed', job: task.job, failure: failureOf(thrown) })
  }
}

async function sayServed(prepared: Prepared, task: Requested): Promise<void> {
  try {
    const { answer, counts } = await serve(prepared, task)
    const body = ownBytes(answer.body)
    say({ kind: 'answer', job: task.job, answer: { ...answer, body }, counts }, [body.buffer])
  } catch (thrown) {
    say({ kind: 'failed', job: task.job, failure: failureOf(thrown) })
  }
}

/** Serves what the thread is sent, until it ends. */
export async function serveHeavy(): Promise<void> {
  const prepared = await prepare(workerData as ThreadStart)
  parentPort?.on('message', (message: ToThread) => {
    if (message.kind === 'request') {
      void sayServed(prepared, message)
      return
    }
    if (message.kind === 'ask') {
      say({ kind: 'awake' })
      return
    }
    if (message.kind !== 'done') {
      void sayMade(prepared, message)
      return
    }
    const answer = unanswered.get(message.id)
    unanswered.delete(message.id)
    answer?.(message.reply as Reply<never>)
  })
  say({ kind: 'awake' })
}
