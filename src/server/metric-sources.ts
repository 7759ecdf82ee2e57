// What the parts of a server let be read of them on `/metrics`, besides requests and watches, which are counted where they are served.

import { AdmissionTallies } from '../admission/admission-tallies.js'
import type { HookTallies } from '../admission/webhooks/hook-tallies.js'
import type { CatalogSource } from '../api/catalog-source.js'
import { featureGates } from '../api/feature-gates.js'
import type { Audit } from '../audit/audit.js'
import type { AuditTallies } from '../audit/backend.js'
import type { Histogram } from '../base/histogram.js'
import { durationBounds, type QueueCounters } from '../controllers/kit/counters.js'
import { flowFamilies } from '../http/flow/flow-metrics.js'
import type { Inflight } from '../http/inflight.js'
import type { LoopLag } from '../http/loop-lag.js'
import type { Family, Row } from '../http/metrics/exposition.js'
import { processFamilies } from '../http/metrics/process-families.js'
import type { MetricSource } from '../http/metrics/server-metrics.js'
import { versionDocument } from '../http/version.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { CollectionTally } from '../objects/store-tallies.js'
import type { Storage, StorageSize } from '../storage/storage.js'
import type { Engine } from '../verbs/engine.js'
import { admissionFamilies, certificateFamilies, hookFamilies } from './admission-metrics.js'
import { aggregationFamilies } from './aggregation-metrics.js'
import { authenticationFamilies } from './authentication-metrics.js'
import type { OpenExtensions } from './open-extensions.js'
import type { OpenFlowControl } from './open-flow-control.js'
import type { Settings } from './options/settings.js'
import type { Outbound } from './outbound.js'
import type { RunningLoops } from './start-loops.js'
import type { WorkerPool } from './workers/worker-pool.js'

export interface MeasuredParts {
  readonly settings: Pick<Settings, 'identity' | 'gates' | 'metrics'>
  readonly storage: Storage
  readonly engine: Pick<Engine, 'store' | 'admission' | 'access'>
  readonly hooks: HookTallies
  readonly outbound: Outbound
  readonly catalogs: CatalogSource
  readonly loops: RunningLoops
  readonly extensions: Pick<OpenExtensions, 'services' | 'tallies'>
  readonly inflight: Pick<Inflight, 'readOnly' | 'mutating'>
  readonly flow: OpenFlowControl | undefined
  readonly lag: LoopLag
  readonly audit: Audit | undefined
  readonly workers: { readonly pool: Pick<WorkerPool, 'counters' | 'queuedBytes'> }
  readonly state: { readonly handshakeErrors: number }
}

export function metricSources(parts: MeasuredParts): readonly MetricSource[] {
  const { countMs, sizeMs } = parts.settings.metrics
  const counted = everyPeriod(countMs, async () => objectCounts(parts))
  const measured = sizeMs === 0 ? async () => [] : everyPeriod(sizeMs, () => sizesOf(parts.storage))
  const built = buildFamilies(parts.settings)
  return [
    () => built,
    processFamilies,
    () => serverFamilies(parts),
    async () => storeFamilies(parts.engine.store, { objects: await counted(), sizes: await measured() }),
    () => loopFamilies(parts),
    () => aggregationFamilies(parts.extensions),
    () => (parts.engine.access.tallies === undefined ? [] : authenticationFamilies(parts.engine.access.tallies)),
    () => admissionFamilies(parts.engine.admission.tallies ?? new AdmissionTallies()),
    () => hookFamilies(parts.hooks),
    () => certificateFamilies(parts.outbound, parts.settings.identity),
    () => (parts.flow === undefined ? [] : flowFamilies(parts.flow.control, parts.flow.configs.tallies.values())),
    () => (parts.audit === undefined ? [] : auditFamilies(parts.audit.tallies)),
  ]
}

/** Asks when somebody wants to know and the last answer is older than a period; nothing is asked while nobody does. */
function everyPeriod<T>(periodMs: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { readonly atMs: number; readonly answer: Promise<T> } | undefined
  return () => {
    if (last === undefined || performance.now() - last.atMs >= periodMs) last = { atMs: performance.now(), answer: ask() }
    return last.answer
  }
}

const plain = (type: 'counter' | 'gauge', name: string, help: string, value: number): Family => ({
  name,
  type,
  help,
  labels: [],
  rows: [{ labels: [], value }],
})

const labelled = (
  type: Family['type'],
  { name, help, label }: { readonly name: string; readonly help: string; readonly label: string },
  rows: Iterable<Row>,
): Family => ({ name, type, help, labels: [label], rows })

const row = (label: string, value: Row['value']): Row => ({ labels: [label], value })

function serverFamilies({ engine: { store }, inflight, lag, state, workers: { pool } }: MeasuredParts): readonly Family[] {
  return [
    plain('gauge', 'apiserver_storage_revision', 'The newest revision in the store.', store.revision),
    plain('gauge', 'apiserver_read_cache_bytes', 'Bytes held for what is read again.', store.cacheBytes),
    plain('counter', 'apiserver_tls_handshake_errors_total', 'Connections that failed before they were encrypted.', state.handshakeErrors),
    plain('counter', 'apiserver_worker_steps_total', 'Steps on large inputs that worker threads ran.', pool.counters.steps),
    plain(
      'counter',
      'apiserver_worker_refused_total',
      'Requests refused with 429 because the queue for worker threads was full.',
      pool.counters.refused,
    ),
    plain('counter', 'apiserver_worker_failures_total', 'Worker threads ended for time or memory, or killed.', pool.counters.failedThreads),
    plain(
      'counter',
      'apiserver_worker_mismatches_total',
      'Results of worker threads that belonged to another task.',
      pool.counters.mismatches,
    ),
    plain('gauge', 'apiserver_worker_queue_bytes', 'Inputs that wait for a worker thread.', pool.queuedBytes),
    labelled(
      'gauge',
      { name: 'apiserver_current_inflight_requests', help: 'Requests that are being answered now.', label: 'request_kind' },
      [row('mutating', inflight.mutating), row('readOnly', inflight.readOnly)],
    ),
    plain('gauge', 'nodejs_eventloop_lag_seconds', 'How late the event loop was when last looked at; 0 without requests.', lag.seconds),
    {
      name: 'nodejs_eventloop_delay_seconds',
      type: 'histogram',
      help: 'How late the event loop was, looked at twenty times a second while there are requests.',
      labels: [],
      rows: [{ labels: [], value: lag.delays }],
    },
  ]
}

interface Measured {
  readonly objects: readonly Row[]
  readonly sizes: readonly StorageSize[]
}

function objectCounts({ engine: { store }, catalogs }: MeasuredParts): readonly Row[] {
  const kept = catalogs.current
    .collections()
    .filter(({ definition }) => definition.review === undefined && definition.computed === undefined)
  return kept.map((resource) => row(resource.collection, store.count(resource, '')))
}

/** A store that cannot be asked has no size for now. */
const sizesOf = async (storage: Storage): Promise<readonly StorageSize[]> => (await storage.measure?.().catch(() => [])) ?? []

function storeFamilies(store: ObjectStore, { objects, sizes }: Measured): readonly Family[] {
  const tallies = [...store.tallies.all()]
  const listed = (name: string, help: string, read: (tally: CollectionTally) => number): Family =>
    labelled(
      'counter',
      { name, help, label: 'resource' },
      tallies.filter(({ lists }) => lists > 0).map((tally) => row(tally.collection, read(tally))),
    )
  return [
    labelled('gauge', { name: 'apiserver_storage_objects', help: 'Objects in the store.', label: 'resource' }, objects),
    ...(sizes.length === 0 ? [] : [sizeFamily(sizes)]),
    listed('apiserver_storage_list_total', 'Lists that were read.', ({ lists }) => lists),
    listed('apiserver_storage_list_fetched_objects_total', 'Objects that were read for lists.', ({ fetched }) => fetched),
    listed('apiserver_storage_list_evaluated_objects_total', 'Objects that were looked at for lists.', ({ evaluated }) => evaluated),
    listed('apiserver_storage_list_returned_objects_total', 'Objects that were listed to clients.', ({ returned }) => returned),
    labelled(
      'counter',
      { name: 'apiserver_init_events_total', help: 'Events of the time before a watch that it began with.', label: 'resource' },
      tallies.filter(({ initEvents }) => initEvents > 0).map(({ collection, initEvents }) => row(collection, initEvents)),
    ),
    {
      name: 'etcd_request_duration_seconds',
      type: 'histogram',
      help: 'How long the store took, whichever engine it is, by operation and resource.',
      labels: ['operation', 'type'],
      rows: tallies.flatMap(({ collection, durations }) =>
        Array.from(durations, ([operation, value]) => ({ labels: [operation, collection], value })),
      ),
    },
  ]
}

const sizeFamily = (sizes: readonly StorageSize[]): Family =>
  labelled(
    'gauge',
    { name: 'apiserver_storage_db_total_size_in_bytes', help: 'Room that the store takes where it is kept.', label: 'endpoint' },
    sizes.map(({ endpoint, bytes }) => row(endpoint, bytes)),
  )

function loopFamilies({ loops, settings }: MeasuredParts): readonly Family[] {
  const queues = [...loops.counters.all()]
  const of = (type: Family['type'], name: string, help: string, read: (queue: QueueCounters) => Row['value']): Family =>
    labelled(
      type,
      { name: `workqueue_${name}`, help, label: 'name' },
      queues.map((queue) => row(queue.name, read(queue))),
    )
  const durations = ({ counts, sum }: Pick<Histogram, 'counts' | 'sum'>): Row['value'] => ({ bounds: durationBounds, counts, sum })
  return [
    of('counter', 'adds_total', 'Keys that were put into the queue of a loop.', ({ adds }) => adds),
    of('counter', 'retries_total', 'Keys that were put into it again because the work failed.', ({ retries }) => retries),
    of('gauge', 'depth', 'Keys that wait in it.', ({ state }) => state().depth),
    of('gauge', 'unfinished_work_seconds', 'What the work that runs has taken so far.', ({ state }) => state().unfinishedSeconds),
    of('gauge', 'longest_running_processor_seconds', 'The longest of it.', ({ state }) => state().longestRunningSeconds),
    of('histogram', 'queue_duration_seconds', 'How long keys waited.', ({ queued }) => durations(queued)),
    of('histogram', 'work_duration_seconds', 'How long the work on a key took.', ({ worked }) => durations(worked)),
    labelled('gauge', { name: 'leader_election_master_status', help: 'Whether the loops run in this server.', label: 'name' }, [
      row(settings.identity.prefixed('apiserver-loops'), loops.isLeading() ? 1 : 0),
    ]),
  ]
}

const auditFamilies = ({ events, rejected, levels, errors }: AuditTallies): readonly Family[] => [
  plain('counter', 'apiserver_audit_event_total', 'Audit events that were made and handed to the backends.', events),
  plain('counter', 'apiserver_audit_requests_rejected_total', 'Requests that were refused because they could not be audited.', rejected),
  labelled(
    'counter',
    { name: 'apiserver_audit_level_total', help: 'Requests by the level at which they are audited.', label: 'level' },
    Array.from(levels, ([level, count]) => row(level, count)),
  ),
  labelled(
    'counter',
    { name: 'apiserver_audit_error_total', help: 'Audit events that were lost, by the part that lost them.', label: 'plugin' },
    Array.from(errors, ([plugin, count]) => row(plugin, count)),
  ),
]

/** They do not change while the server runs. */
function buildFamilies({ identity, gates }: MeasuredParts['settings']): readonly Family[] {
  const version = versionDocument()
  const text = (name: string): string => String(version[name] ?? '')
  return [
    {
      name: `${identity.self}_build_info`,
      type: 'gauge',
      help: 'From what this server was built.',
      labels: ['build_date', 'compiler', 'git_commit', 'git_tree_state', 'git_version', 'go_version', 'major', 'minor', 'platform'],
      rows: [
        {
          labels: [
            ...['buildDate', 'compiler', 'gitCommit', 'gitTreeState', 'gitVersion', 'goVersion', 'major', 'minor', 'platform'].map(text),
          ],
          value: 1,
        },
      ],
    },
    {
      name: `${identity.self}_feature_enabled`,
      type: 'gauge',
      help: 'Which features are on; a stable one has no stage.',
      labels: ['name', 'stage'],
      rows: Array.from(featureGates.values(), ({ name, stage }) => ({
        labels: [name, stage === 'stable' ? '' : stage.toUpperCase()],
        value: gates(name) ? 1 : 0,
      })),
    },
  ]
}
