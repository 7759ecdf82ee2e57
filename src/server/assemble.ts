// The composition root: every part of the server is made here, once, in the order in which they need one another.

import { setTimeout } from 'node:timers/promises'
import { eventBuckets } from '../admission/plugins/event-rate-limit.js'
import { RbacIndex } from '../auth/rbac/rbac-index.js'
import { steadyClock, timerMs } from '../base/clock.js'
import { Closing } from '../base/closing.js'
import type { Logger } from '../base/logger.js'
import { serveCustomKinds } from '../controllers/custom-resources/custom-kinds.js'
import { forgetEvents } from '../controllers/kit/record-event.js'
import { serviceRangesOf } from '../resources/core/service-allocation.js'
import type { Engine } from '../verbs/engine.js'
import { ensureAdminCredential, renderClientConfiguration, urlOf, writeClientConfiguration } from './client-configuration.js'
import { ClientTrust } from './client-trust.js'
import type { AssembledServer } from './embedding/parts.js'
import { joinCluster } from './join-cluster.js'
import { makeEngine } from './make-engine.js'
import { makeListener, type OpenWorkers, type ServerState } from './make-listener.js'
import { openExtensions } from './open-extensions.js'
import { openHooks } from './open-hooks.js'
import { type OpenPort, openPort } from './open-port.js'
import { openStore } from './open-store.js'
import type { Opening } from './opening.js'
import type { Settings } from './options/settings.js'
import { hookWays, openOutbound } from './outbound.js'
import { PendingFiles } from './private-files.js'
import { servedCatalog } from './served-catalog.js'
import { servingCertificate } from './serving-certificate.js'
import { publicAddress } from './serving-parts.js'
import { startLoops } from './start-loops.js'
import { OffloadedSteps } from './workers/offloaded-steps.js'
import { WorkerPool } from './workers/worker-pool.js'

export async function assemble(settings: Settings, logger: Logger, signal?: AbortSignal): Promise<AssembledServer> {
  const closing = new Closing()
  try {
    return await open({ settings, logger, closing, signal })
  } catch (thrown) {
    await closing.close()
    throw thrown
  }
}

async function open(opening: Opening): Promise<AssembledServer> {
  const { settings, closing } = opening
  const ground = await openGround(opening)
  const { catalogs, storage, store, files, certificate, trust, outbound, serviceRanges } = ground
  const extensions = openExtensions(opening, store, catalogs, outbound)
  let isServing = false
  const deciding = openEngine(opening, ground, () => isServing)
  const { engine, hooks, rbac, eventRates } = deciding
  const sendNobodyHere = await joinCluster(opening, { engine, catalogs, storage, serviceRanges, trust })
  readAhead(rbac)
  const loops = startLoops(opening, { engine, catalogs, certificate, trust, extensions })
  const state: ServerState = { hasStarted: false, isShuttingDown: false, startedMs: steadyClock.now(), address: '', handshakeErrors: 0 }
  const workers = openWorkers(opening, ground, engine)
  const listener = await makeListener(opening, { engine, catalogs, state, storage, loops, workers, extensions, hooks, outbound })
  // What clients are shown from now on must not be lost by a crash.
  await files.written()
  isServing = true
  const port = await openPort(opening, { listener, certificate, trust, store, state })
  const url = urlOf(port.address, port.port)
  state.address = publicAddress(settings.serving, url)
  state.hasStarted = true
  loops.begin()
  const configured = writeConfiguration(settings, ground, url)
  await files.written()
  const forget = (): void => {
    eventRates.forget()
    forgetEvents(engine)
  }
  const { credential } = ground
  const { caPem } = certificate
  return {
    address: port.address,
    port: port.port,
    url,
    caPem,
    ...configured,
    parts: { engine, catalogs, storage, loops, credential, caPem, url, forget },
    close: closer({ state, sendNobodyHere, port, delayMs: settings.timeouts.shutdownDelayMs, closing }),
  }
}

/** Begun before anybody waits for it. Where it fails, whoever asks for a right tries again, and is told why. */
function readAhead(rbac: RbacIndex): void {
  Promise.resolve(rbac.open()).catch(() => undefined)
}

/** What everything else stands on: objects and kinds, certificates, and ways to other servers. */
type Ground = Awaited<ReturnType<typeof openGround>>

async function openGround(opening: Opening) {
  const { settings, logger, closing } = opening
  const catalogs = servedCatalog(settings)
  const { storage, store } = await openStore(opening)
  const files = new PendingFiles()
  closing.add(() => files.written())
  const credential = ensureAdminCredential(settings.dataDir, files.write)
  const serviceRanges = serviceRangesOf(settings.network)
  const certificate = await servingCertificate(settings, logger, files.write)
  closing.add(() => certificate.close())
  const trust = new ClientTrust(settings.authentication, certificate.authority.cert, logger)
  closing.add(() => trust.close())
  const outbound = openOutbound(settings)
  closing.add(serveCustomKinds(store, catalogs, hookWays(outbound)))
  return { catalogs, storage, store, files, credential, serviceRanges, certificate, trust, outbound }
}

function openEngine({ settings, logger, closing }: Opening, ground: Ground, isServing: () => boolean) {
  const rbac = new RbacIndex(ground.store, ground.catalogs.current, logger)
  const hooks = openHooks(settings, ground.outbound, isServing)
  closing.add(() => hooks.close())
  const eventRates = eventBuckets(settings.admission.config.eventRateLimits, () => performance.now())
  const own = { rbac, closing, logger, hooks, takeEvents: eventRates.take, writeFile: ground.files.write }
  return { engine: makeEngine(settings, { ...ground, ...own }), rbac, hooks, eventRates }
}

/** The worker threads for steps on large inputs; started with the first of them. */
function openWorkers({ settings, logger, closing }: Opening, { store }: Ground, engine: Engine): OpenWorkers {
  const { flags, identity, allowPrivileged, admission } = settings
  const pool = new WorkerPool({
    threads: settings.workerThreads,
    logger,
    settings: {
      identity: identity.name,
      featureGates: flags.values['feature-gates'],
      runtimeConfig: flags.values['runtime-config'],
      forbidsPrivileged: !allowPrivileged,
      allowsPlainHooks: admission.allowsPlainHooks,
    },
  })
  closing.add(() => pool.close())
  const steps = new OffloadedSteps(pool)
  store.large.maker = steps
  engine.steps = steps
  return { pool, steps }
}

function writeConfiguration({ identity, dataDir }: Settings, { certificate, credential, files }: Ground, url: string) {
  const clientConfiguration = renderClientConfiguration({ identity, url, caPem: certificate.caPem, credential })
  const clientConfigurationPath = dataDir === undefined ? undefined : writeClientConfiguration(dataDir, clientConfiguration, files.write)
  return { clientConfiguration, clientConfigurationPath }
}

interface ToClose {
  readonly state: ServerState
  readonly sendNobodyHere: () => Promise<void>
  readonly port: OpenPort
  readonly delayMs: number
  readonly closing: Closing
}

function closer({ state, sendNobodyHere, port, delayMs, closing }: ToClose): AssembledServer['close'] {
  const hurrying = new AbortController()
  return async ({ immediately = false } = {}) => {
    state.isShuttingDown = true
    // Waited for with everything else.
    void sendNobodyHere()
    if (immediately) {
      hurrying.abort()
      port.closeAtOnce()
    } else if (delayMs > 0) await delay(delayMs, hurrying.signal)
    await closing.close()
  }
}

/** Less where somebody is in a hurry. */
const delay = (ms: number, signal: AbortSignal): Promise<void> =>
  setTimeout(timerMs(ms), undefined, { signal }).catch((thrown: unknown) => {
    if (!signal.aborted) throw thrown
  })
