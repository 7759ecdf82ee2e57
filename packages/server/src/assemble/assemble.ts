// The composition root: creates every component of the server once, in the order of their dependencies.

import { existsSync } from 'node:fs'
import { CleanupStack } from '@cluster-apiserver/api/base/async/cleanup-stack.js'
import { realTime, steadyClock } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { eventTokenBuckets } from '../admission/plugins/event-rate-limit.js'
import { RbacIndex } from '../auth/rbac/rbac-index.js'
import { forgetEvents } from '../controllers/framework/record-event.js'
import type { RequestListener } from '../net/listen/http-messages.js'
import { syncFolder } from '../options/files/private-files.js'
import type { Settings } from '../options/settings.js'
import type { MemorySnapshot } from '../storage/memory/memory-storage.js'
import { OffloadedSteps } from '../threads/offloaded-steps.js'
import { WorkerPool } from '../threads/worker-pool.js'
import type { Engine } from '../verbs/engine.js'
import { renderAdminKubeconfig, serverUrl, writeAdminKubeconfig } from './admin-kubeconfig.js'
import { isGenerated, pkiFolder } from './certificates/serving-certificate.js'
import { createAggregation } from './create-aggregation.js'
import { createEngine } from './create-engine.js'
import { createFoundation, type Foundation } from './create-foundation.js'
import { createListener, type ServerState, type Workers } from './create-listener.js'
import { createWebhooks } from './create-webhooks.js'
import type { AssembledServer } from './embedding/assembled-server.js'
import { gracefulClose } from './graceful-shutdown.js'
import { openPort } from './open-port.js'
import type { OpenPort } from './processes/open-workers-port.js'
import type { ProcessRole } from './processes/process-role.js'
import { registerApiServer } from './register-apiserver.js'
import { publicAddress } from './serving-options.js'
import type { SharedParts, StartContext } from './start-context.js'
import { type RunningControllers, startControllers } from './start-controllers.js'
import type { Testkit } from './testkit/testkit.js'

export interface AssembleOptions {
  /** Aborts a start that waits for an unreachable etcd. */
  readonly signal?: AbortSignal | undefined
  readonly testkit?: Testkit | undefined
  /** Path of a captured cluster, which a server in memory imports before it starts. */
  readonly from?: string | undefined
  /** The server becomes a fork of the one that has these parts. */
  readonly parent?: SharedParts | undefined
  readonly role?: ProcessRole | undefined
}

export async function assemble(
  settings: Settings,
  logger: Logger,
  { signal, testkit, from, parent, role }: AssembleOptions = {},
): Promise<AssembledServer> {
  const cleanup = new CleanupStack()
  try {
    return await open({ settings, logger, cleanup, signal, time: testkit?.clock.time ?? realTime, testkit, from, parent, role })
  } catch (thrown) {
    await cleanup.close()
    throw thrown
  }
}

async function open(context: StartContext): Promise<AssembledServer> {
  const { settings, logger, cleanup, testkit, parent, role } = context
  const foundation = await createFoundation(context)
  const { catalogs, storage, memory, store, credential, certificate, trust, outbound, serviceRanges } = foundation
  const extensions = createAggregation(context, store, catalogs, outbound)
  const state: ServerState = { hasStarted: false, isShuttingDown: false, startedMs: steadyClock.now(), address: '', handshakeErrors: 0 }
  let isServing = false
  const rbac = new RbacIndex(store, catalogs.current, logger)
  const webhooks = createWebhooks(context, outbound, () => isServing)
  cleanup.add(() => webhooks.close())
  const eventRates = eventTokenBuckets(settings.admission.config.eventRateLimits, context.time.timers.now)
  const engine = createEngine(context, { ...foundation, rbac, webhooks, takeEvents: eventRates.take })
  testkit?.webhooks.attach({ engine, catalogs, cleanup, logger })
  const registration = await registerApiServer(context, { engine, catalogs, storage, serviceRanges, trust, certificate })
  // Warms the index; the first request reads again and reports the error if this fails.
  if (parent === undefined) rbac.open().catch(() => undefined)

  const controllers = await startControllers(context, { engine, catalogs, certificate, trust, extensions })
  const workers = createWorkers(context, engine)
  const servedParts = { ...foundation, engine, state, controllers, workers, extensions, webhooks }
  const { listener, primaryPort } = await createListener(context, servedParts)
  syncFolders(settings)
  isServing = true
  const begin = (): void => {
    registration.renewLease()
    controllers.begin()
  }
  const controlled = testkit?.control?.attach(listener, cleanup) ?? listener
  const first = parent === undefined ? controlled : beginBeforeFirstRequest(begin, controlled)
  const port = await (primaryPort?.() ?? openPort(context, { listener: first, certificate, trust, store, state }))
  const url = serverUrl(port.address, port.port)
  state.address = publicAddress(settings.serving, url)
  state.hasStarted = true
  if (parent?.isIdle !== true) begin()

  const { caPem } = certificate
  const { identity } = settings
  const adminFolder = role?.kind === 'worker' ? undefined : settings.dataDir
  const clientConfiguration = renderAdminKubeconfig({ identity, url, caPem, credential })
  const forget = eventForgetter(engine, eventRates)
  const share = partsForForks(settings, foundation, { registration, controllers, port })
  return {
    address: port.address,
    port: port.port,
    url,
    caPem,
    clientConfiguration,
    clientConfigurationPath: adminFolder === undefined ? undefined : writeAdminKubeconfig(adminFolder, clientConfiguration),
    parts: { engine, catalogs, storage, memory, controllers, credential, caPem, url, begin, forget, share },
    close: gracefulClose(context, {
      failReadiness: () => {
        state.isShuttingDown = true
        testkit?.onShutdown()
        void registration.deregister()
        port.beginShutdown?.()
      },
      cutRequests: () => port.closeAtOnce(),
    }),
  }
}

/** After a reset of the objects, events must not be counted as repeated or too frequent. */
const eventForgetter = (engine: Engine, rates: ReturnType<typeof eventTokenBuckets>) => (): void => {
  rates.clear()
  forgetEvents(engine)
}

interface StartedParts {
  readonly registration: { readonly holder: string }
  readonly controllers: Pick<RunningControllers, 'isIdle'>
  readonly port: Pick<OpenPort, 'handshakes'>
}

/** Parts that forks share. A fork reads certificate files itself, because each server reloads them. */
const partsForForks =
  (settings: Settings, foundation: Foundation, { registration, controllers, port }: StartedParts) =>
  (snapshot: MemorySnapshot): SharedParts => ({
    snapshot,
    catalog: foundation.catalog,
    credential: foundation.credential,
    certificate: isGenerated(settings) ? foundation.certificate : undefined,
    handshakes: isGenerated(settings) ? port.handshakes : undefined,
    tokenKeys: foundation.tokenKeys,
    holder: registration.holder,
    isIdle: controllers.isIdle(),
  })

function beginBeforeFirstRequest(begin: () => void, serve: RequestListener): RequestListener {
  let hasBegun = false
  return (request, response) => {
    if (!hasBegun) begin()
    hasBegun = true
    return serve(request, response)
  }
}

/** Makes certificates and tokens durable before clients receive them. */
function syncFolders({ dataDir, serving: { certDir } }: Settings): void {
  for (const folder of [dataDir, dataDir && pkiFolder(dataDir), certDir]) if (folder !== undefined && existsSync(folder)) syncFolder(folder)
}

/** Worker threads for large inputs; the first task starts them. */
function createWorkers({ settings, logger, cleanup }: StartContext, engine: Engine): Workers {
  const { flags, identity, allowPrivileged, admission } = settings
  const pool = new WorkerPool({
    threads: settings.workerThreads,
    logger,
    settings: {
      identity: identity.name,
      featureGates: flags.values['feature-gates'],
      runtimeConfig: flags.values['runtime-config'],
      forbidsPrivileged: !allowPrivileged,
      allowsPlainWebhooks: admission.allowsPlainWebhooks,
    },
  })
  cleanup.add(() => pool.close())
  const steps = new OffloadedSteps(pool)
  engine.store.largeItems.encoder = steps
  engine.steps = steps
  return { pool, steps }
}
