// The composition root: every part of the server is made here, once, in the order in which they need one another.

import { randomInt, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { admissionOf } from '../admission/admission.js'
import { pluginsInOrder } from '../admission/order.js'
import { Catalog } from '../api/catalog.js'
import { CatalogSource } from '../api/catalog-source.js'
import { stabilityOf } from '../api/runtime-config.js'
import { anonymous } from '../api/user.js'
import { everybody, masters, publicInformation } from '../auth/fixed-authorizers.js'
import { tokenList } from '../auth/token-list.js'
import { steadyClock, systemClock } from '../base/clock.js'
import { Closing } from '../base/closing.js'
import type { Logger } from '../base/logger.js'
import { bootstrap } from '../controllers/bootstrap/bootstrap.js'
import { clusterRoleAggregation } from '../controllers/cluster-role-aggregation.js'
import { defaultAccounts } from '../controllers/default-accounts.js'
import { flowSchemaStatus } from '../controllers/flow-schema-status.js'
import { LoopCounters } from '../controllers/kit/counters.js'
import type { LoopParts } from '../controllers/kit/loop.js'
import { namespaceDeletion } from '../controllers/namespace-deletion.js'
import { OwnAddress } from '../controllers/own-address.js'
import { publishRootCa, rootCaMaps } from '../controllers/root-ca.js'
import { ServerLease } from '../controllers/server-lease.js'
import { keepTrust } from '../controllers/trust-keeper.js'
import { aggregatedDiscovery } from '../http/aggregated-discovery.js'
import { dispatch } from '../http/dispatch.js'
import { authentication, authorization, noImpersonation } from '../http/filters.js'
import { requestListener } from '../http/handle.js'
import { healthChecks } from '../http/health.js'
import { Inflight } from '../http/inflight.js'
import { loggingHooks } from '../http/lifecycle.js'
import { LoopLag } from '../http/loop-lag.js'
import { ServerMetrics } from '../http/metrics.js'
import { openApiDocuments } from '../http/openapi/documents.js'
import { Pressure } from '../http/pressure.js'
import { versionDocument } from '../http/version.js'
import { listen } from '../net/listen.js'
import { probe } from '../net/probe.js'
import { ObjectStore } from '../objects/object-store.js'
import { ServerRegistry } from '../objects/server-registry.js'
import { apiGroupDiscovery } from '../resources/apidiscovery/v2beta1.schema.js'
import { firstAddress } from '../resources/core/address-range.js'
import { serviceRangesOf } from '../resources/core/service-allocation.js'
import { describeType } from '../resources/descriptions/describe-type.js'
import { definitions } from '../resources/index.js'
import { keepHistory } from '../storage/history-window.js'
import type { Engine } from '../verbs/engine.js'
import { OnDemand } from '../verbs/on-demand.js'
import { serviceReservers } from '../verbs/special/service-reserver.js'
import { advertisedFor, trustedOf } from './advertised.js'
import { ensureAdminCredential, renderClientConfiguration, urlOf, writeClientConfiguration } from './client-configuration.js'
import { openStorage } from './open-storage.js'
import type { Settings } from './options/settings.js'
import { machineBytes, readCacheBytesOn } from './read-cache.js'
import { runLoops } from './run-loops.js'
import type { RunningServer } from './running-server.js'
import { servingCertificate } from './serving-certificate.js'
import { namedCertificates, publicAddress, servingFilters } from './serving-parts.js'
import { StartError } from './start-failure.js'
import { whenUsable } from './when-usable.js'

const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789'
const drainMs = 10_000
const memoryLimits = { bodyBytes: 128 << 20, answerBytes: 256 << 20 }
/** What the API's own service points to where any free port was asked for. */
const defaultPort = 6443

/** Where the other parts of a control plane answer, when they run on this machine. */
const controlPlane = (
  [
    ['controller-manager', 10257],
    ['scheduler', 10259],
  ] as const
).map(([name, port]) => ({ name, probe: (patienceMs: number) => probe(`https://127.0.0.1:${port}/healthz`, patienceMs) }))

const randomSuffix = (length: number): string => Array.from({ length }, () => suffixLetters[randomInt(suffixLetters.length)]).join('')

export async function assemble(settings: Settings, logger: Logger, signal?: AbortSignal): Promise<RunningServer> {
  const closing = new Closing()
  try {
    return await open(settings, { logger, closing, signal })
  } catch (thrown) {
    await closing.close()
    throw thrown
  }
}

interface Opening {
  readonly logger: Logger
  readonly closing: Closing
  readonly signal: AbortSignal | undefined
}

async function open(settings: Settings, { logger, closing, signal }: Opening): Promise<RunningServer> {
  const { identity, gates, limits, timeouts, dataDir } = settings
  const clock = systemClock
  const catalogs = new CatalogSource(catalogFor(settings))

  const storage = await openStorage(settings, logger, signal)
  closing.add(() => storage.close())
  const history = keepHistory({ storage, clock: steadyClock, intervalMs: settings.historyMs, logger })
  closing.add(() => history.close())
  const store = new ObjectStore({
    storage,
    clock: steadyClock,
    readCacheBytes: readCacheBytesOn(machineBytes(), settings.readCacheBytes),
    eventTtlSeconds: settings.eventTtlSeconds,
  })
  closing.add(() => store.close())

  const credential = ensureAdminCredential(dataDir)
  const access = {
    authenticators: [tokenList(new Map([...settings.tokens, [credential.token, credential.user]]))],
    authorizers: settings.authorizationModes.includes('AlwaysAllow') ? [everybody] : [masters, publicInformation],
  }
  const serviceRanges = serviceRangesOf(settings.network)
  const engine: Engine = {
    store,
    identity,
    gates,
    forbidsPrivileged: !settings.allowPrivileged,
    clock,
    admission: admissionOf(pluginsInOrder({ store, catalogs, randomSuffix, ...settings.admission })),
    access,
    components: controlPlane,
    reservers: serviceReservers(serviceRanges, Math.random),
    onDemand: new OnDemand(),
    newUid: randomUUID,
    randomSuffix,
  }
  const [firstRange] = serviceRanges.addresses
  const self = { hostname: hostname(), holder: randomUUID(), leaseSeconds: settings.ownLease.seconds }
  const securePort = settings.securePort || defaultPort
  const address = settings.keepsEndpoints ? (settings.advertiseAddress ?? advertisedFor(settings.bindAddress)) : ''
  const ownAddress =
    settings.storage === 'etcd' && address !== ''
      ? new OwnAddress({
          engine,
          catalogs,
          logger,
          registry: new ServerRegistry(storage, steadyClock),
          self: { holder: self.holder, address },
          securePort,
        })
      : undefined
  closing.add(() => ownAddress?.close())
  const trusted = trustedOf(settings.authentication)
  const prepare = async (): Promise<void> =>
    bootstrap(engine, catalogs.current, {
      serviceAddress: firstRange === undefined ? '' : firstAddress(firstRange),
      securePort,
      addresses: ownAddress === undefined ? [address].filter(Boolean) : await ownAddress.announce(),
      self,
      trusted,
    })
  await (settings.storage === 'etcd' ? whenUsable(prepare, { logger, signal }) : prepare())
  ownAddress?.start()
  if (gates('APIServerIdentity')) {
    const lease = new ServerLease({ engine, catalogs, logger, self, renewMs: settings.ownLease.renewMs })
    closing.add(() => lease.close())
  }
  const certificate = await servingCertificate(settings, logger)
  closing.add(() => certificate.close())
  const loopParts: LoopParts = { engine, catalogs, logger, counters: new LoopCounters() }
  const trust = keepTrust(loopParts, trusted)
  closing.add(() => trust.close())
  const rootCa = { pem: () => certificate.rootPem, onChange: (listener: () => void) => certificate.onChange(listener) }
  if (settings.controllers.includes('root-ca-cert-publisher')) closing.add(publishRootCa(engine, catalogs, rootCa))
  const loops = runLoops(settings, loopParts, {
    namespace: namespaceDeletion,
    serviceaccount: defaultAccounts,
    'root-ca-cert-publisher': rootCaMaps(rootCa),
    'flow-schema-status': flowSchemaStatus,
    'clusterrole-aggregation': clusterRoleAggregation,
  })
  closing.add(() => loops.close())

  const state = { hasStarted: false, isShuttingDown: false, startedMs: steadyClock.now(), address: '' }
  const pressure = new Pressure({ ...memoryLimits, answerMs: timeouts.requestMs })
  closing.add(() => pressure.close())
  const inflight = new Inflight({
    pressure,
    maxReadOnly: limits.readingInFlight || Number.POSITIVE_INFINITY,
    maxMutating: limits.mutatingInFlight || Number.POSITIVE_INFINITY,
  })
  const lag = new LoopLag()
  closing.add(() => lag.close())
  const metrics = new ServerMetrics({
    storeRevision: () => store.revision,
    cacheBytes: () => store.cacheBytes,
    watchers: () => store.watchers,
    inflight: () => inflight,
    loopLagSeconds: () => lag.seconds,
  })
  const health = healthChecks(
    {
      storeProblem: () => store.check(settings.patience.healthMs),
      storeUnreadiness: () => store.check(settings.patience.readinessMs),
      hasStarted: () => state.hasStarted,
      isShuttingDown: () => state.isShuttingDown,
      isInGracePeriod: () => steadyClock.now() - state.startedMs < timeouts.livezGraceMs,
    },
    identity,
  )
  const resources = { engine, minRequestTimeoutMs: timeouts.minWatchMs }
  const version = versionDocument()
  const openApi = openApiDocuments({ describe: describeType, release: String(version['gitVersion']) })
  const aggregated = gates('AggregatedDiscoveryEndpoint') ? aggregatedDiscovery(apiGroupDiscovery) : undefined
  const listener = requestListener({
    filters: [
      ...(await servingFilters(settings.serving, () => state.isShuttingDown)),
      authentication({ authenticators: access.authenticators, anonymous: settings.anonymousAuth ? anonymous : undefined }),
      noImpersonation,
      lag.shed,
      inflight.filter,
      authorization(access.authorizers),
      dispatch({ resources, health, metrics, version, openApi, aggregated, address: () => state.address }),
    ],
    catalogs,
    clock,
    requestTimeoutMs: timeouts.requestMs,
    pressure,
    hooks: [inflight.hooks, metrics.hooks, loggingHooks(logger)],
  })

  const named = namedCertificates(settings.serving, logger)
  closing.add(() => named?.close())
  const port = await listen(
    {
      host: settings.bindAddress,
      port: settings.securePort,
      certificate,
      logger,
      minVersion: settings.tls.minVersion,
      ...(named === undefined ? {} : { namedCertificate: (name: string) => named.find(name) }),
      sharesPort: settings.serving.sharesPort,
      ...(settings.tls.ciphers === undefined ? {} : { ciphers: settings.tls.ciphers }),
      limits: { http2Streams: limits.http2Streams, goawayChance: limits.goawayChance, requestMs: timeouts.requestMs },
    },
    listener,
  )
  certificate.onChange((pair) => port.setCertificate(pair))
  const drain = { graceMs: drainMs }
  closing.add(() => {
    store.endWatches()
    return port.close(drain)
  })

  const url = urlOf(port.address, port.port)
  state.address = publicAddress(settings.serving, url)
  state.hasStarted = true
  const clientConfiguration = renderClientConfiguration({ identity, url, caPem: certificate.caPem, credential })
  return {
    address: port.address,
    port: port.port,
    url,
    caPem: certificate.caPem,
    clientConfiguration,
    clientConfigurationPath: dataDir === undefined ? undefined : writeClientConfiguration(dataDir, clientConfiguration),
    close: async ({ immediately = false } = {}) => {
      state.isShuttingDown = true
      // Nobody new is sent here from now on; waited for with everything else.
      void ownAddress?.close()
      if (immediately) drain.graceMs = 0
      else if (timeouts.shutdownDelayMs > 0) await setTimeout(timeouts.shutdownDelayMs)
      await closing.close()
    },
  }
}

function catalogFor({ identity, runtimeConfig, gates }: Settings): Catalog {
  const known = definitions.flatMap(({ group, versions, resource }) =>
    versions.map(({ name }) => ({ group: identity.group(group), version: name, resource })),
  )
  const [unknown] = runtimeConfig.unknownKeys(known)
  if (unknown !== undefined) throw new StartError(`--runtime-config: there is no API group, version or resource ${JSON.stringify(unknown)}`)
  return new Catalog({
    identity,
    definitions: definitions.filter(({ gate }) => gate === undefined || gates(gate)),
    isServed: (version) =>
      runtimeConfig.isEnabled({
        ...version,
        stability: stabilityOf(version.version),
        enabledByDefault: !version.version.includes('alpha'),
      }),
  })
}
