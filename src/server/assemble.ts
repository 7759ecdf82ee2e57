// The composition root: every part of the server is made here, once, in the order in which they need one another.

import { setTimeout } from 'node:timers/promises'
import { eventBuckets } from '../admission/plugins/event-rate-limit.js'
import { QuotaTurns } from '../admission/quota/turns.js'
import { RbacIndex } from '../auth/rbac/rbac-index.js'
import { steadyClock, timerMs } from '../base/clock.js'
import { Closing } from '../base/closing.js'
import type { Logger } from '../base/logger.js'
import { serveCustomKinds } from '../controllers/custom-resources/custom-kinds.js'
import { forgetEvents } from '../controllers/kit/record-event.js'
import { serviceRangesOf } from '../resources/core/service-allocation.js'
import { ensureAdminCredential, renderClientConfiguration, urlOf, writeClientConfiguration } from './client-configuration.js'
import { ClientTrust } from './client-trust.js'
import type { AssembledServer } from './embedding/parts.js'
import { joinCluster } from './join-cluster.js'
import { makeEngine } from './make-engine.js'
import { makeListener, type ServerState } from './make-listener.js'
import { HeavyThread } from './offload/heavy-thread.js'
import { openExtensions } from './open-extensions.js'
import { openHooks } from './open-hooks.js'
import { openPort } from './open-port.js'
import { openStore } from './open-store.js'
import type { Opening } from './opening.js'
import type { Settings } from './options/settings.js'
import { hookWays, openOutbound } from './outbound.js'
import { PendingFiles } from './private-files.js'
import { servedCatalog } from './served-catalog.js'
import { servingCertificate } from './serving-certificate.js'
import { publicAddress } from './serving-parts.js'
import { startLoops } from './start-loops.js'

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
  const { settings, logger, closing } = opening
  const { identity, timeouts, dataDir } = settings
  const catalogs = servedCatalog(settings)
  const { storage, store } = await openStore(opening)
  const files = new PendingFiles()
  closing.add(() => files.settle())
  const credential = ensureAdminCredential(dataDir, files.write)
  const serviceRanges = serviceRangesOf(settings.network)
  const certificate = await servingCertificate(settings, logger, files.write)
  closing.add(() => certificate.close())
  const trust = new ClientTrust(settings.authentication, certificate.authority.cert, logger)
  closing.add(() => trust.close())
  const outbound = openOutbound(settings)
  closing.add(serveCustomKinds(store, catalogs, hookWays(outbound)))
  const extensions = openExtensions(opening, store, catalogs, outbound)
  const rbac = new RbacIndex(store, catalogs.current)
  const turns = new QuotaTurns()
  let isServing = false
  const hooks = openHooks(settings, outbound, () => isServing)
  closing.add(() => hooks.close())
  const eventRates = eventBuckets(settings.admission.config.eventRateLimits, () => performance.now())
  const takeEvents = eventRates.take
  const own = {
    store,
    catalogs,
    credential,
    serviceRanges,
    trust,
    rbac,
    closing,
    logger,
    turns,
    hooks,
    takeEvents,
    writeFile: files.write,
    outbound,
  }
  const engine = makeEngine(settings, own)
  const sendNobodyHere = await joinCluster(opening, { engine, catalogs, storage, serviceRanges, trust })
  // Read once, before anybody waits for it.
  rbac.open()
  const loops = startLoops(opening, { engine, catalogs, certificate, trust, extensions })
  const state: ServerState = { hasStarted: false, isShuttingDown: false, startedMs: steadyClock.now(), address: '', handshakeErrors: 0 }
  const offload = new HeavyThread({
    flags: settings.flags,
    texts: settings.texts,
    credential,
    dataDir,
    ownCa: certificate.authority.cert,
    storage,
    store,
    turns,
    takeEvents,
    counts: { admission: engine.admission.tallies, hooks: hooks.tallies, certificates: outbound.webhooks },
    keepRecording: (recording) => hooks.recorder?.keep(recording),
    logger,
    catalogs,
    requestMs: timeouts.requestMs,
  })
  closing.add(() => offload.close())
  store.heavy.maker = offload
  if (engine.elsewhere !== undefined) engine.elsewhere.carryOut = (request, isWanted) => offload.carryOut(request, isWanted)
  const listener = await makeListener(opening, { engine, catalogs, state, storage, loops, offload, extensions, hooks, outbound })
  // What clients are shown from now on must not be lost by a crash.
  await files.settle()
  isServing = true
  const port = await openPort(opening, { listener, certificate, trust, store, state })

  const hurrying = new AbortController()
  const url = urlOf(port.address, port.port)
  state.address = publicAddress(settings.serving, url)
  state.hasStarted = true
  loops.begin()
  const clientConfiguration = renderClientConfiguration({ identity, url, caPem: certificate.caPem, credential })
  const clientConfigurationPath = dataDir === undefined ? undefined : writeClientConfiguration(dataDir, clientConfiguration, files.write)
  await files.settle()
  return {
    address: port.address,
    port: port.port,
    url,
    caPem: certificate.caPem,
    clientConfiguration,
    clientConfigurationPath,
    parts: {
      engine,
      catalogs,
      storage,
      loops,
      credential,
      caPem: certificate.caPem,
      url,
      forget: () => {
        eventRates.forget()
        forgetEvents(engine)
      },
    },
    close: async ({ immediately = false } = {}) => {
      state.isShuttingDown = true
      // Waited for with everything else.
      void sendNobodyHere()
      if (immediately) {
        hurrying.abort()
        port.closeAtOnce()
      } else if (timeouts.shutdownDelayMs > 0) await delay(timeouts.shutdownDelayMs, hurrying.signal)
      await closing.close()
    },
  }
}

/** Less where somebody is in a hurry. */
const delay = (ms: number, signal: AbortSignal): Promise<void> =>
  setTimeout(timerMs(ms), undefined, { signal }).catch((thrown: unknown) => {
    if (!signal.aborted) throw thrown
  })
