// Creates the request listener: the filters in order, the callbacks of metrics, logs and tracing, and the endpoints.

import { hostname } from 'node:os'
import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { anonymous } from '@cluster-apiserver/api/api/user.js'
import { steadyClock } from '@cluster-apiserver/api/base/clock.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { apiGroupDiscovery } from '@cluster-apiserver/api/resources/apidiscovery/v2beta1.schema.js'
import { describeType } from '@cluster-apiserver/api/resources/descriptions/describe-type.js'
import { Audit, type AuditBackend, AuditCounters, type Backend } from '../audit/audit.js'
import { compilePolicy } from '../audit/audit-policy.js'
import { BufferedBackend } from '../audit/buffered-backend.js'
import { LinePipe } from '../audit/line-pipe.js'
import { type LineWriter, LogBackend } from '../audit/log-backend.js'
import { RotatingLogFile } from '../audit/rotating-log-file.js'
import { TruncatingBackend } from '../audit/truncating-backend.js'
import { WebhookBackend } from '../audit/webhook-backend.js'
import { EventLoopLag } from '../flow-control/event-loop-lag.js'
import { MaxInFlight } from '../flow-control/max-in-flight.js'
import { MemoryPressure } from '../flow-control/memory-pressure.js'
import { AggregationLayer } from '../http/aggregation/aggregation-layer.js'
import { type HealthChecks, healthChecks } from '../http/diagnostics/health-checks.js'
import { Profiles } from '../http/diagnostics/pprof-profiles.js'
import { requestLog } from '../http/diagnostics/request-log.js'
import { tracingHooks } from '../http/diagnostics/tracing.js'
import { aggregatedDiscovery } from '../http/discovery/aggregated-discovery.js'
import { hasOpenIdDiscovery, type OpenIdConfig } from '../http/discovery/openid-discovery.js'
import { versionDocument } from '../http/discovery/version-document.js'
import { dispatch, type Endpoints } from '../http/dispatch.js'
import { auditing } from '../http/filters/audit.js'
import { authentication } from '../http/filters/authentication.js'
import { authorization, impersonation } from '../http/filters/authorization.js'
import { podLogFamilies } from '../http/metrics/pod-log-metrics.js'
import { type MetricSource, ServerMetrics } from '../http/metrics/request-metrics.js'
import { loggingHooks, type RequestHooks } from '../http/pipeline/lifecycle.js'
import { clientTimeout, refuseCompression, requestListener } from '../http/pipeline/request-listener.js'
import type { RequestSteps } from '../http/rest/worker-steps.js'
import { WatchLimits } from '../http/watch/watch-limits.js'
import type { RequestListener } from '../net/listen/http-messages.js'
import { JsonEndpoint } from '../net/outbound/json-endpoint.js'
import { SpanExporter } from '../net/outbound/otlp-span-exporter.js'
import { openApiDocuments } from '../openapi/documents/documents.js'
import { flagError } from '../options/flags/flag.js'
import type { AuditSettings, DeliverySettings, RequestHeaderSettings, Settings } from '../options/settings.js'
import type { EmbeddedStorage } from '../storage/lmdb/lmdb-storage.js'
import type { Storage } from '../storage/storage.js'
import type { WorkerPool } from '../threads/worker-pool.js'
import type { Engine } from '../verbs/engine.js'
import type { Aggregation } from './create-aggregation.js'
import { createFlowControl } from './create-flow-control.js'
import { createProxyUpstreams, type ProxyUpstreams } from './create-proxy-upstreams.js'
import type { WebhookParts } from './create-webhooks.js'
import { metricSources } from './metrics/metric-sources.js'
import type { Outbound } from './outbound.js'
import { awaitChanges } from './processes/await-changes.js'
import { type OpenPort, openWorkersPort } from './processes/open-workers-port.js'
import { servingFilters } from './serving-options.js'
import type { StartContext } from './start-context.js'
import type { RunningControllers } from './start-controllers.js'

/** For the whole machine; worker processes divide it among themselves. */
const memoryLimits = { bodyBytes: 128 << 20, responseBytes: 256 << 20 }
const minMemoryLimits = { bodyBytes: 16 << 20, responseBytes: 32 << 20 }

const memoryLimitsOf = ({ settings: { workers }, role }: StartContext): typeof memoryLimits =>
  role === undefined
    ? memoryLimits
    : {
        bodyBytes: Math.max(minMemoryLimits.bodyBytes, Math.ceil(memoryLimits.bodyBytes / workers)),
        responseBytes: Math.max(minMemoryLimits.responseBytes, Math.ceil(memoryLimits.responseBytes / workers)),
      }

export interface Workers {
  readonly pool: WorkerPool
  readonly steps: RequestSteps
}

export interface ServerState {
  hasStarted: boolean
  isShuttingDown: boolean
  readonly startedMs: number
  address: string
  handshakeErrors: number
}

interface ListenerParts {
  readonly engine: Engine
  readonly webhooks: Pick<WebhookParts, 'counters' | 'recorder'>
  readonly catalogs: CatalogSource
  readonly state: ServerState
  readonly storage: Storage
  readonly shared: EmbeddedStorage | undefined
  readonly controllers: RunningControllers
  readonly workers: Workers
  readonly extensions: Aggregation
  readonly outbound: Outbound
}

interface CreatedListener {
  readonly listener: RequestListener
  /** Starts the worker processes, which have the port; only in their primary. */
  readonly primaryPort: (() => Promise<OpenPort>) | undefined
}

export async function createListener(context: StartContext, parts: ListenerParts): Promise<CreatedListener> {
  const { settings, logger, cleanup, testkit, role } = context
  const { limits, timeouts, serving } = settings
  const { engine, catalogs, state } = parts
  const { access } = engine
  const pressure = new MemoryPressure({ ...memoryLimitsOf(context), responseMs: timeouts.requestMs })
  cleanup.add(() => pressure.close())
  const lag = new EventLoopLag()
  cleanup.add(() => lag.close())
  const tracing = await startTracing(context)
  // The primary gets no requests of clients; its seats would count in the metrics of all processes.
  const flow = limits.fairness && role?.kind !== 'primary' ? createFlowControl(context, { ...parts, pressure, lag }) : undefined
  const maxInFlight = {
    maxReadOnly: limits.readingInFlight || Number.POSITIVE_INFINITY,
    maxMutating: limits.mutatingInFlight || Number.POSITIVE_INFINITY,
  }
  const inflight = flow?.control ?? new MaxInFlight({ pressure, ...maxInFlight })
  const { audit, log: auditLog } = createAudit(context, parts.outbound)
  const audited = audit && auditing({ audit, identity: settings.identity, clock: engine.clock })
  const proxyUpstreams = { ...createProxyUpstreams(context, parts.outbound), simulated: parts.controllers.simulatedBackends }
  const metrics = new ServerMetrics({
    sources: [
      ...metricSources({ ...parts, webhooks: parts.webhooks.counters, settings, inflight, lag, audit, flow }),
      ...tracing.sources,
      podLogFamilies(proxyUpstreams.logCounters, settings.identity),
    ],
    disabled: settings.metrics.disabled,
    allowed: settings.metrics.allowedLabels,
    ofAllProcesses: role?.kind === 'worker' ? role.families : undefined,
  })
  const families = () => metrics.ownFamilies()
  const primaryPort =
    role?.kind === 'primary' && parts.shared !== undefined
      ? openWorkersPort(context, role, { storage: parts.shared, auditLog, families })
      : undefined
  const listener = requestListener({
    filters: [
      ...(testkit?.outerFilters ?? []),
      ...(await servingFilters(serving, () => state.isShuttingDown)),
      clientTimeout,
      ...(settings.gates('APIResponseCompression') ? [] : [refuseCompression]),
      ...(role?.kind === 'worker' ? [awaitChanges(engine.store, catalogs)] : []),
      authentication({
        authenticators: access.authenticators,
        anonymous: settings.anonymousAuth ? anonymous : undefined,
        counters: access.counters,
      }),
      ...(audited === undefined ? [] : [audited.filter]),
      impersonation(access.authorizers),
      ...(flow === undefined ? [lag.shed(maxInFlight)] : []),
      inflight.filter,
      authorization(access.authorizers),
      ...(testkit?.innerFilters ?? []),
      dispatch({ ...endpointsOf(context, parts, { metrics, proxyUpstreams }), flow: flow?.control }),
    ],
    hooks: [
      inflight.hooks,
      metrics.hooks,
      loggingHooks(logger),
      requestLog(logger, settings.loggedRequests),
      audited?.hooks ?? {},
      ...tracing.hooks,
      ...(testkit?.hooks ?? []),
    ],
    catalogs,
    clock: engine.clock,
    requestTimeoutMs: timeouts.requestMs,
    pressure,
  })
  return { listener, primaryPort }
}

function endpointsOf(
  { settings, cleanup, testkit }: StartContext,
  { engine, state, workers, extensions, outbound, webhooks: { recorder } }: ListenerParts,
  { metrics, proxyUpstreams }: { readonly metrics: ServerMetrics; readonly proxyUpstreams: ProxyUpstreams },
): Endpoints {
  const version = versionDocument()
  const aggregationLayer = new AggregationLayer({
    ...extensions,
    counter: outbound.extensions,
    dial: outbound.cluster,
    locate: extensions.finder.locate,
    rejectsRedirects: settings.aggregation.rejectsRedirects,
    isIdentityHeader: identityHeaderCheck(settings.authentication.requestHeader),
    limit: proxyUpstreams.limit,
  })
  cleanup.add(() => aggregationLayer.close())
  return {
    resources: {
      engine,
      minRequestTimeoutMs: settings.timeouts.minWatchMs,
      sentEvents: (resource) => metrics.watches.of(resource),
      watchLimits: new WatchLimits(settings.limits.watches || Number.POSITIVE_INFINITY),
      steps: workers.steps,
      backends: proxyUpstreams,
      interception: testkit?.requestFaults,
    },
    health: createHealthChecks(settings, engine, state),
    metrics,
    profiles: settings.profiling ? new Profiles() : undefined,
    reviews: recorder === undefined ? undefined : () => recorder.text(),
    version,
    openApi: openApiDocuments({ describe: describeType, release: String(version['gitVersion']) }),
    openId: openIdConfig(settings, engine, state),
    aggregated: settings.gates('AggregatedDiscoveryEndpoint') ? aggregatedDiscovery(apiGroupDiscovery) : undefined,
    aggregation: aggregationLayer,
    address: () => state.address,
  }
}

/** True for headers with the identity of the user for extension API servers, which are removed from client requests. */
function identityHeaderCheck(settings: RequestHeaderSettings | undefined): (name: string) => boolean {
  const names = new Set([...(settings?.usernameHeaders ?? []), ...(settings?.groupHeaders ?? [])].map((name) => name.toLowerCase()))
  const prefixes = (settings?.extraHeaderPrefixes ?? []).map((prefix) => prefix.toLowerCase())
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}

/** Undefined if the service account issuer is not a URL: OIDC discovery needs one. */
function openIdConfig({ authentication }: Settings, { issuer }: Engine, state: ServerState): OpenIdConfig | undefined {
  if (issuer === undefined || !hasOpenIdDiscovery(issuer.issuer)) return undefined
  return { issuer, keysAddress: authentication.serviceAccounts.jwksUri, address: () => state.address }
}

const createHealthChecks = ({ identity, storageCheckTimeouts, timeouts }: Settings, { store }: Engine, state: ServerState): HealthChecks =>
  healthChecks(
    {
      storeProblem: () => store.check(storageCheckTimeouts.healthMs),
      storeReadinessProblem: () => store.check(storageCheckTimeouts.readinessMs),
      hasStarted: () => state.hasStarted,
      isShuttingDown: () => state.isShuttingDown,
      isInGracePeriod: () => steadyClock.now() - state.startedMs < timeouts.livezGraceMs,
    },
    identity,
  )

interface StartedTracing {
  readonly hooks: readonly RequestHooks[]
  readonly sources: readonly MetricSource[]
}

const noTracing: StartedTracing = { hooks: [], sources: [] }

async function startTracing({ settings, logger, cleanup }: StartContext): Promise<StartedTracing> {
  if (settings.tracing === undefined) return noTracing
  const { url, samplingRatePerMillion } = settings.tracing
  const exporter = new SpanExporter({ url, logger, resource: { 'service.name': 'apiserver', 'service.instance.id': hostname() } })
  cleanup.add(() => exporter.close())
  const spanMetrics: MetricSource = () => [
    {
      name: 'apiserver_trace_spans_total',
      type: 'counter',
      help: 'Trace spans, by whether the collector accepted them.',
      labels: ['result'],
      rows: [
        { labels: ['dropped'], value: exporter.dropped },
        { labels: ['sent'], value: exporter.sent },
      ],
    },
  ]
  return { hooks: [tracingHooks({ exporter, samplingRatePerMillion })], sources: [spanMetrics] }
}

const auditWebhookTimeoutMs = 30_000
const standardOutput = { descriptor: 1, maxQueuedBytes: 64 << 20, stallTimeoutMs: 5_000 }

interface CreatedAudit {
  readonly audit: Audit | undefined
  readonly log: LineWriter | undefined
}

function createAudit({ settings: { audit }, logger, cleanup, role }: StartContext, outbound: Outbound): CreatedAudit {
  if (audit === undefined) return { audit: undefined, log: undefined }
  const { policy, apiVersion, log, webhook } = audit
  const counters = new AuditCounters()
  const backends: AuditBackend[] = []
  // One process writes and rotates the file.
  const writer = log && (role?.kind === 'worker' ? role.auditLog : openLogTarget(log, logger))
  if (log !== undefined && writer !== undefined) {
    const isStrict = log.mode === 'blocking-strict'
    const backend = new LogBackend({ writer, format: log.format, counters, logger, isStrict })
    backends.push(withDelivery(backend, log, counters))
  }
  if (webhook !== undefined) {
    const { connection, initialBackoffMs } = webhook
    const endpoint = new JsonEndpoint(
      { ...connection, counter: outbound.webhooks, dial: outbound.controlPlane },
      { timeoutMs: auditWebhookTimeoutMs },
    )
    backends.push(withDelivery(new WebhookBackend({ endpoint, apiVersion, initialBackoffMs, counters, logger }), webhook, counters))
  }
  const opened = new Audit({ policy: compilePolicy(policy), backends, counters, apiVersion })
  cleanup.add(() => opened.close())
  return { audit: opened, log: writer }
}

function openLogTarget({ file }: NonNullable<AuditSettings['log']>, logger: Logger): LineWriter {
  try {
    return file.path === '-' ? new LinePipe(standardOutput) : new RotatingLogFile(file, { logger })
  } catch (thrown) {
    throw flagError('audit-log-path', `cannot write to ${file.path}: ${errorMessage(thrown)}`)
  }
}

function withDelivery(backend: Backend, { mode, batching, truncation }: DeliverySettings, counters: AuditCounters): AuditBackend {
  const truncating = truncation === undefined ? backend : new TruncatingBackend(backend, truncation, counters)
  return {
    backend: mode === 'batch' ? new BufferedBackend({ backend: truncating, batching, counters }) : truncating,
    isStrict: mode === 'blocking-strict',
    isBlocking: mode !== 'batch',
  }
}
