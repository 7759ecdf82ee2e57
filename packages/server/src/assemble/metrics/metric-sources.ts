// Component metrics on /metrics; metrics of requests, watches, pod logs and tracing are in other files.

import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { featureGates } from '@cluster-apiserver/api/api/feature-gates/feature-gates.js'
import type { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import { AdmissionCounters } from '../../admission/admission-counters.js'
import type { WebhookCounters } from '../../admission/webhooks/webhook-counters.js'
import type { Audit } from '../../audit/audit.js'
import { durationBounds, type QueueCounters } from '../../controllers/framework/queue-metrics.js'
import type { EventLoopLag } from '../../flow-control/event-loop-lag.js'
import type { MaxInFlight } from '../../flow-control/max-in-flight.js'
import { versionDocument } from '../../http/discovery/version-document.js'
import { flowFamilies } from '../../http/metrics/flow-control-metrics.js'
import { processFamilies } from '../../http/metrics/process-metrics.js'
import type { Family, Row } from '../../http/metrics/prometheus-exposition.js'
import type { MetricSource } from '../../http/metrics/request-metrics.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { CollectionCounter } from '../../objects/store-metrics.js'
import type { Settings } from '../../options/settings.js'
import type { Storage, StorageSize } from '../../storage/storage.js'
import type { WorkerPool } from '../../threads/worker-pool.js'
import type { Engine } from '../../verbs/engine.js'
import type { Aggregation } from '../create-aggregation.js'
import type { FlowControlParts } from '../create-flow-control.js'
import type { Outbound } from '../outbound.js'
import type { RunningControllers } from '../start-controllers.js'
import {
  admissionFamilies,
  aggregationFamilies,
  auditFamilies,
  authenticationFamilies,
  certificateFamilies,
  webhookFamilies,
} from './metric-families.js'
import { type Cells, family, single } from './metric-family.js'

interface MetricParts {
  readonly settings: Pick<Settings, 'identity' | 'gates' | 'metrics'>
  readonly storage: Storage
  readonly engine: Pick<Engine, 'store' | 'admission' | 'access'>
  readonly webhooks: WebhookCounters
  readonly outbound: Outbound
  readonly catalogs: CatalogSource
  readonly controllers: RunningControllers
  readonly extensions: Pick<Aggregation, 'services' | 'counters'>
  readonly inflight: Pick<MaxInFlight, 'readOnly' | 'mutating'>
  readonly flow: FlowControlParts | undefined
  readonly lag: EventLoopLag
  readonly audit: Audit | undefined
  readonly workers: { readonly pool: Pick<WorkerPool, 'counters' | 'queuedBytes'> }
  readonly state: { readonly handshakeErrors: number }
}

export function metricSources(parts: MetricParts): readonly MetricSource[] {
  const { countMs, sizeMs } = parts.settings.metrics
  const readCounts = cacheFor(countMs, async () => objectCounts(parts))
  const readSizes = sizeMs === 0 ? async () => [] : cacheFor(sizeMs, () => sizesOf(parts.storage))
  const buildInfo = buildFamilies(parts.settings)
  return [
    () => buildInfo,
    processFamilies,
    () => serverFamilies(parts),
    async () => storeFamilies(parts.engine.store, { objects: await readCounts(), sizes: await readSizes() }),
    () => controllerFamilies(parts),
    () => aggregationFamilies(parts.extensions),
    () => (parts.engine.access.counters === undefined ? [] : authenticationFamilies(parts.engine.access.counters)),
    () => admissionFamilies(parts.engine.admission.counters ?? new AdmissionCounters()),
    () => webhookFamilies(parts.webhooks),
    () => certificateFamilies(parts.outbound, parts.settings.identity),
    () => (parts.flow === undefined ? [] : flowFamilies(parts.flow.control, parts.flow.configs.counters.values())),
    () => (parts.audit === undefined ? [] : auditFamilies(parts.audit.counters)),
  ]
}

/** Caches a result for `periodMs`. */
function cacheFor<T>(periodMs: number, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly atMs: number; readonly result: Promise<T> } | undefined
  return () => {
    if (last === undefined || performance.now() - last.atMs >= periodMs) last = { atMs: performance.now(), result: read() }
    return last.result
  }
}

function serverFamilies({ engine: { store }, inflight, lag, state, workers: { pool } }: MetricParts): readonly Family[] {
  const { steps, refused, failedThreads, mismatches } = pool.counters
  return [
    single('gauge', 'apiserver_storage_revision', 'Newest revision of the store.', store.revision),
    single('gauge', 'apiserver_read_cache_bytes', 'Size of the read caches in bytes.', store.cacheBytes),
    single('counter', 'apiserver_tls_handshake_errors_total', 'Connections whose TLS handshake failed.', state.handshakeErrors),
    single('counter', 'apiserver_worker_steps_total', 'Steps on large inputs that worker threads ran.', steps),
    single(
      'counter',
      'apiserver_worker_refused_total',
      'Requests refused with 429 because the queue for worker threads was full.',
      refused,
    ),
    single(
      'counter',
      'apiserver_worker_failures_total',
      'Worker threads that ended because of a limit of time or memory, or were killed.',
      failedThreads,
    ),
    single('counter', 'apiserver_worker_mismatches_total', 'Results of worker threads that belonged to another task.', mismatches),
    single('gauge', 'apiserver_worker_queue_bytes', 'Bytes of inputs that wait for a worker thread.', pool.queuedBytes),
    family('gauge', 'apiserver_current_inflight_requests', 'Requests in flight.', 'request_kind', [
      ['mutating', inflight.mutating],
      ['readOnly', inflight.readOnly],
    ]),
    single('gauge', 'nodejs_eventloop_lag_seconds', 'Last measured event loop lag; 0 without requests.', lag.seconds),
    single(
      'histogram',
      'nodejs_eventloop_delay_seconds',
      'Event loop lag, measured twenty times a second while there are requests.',
      lag.delays,
    ),
  ]
}

interface StoreMeasurements {
  readonly objects: readonly Cells[]
  readonly sizes: readonly StorageSize[]
}

const objectCounts = ({ engine: { store }, catalogs }: MetricParts): readonly Cells[] =>
  catalogs.current
    .collections()
    .filter(({ definition }) => definition.review === undefined && definition.computed === undefined)
    .map((resource) => [resource.collection, store.count(resource, '')])

/** Empty if the storage is unavailable. */
const sizesOf = async (storage: Storage): Promise<readonly StorageSize[]> => (await storage.measure?.().catch(() => [])) ?? []

function storeFamilies(store: ObjectStore, { objects, sizes }: StoreMeasurements): readonly Family[] {
  const counters = [...store.counters.all()]
  const counterFamily = (name: string, help: string, read: (counter: CollectionCounter) => number, isShown = read): Family =>
    family(
      'counter',
      name,
      help,
      'resource',
      counters.filter((counter) => isShown(counter) > 0).map((counter) => [counter.collection, read(counter)]),
    )
  const listFamily = (name: string, help: string, read: (counter: CollectionCounter) => number): Family =>
    counterFamily(`apiserver_storage_list_${name}`, help, read, ({ lists }) => lists)
  const sizeHelp = 'Size of the database in bytes, by endpoint.'
  return [
    family('gauge', 'apiserver_storage_objects', 'Objects in the store.', 'resource', objects),
    ...(sizes.length === 0
      ? []
      : [
          family(
            'gauge',
            'apiserver_storage_db_total_size_in_bytes',
            sizeHelp,
            'endpoint',
            sizes.map(({ endpoint, bytes }) => [endpoint, bytes]),
          ),
        ]),
    listFamily('total', 'List operations.', ({ lists }) => lists),
    listFamily('fetched_objects_total', 'Objects that were read for lists.', ({ fetched }) => fetched),
    listFamily('evaluated_objects_total', 'Objects that were tested with selectors for lists.', ({ evaluated }) => evaluated),
    listFamily('returned_objects_total', 'Objects that lists returned to clients.', ({ returned }) => returned),
    counterFamily(
      'apiserver_init_events_total',
      'Initial events of watches: existing objects and history.',
      ({ initEvents }) => initEvents,
    ),
    family(
      'histogram',
      'etcd_request_duration_seconds',
      'Duration of storage operations, with any storage engine.',
      'operation type',
      counters.flatMap(({ collection, durations }) => Array.from(durations, ([operation, value]): Cells => [operation, collection, value])),
    ),
  ]
}

function controllerFamilies({ controllers, settings }: MetricParts): readonly Family[] {
  const queues = [...controllers.counters.all()]
  const queueFamily = (type: Family['type'], name: string, help: string, read: (queue: QueueCounters) => Row['value']): Family =>
    family(
      type,
      `workqueue_${name}`,
      help,
      'name',
      queues.map((queue) => [queue.name, read(queue)]),
    )
  const durations = ({ counts, sum }: Pick<Histogram, 'counts' | 'sum'>): Row['value'] => ({ bounds: durationBounds, counts, sum })
  return [
    queueFamily('counter', 'adds_total', 'Keys that were added to the work queue.', ({ adds }) => adds),
    queueFamily('counter', 'retries_total', 'Keys that were added again because their reconciliation failed.', ({ retries }) => retries),
    queueFamily('gauge', 'depth', 'Keys that wait in the work queue.', ({ state }) => state().depth),
    queueFamily(
      'gauge',
      'unfinished_work_seconds',
      'Duration so far of all running reconciliations.',
      ({ state }) => state().unfinishedSeconds,
    ),
    queueFamily(
      'gauge',
      'longest_running_processor_seconds',
      'Duration so far of the longest running reconciliation.',
      ({ state }) => state().longestRunningSeconds,
    ),
    queueFamily('histogram', 'queue_duration_seconds', 'Wait time of keys in the work queue.', ({ queued }) => durations(queued)),
    queueFamily('histogram', 'work_duration_seconds', 'Duration of the reconciliation of a key.', ({ worked }) => durations(worked)),
    family('gauge', 'leader_election_master_status', '1 if the controllers run in this server.', 'name', [
      [settings.identity.prefixed('apiserver-loops'), controllers.isLeading() ? 1 : 0],
    ]),
  ]
}

const versionFields = ['buildDate', 'compiler', 'gitCommit', 'gitTreeState', 'gitVersion', 'goVersion', 'major', 'minor', 'platform']

function buildFamilies({ identity, gates }: MetricParts['settings']): readonly Family[] {
  const version = versionDocument()
  return [
    family(
      'gauge',
      `${identity.self}_build_info`,
      'Version, commit and platform of the build.',
      'build_date compiler git_commit git_tree_state git_version go_version major minor platform',
      [[...versionFields.map((name) => String(version[name] ?? '')), 1]],
    ),
    family(
      'gauge',
      `${identity.self}_feature_enabled`,
      '1 for enabled feature gates; the stage of a stable one is empty.',
      'name stage',
      Array.from(featureGates.values(), ({ name, stage }) => [name, stage === 'stable' ? '' : stage.toUpperCase(), gates(name) ? 1 : 0]),
    ),
  ]
}
