// From the engine to what answers requests: the list of filters, the hooks beside it, and what they share.

import type { CatalogSource } from '../api/catalog-source.js'
import { anonymous } from '../api/user.js'
import { steadyClock } from '../base/clock.js'
import { aggregatedDiscovery } from '../http/aggregated-discovery.js'
import { auditing } from '../http/auditing.js'
import { dispatch, type Site } from '../http/dispatch.js'
import { Extensions } from '../http/extensions.js'
import { authentication, authorization } from '../http/filters.js'
import { type RequestListener, requestListener } from '../http/handle.js'
import { type HealthChecks, healthChecks } from '../http/health.js'
import { impersonation } from '../http/impersonation.js'
import { Inflight } from '../http/inflight.js'
import { loggingHooks } from '../http/lifecycle.js'
import { LoopLag } from '../http/loop-lag.js'
import { podLogFamilies } from '../http/metrics/pod-log-tallies.js'
import { ServerMetrics } from '../http/metrics/server-metrics.js'
import { openApiDocuments } from '../http/openapi/documents.js'
import { hasOpenId, type OpenIdSite } from '../http/openid.js'
import { Pressure } from '../http/pressure.js'
import { Profiles } from '../http/profiles.js'
import { requestLog } from '../http/request-log.js'
import type { RequestSteps } from '../http/request-steps.js'
import { clientTimeout } from '../http/serving-filters.js'
import { versionDocument } from '../http/version.js'
import { WatchRoom } from '../http/watch-room.js'
import { apiGroupDiscovery } from '../resources/apidiscovery/v2beta1.schema.js'
import { describeType } from '../resources/descriptions/describe-type.js'
import type { Storage } from '../storage/storage.js'
import type { Engine } from '../verbs/engine.js'
import { makeReach, type OpenReach } from './make-reach.js'
import { metricSources } from './metric-sources.js'
import { openAudit } from './open-audit.js'
import type { OpenExtensions } from './open-extensions.js'
import { openFlowControl } from './open-flow-control.js'
import type { HookParts } from './open-hooks.js'
import type { Opening } from './opening.js'
import type { RequestHeaderSettings, Settings } from './options/settings.js'
import type { Outbound } from './outbound.js'
import { servingFilters } from './serving-parts.js'
import type { RunningLoops } from './start-loops.js'
import { startTracing } from './start-tracing.js'
import type { WorkerPool } from './workers/worker-pool.js'

const memoryLimits = { bodyBytes: 128 << 20, answerBytes: 256 << 20 }

export interface OpenWorkers {
  readonly pool: WorkerPool
  readonly steps: RequestSteps
}

/** How far the server has come; written by whoever starts and stops it. */
export interface ServerState {
  hasStarted: boolean
  isShuttingDown: boolean
  readonly startedMs: number
  /** Host and port under which clients reach it. */
  address: string
  /** Connections that failed before they were encrypted. */
  handshakeErrors: number
}

export interface ListenerParts {
  readonly engine: Engine
  readonly hooks: Pick<HookParts, 'tallies' | 'recorder'>
  readonly catalogs: CatalogSource
  readonly state: ServerState
  readonly storage: Storage
  readonly loops: RunningLoops
  readonly workers: OpenWorkers
  readonly extensions: OpenExtensions
  readonly outbound: Outbound
}

export async function makeListener(opening: Opening, parts: ListenerParts): Promise<RequestListener> {
  const { settings, logger, closing } = opening
  const { limits, timeouts, serving } = settings
  const { engine, catalogs, state } = parts
  const { access } = engine
  const pressure = new Pressure({ ...memoryLimits, answerMs: timeouts.requestMs })
  closing.add(() => pressure.close())
  const lag = new LoopLag()
  closing.add(() => lag.close())
  const tracing = await startTracing(opening)
  const flow = limits.fairness ? openFlowControl(opening, { ...parts, pressure, lag }) : undefined
  const inflight =
    flow?.control ??
    new Inflight({
      pressure,
      maxReadOnly: limits.readingInFlight || Number.POSITIVE_INFINITY,
      maxMutating: limits.mutatingInFlight || Number.POSITIVE_INFINITY,
    })
  const audit = openAudit(opening, parts.outbound)
  const audited = audit && auditing({ audit, identity: settings.identity, clock: engine.clock })
  const reach = makeReach(opening, parts.outbound)
  const metrics = new ServerMetrics({
    sources: [
      ...metricSources({ ...parts, hooks: parts.hooks.tallies, settings, inflight, lag, audit, flow }),
      ...tracing.sources,
      podLogFamilies(reach.logTallies, settings.identity),
    ],
    disabled: settings.metrics.disabled,
    allowed: settings.metrics.allowedLabels,
  })
  return requestListener({
    filters: [
      ...(await servingFilters(serving, () => state.isShuttingDown)),
      clientTimeout,
      authentication({
        authenticators: access.authenticators,
        anonymous: settings.anonymousAuth ? anonymous : undefined,
        tallies: access.tallies,
      }),
      ...(audited === undefined ? [] : [audited.filter]),
      impersonation(access.authorizers),
      ...(flow === undefined ? [lag.shed] : []),
      inflight.filter,
      authorization(access.authorizers),
      dispatch({ ...siteOf(opening, parts, { metrics, reach }), flow: flow?.control }),
    ],
    hooks: [
      inflight.hooks,
      metrics.hooks,
      loggingHooks(logger),
      requestLog(logger, settings.loggedRequests),
      audited?.hooks ?? {},
      ...tracing.hooks,
    ],
    catalogs,
    clock: engine.clock,
    requestTimeoutMs: timeouts.requestMs,
    pressure,
  })
}

/** Everything that has a path. */
function siteOf(
  { settings, closing }: Opening,
  { engine, state, workers, extensions, outbound, hooks: { recorder } }: ListenerParts,
  { metrics, reach }: { readonly metrics: ServerMetrics; readonly reach: OpenReach },
): Site {
  const version = versionDocument()
  const passOn = new Extensions({
    ...extensions,
    tally: outbound.extensions,
    dial: outbound.cluster,
    locate: extensions.finder.locate,
    rejectsRedirects: settings.aggregation.rejectsRedirects,
    isVouching: vouchingHeaders(settings.authentication.requestHeader),
    room: reach.room,
  })
  closing.add(() => passOn.close())
  return {
    resources: {
      engine,
      minRequestTimeoutMs: settings.timeouts.minWatchMs,
      sentEvents: (resource) => metrics.watches.of(resource),
      watches: new WatchRoom(settings.limits.watches || Number.POSITIVE_INFINITY),
      steps: workers.steps,
      reach,
    },
    health: healthOf(settings, engine, state),
    metrics,
    profiles: settings.profiling ? new Profiles() : undefined,
    reviews: recorder === undefined ? undefined : () => recorder.text(),
    version,
    openApi: openApiDocuments({ describe: describeType, release: String(version['gitVersion']) }),
    openId: openIdOf(settings, engine, state),
    aggregated: settings.gates('AggregatedDiscoveryEndpoint') ? aggregatedDiscovery(apiGroupDiscovery) : undefined,
    extensions: passOn,
    address: () => state.address,
  }
}

/** The headers of authenticating proxies: extension servers are told to believe them from this server as well. */
function vouchingHeaders(settings: RequestHeaderSettings | undefined): (name: string) => boolean {
  const names = new Set([...(settings?.usernameHeaders ?? []), ...(settings?.groupHeaders ?? [])].map((name) => name.toLowerCase()))
  const prefixes = (settings?.extraHeaderPrefixes ?? []).map((prefix) => prefix.toLowerCase())
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}

/** Tokens of an issuer that has no address can be checked by nobody but this server. */
function openIdOf({ authentication }: Settings, { issuer }: Engine, state: ServerState): OpenIdSite | undefined {
  if (issuer === undefined || !hasOpenId(issuer.issuer)) return undefined
  return { issuer, keysAddress: authentication.serviceAccounts.jwksUri, address: () => state.address }
}

const healthOf = ({ identity, patience, timeouts }: Settings, { store }: Engine, state: ServerState): HealthChecks =>
  healthChecks(
    {
      storeProblem: () => store.check(patience.healthMs),
      storeUnreadiness: () => store.check(patience.readinessMs),
      hasStarted: () => state.hasStarted,
      isShuttingDown: () => state.isShuttingDown,
      isInGracePeriod: () => steadyClock.now() - state.startedMs < timeouts.livezGraceMs,
    },
    identity,
  )
