// The embedding API: startServer runs a server inside the caller's process.

import type { IdentityName } from '@cluster-apiserver/api/api/identity.js'
import { type LogFields, type Logger, silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { makePrivateFolder } from '../options/files/private-files.js'
import { flagError } from '../options/flags/flag.js'
import { parseFlags } from '../options/flags/parse-flags.js'
import { readSettings } from '../options/read-settings.js'
import {
  checkOptions,
  type EtcdLocation,
  type FirstObject,
  type ObjectValue,
  type ServerOptions,
  type SimulatedNodeTemplate,
} from '../options/server-options.js'
import type { Settings } from '../options/settings.js'
import { readObjects } from './embedding/apply-objects.js'
import { startEmbedded } from './embedding/start-embedded.js'
import type { Access, EmbeddedServer, RunningServer } from './running-server.js'
import type { Duration } from './testkit/duration.js'
import type { FaultError, FaultRule, FaultVerb, WatchFault } from './testkit/faults/fault-rule.js'
import type { Fault, Faults } from './testkit/faults/fault-rules.js'
import type { FieldChange } from './testkit/inspection/field-changes.js'
import type { Leak } from './testkit/inspection/leaks.js'
import type { ObjectHistory, ObjectVersion } from './testkit/inspection/object-history.js'
import type { RecordedRequest } from './testkit/inspection/recorded-request.js'
import type { RequestFilter } from './testkit/inspection/request-filter.js'
import type { RequestLog } from './testkit/inspection/request-log.js'
import type { ServerClock } from './testkit/movable-clock.js'
import type { ObjectRef } from './testkit/object-ref.js'
import type { NodeFailure, SimulatedNodes } from './testkit/simulated-nodes.js'
import type { Snapshot } from './testkit/snapshot.js'
import type { AdmissionReviewRequest, ReviewedObject, ReviewFunction, ReviewRequest } from './testkit/webhooks/review-functions.js'
import type { ReplayedReview, TestReview, TestWebhook } from './testkit/webhooks/test-webhook.js'
import type { WebhookKind, WebhookSpec } from './testkit/webhooks/webhook-spec.js'

export type {
  Access,
  AdmissionReviewRequest,
  Duration,
  EmbeddedServer,
  EtcdLocation,
  Fault,
  FaultError,
  FaultRule,
  Faults,
  FaultVerb,
  FieldChange,
  FirstObject,
  IdentityName,
  Leak,
  LogFields,
  Logger,
  NodeFailure,
  ObjectHistory,
  ObjectRef,
  ObjectValue,
  ObjectVersion,
  RecordedRequest,
  ReplayedReview,
  RequestFilter,
  RequestLog,
  ReviewedObject,
  ReviewFunction,
  ReviewRequest,
  RunningServer,
  ServerClock,
  ServerOptions,
  SimulatedNodes,
  SimulatedNodeTemplate,
  Snapshot,
  TestReview,
  TestWebhook,
  WatchFault,
  WebhookKind,
  WebhookSpec,
}

/** Starts a server. Several can run concurrently; `close()` releases all resources. */
export async function startServer(options: ServerOptions = {}): Promise<EmbeddedServer> {
  checkOptions(options)
  const { dataDir, etcd } = options
  const isInMemory = dataDir === undefined && etcd === undefined
  const objects = readObjects(options.objects ?? [])
  if (dataDir !== undefined) makePrivateFolder(dataDir)
  const settings = await readSettings(
    parseFlags([
      `--secure-port=${options.port ?? 0}`,
      `--bind-address=${options.bindAddress ?? '127.0.0.1'}`,
      `--identity=${options.identity ?? 'cluster'}`,
      ...(dataDir === undefined ? [] : [`--data-dir=${dataDir}`]),
      ...(etcd === undefined ? [] : etcdFlags(etcd)),
      ...(isInMemory ? ['--storage-backend=memory'] : []),
      ...(options.testkit === true ? ['--testkit'] : []),
      ...(options.nodes === undefined ? [] : [`--simulate-nodes=${typeof options.nodes === 'number' ? options.nodes : 0}`]),
      ...(options.flags ?? []),
    ]),
  )
  if (settings.workers > 1) throw flagError('workers', 'startServer runs in the process of its caller; use the command cluster-apiserver')
  // The default of --data-dir is for the command only.
  const embeddedSettings = { ...settings, ...(dataDir === undefined ? { dataDir } : {}), ...simulationOf(options, settings) }
  const { signal, from } = options
  return startEmbedded(embeddedSettings, options.logger ?? silentLogger, { signal, objects, from })
}

/** Answers reviews that `TestWebhook.save` wrote with a function, without a server. */
export async function replayReviews<Kind extends WebhookKind>(
  path: string,
  kind: Kind,
  answer: ReviewFunction<Kind>,
): Promise<readonly ReplayedReview<Kind>[]> {
  const recordings = await import('./testkit/webhooks/review-recordings.js')
  return recordings.replayReviews(path, kind, answer)
}

/** Templates of nodes, which are no flag. */
const simulationOf = ({ nodes }: ServerOptions, { simulation }: Settings): Pick<Settings, 'simulation'> =>
  typeof nodes === 'object'
    ? { simulation: { nodes: 0, ...simulation, templates: { origin: 'startServer', value: { nodes } } } }
    : { simulation }

const etcdFlags = ({ servers, prefix, caFile, certFile, keyFile }: EtcdLocation): readonly string[] => [
  `--etcd-servers=${servers.join(',')}`,
  ...(prefix === undefined ? [] : [`--etcd-prefix=${prefix}`]),
  ...(caFile === undefined ? [] : [`--etcd-cafile=${caFile}`]),
  ...(certFile === undefined ? [] : [`--etcd-certfile=${certFile}`]),
  ...(keyFile === undefined ? [] : [`--etcd-keyfile=${keyFile}`]),
]
