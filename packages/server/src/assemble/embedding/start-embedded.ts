// Starts a server with a test kit: for the embedding API, and for the command with --testkit.

import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { Settings } from '../../options/settings.js'
import { type AssembleOptions, assemble } from '../assemble.js'
import type { EmbeddedServer } from '../running-server.js'
import { applyObjects, type ObjectWithOrigin } from './apply-objects.js'
import { type EmbeddingOptions, embeddedServer } from './embedded-server.js'
import { waitUntilIdle } from './until-idle.js'

interface StartOptions {
  readonly signal?: AbortSignal | undefined
  readonly objects?: readonly ObjectWithOrigin[]
  /** Path of a captured cluster to begin with. */
  readonly from?: string | undefined
}

export async function startEmbedded(
  settings: Settings,
  logger: Logger,
  { signal, objects = [], from }: StartOptions = {},
): Promise<EmbeddedServer> {
  const opened = await open(settings, logger, { signal, from })
  const { parts, close } = opened.assembled
  try {
    if (settings.storage === 'memory') await waitUntilIdle(parts)
    if (objects.length > 0) await applyObjects(parts, objects)
    // A fork has the same token of the control API.
    const { testkit } = settings
    const forkSettings = testkit === undefined ? settings : { ...settings, testkit: { ...testkit, token: opened.control?.token } }
    return expose(opened, { settings: forkSettings, logger, family: {}, users: [] })
  } catch (thrown) {
    await close({ immediately: true })
    throw thrown
  }
}

interface OpenOptions extends Pick<AssembleOptions, 'signal' | 'from' | 'parent'> {
  /** Difference of the clock to real time. */
  readonly offsetMs?: number
}

async function open(settings: Settings, logger: Logger, { offsetMs, ...options }: OpenOptions) {
  const control = await createControl(settings, logger)
  // Imported here: a server without a test kit, which shares the bundle, does not load it.
  const { Testkit } = await import('../testkit/testkit.js')
  const testkit = new Testkit(offsetMs)
  testkit.control = control
  const assembled = await assemble(settings, logger, { ...options, testkit })
  const { controllers, engine, begin } = assembled.parts
  testkit.clock.waitFor({
    begin,
    isIdle: () => controllers.isIdle() && engine.store.notifiedUpTo === engine.store.revision,
    finish: () => waitUntilIdle(assembled.parts),
  })
  return { assembled, testkit, control }
}

interface ExposeOptions extends Pick<EmbeddingOptions, 'family' | 'users'> {
  readonly settings: Settings
  readonly logger: Logger
}

function expose({ assembled, testkit, control }: Awaited<ReturnType<typeof open>>, options: ExposeOptions): EmbeddedServer {
  const { settings, logger, family, users } = options
  const server = embeddedServer(assembled, {
    family,
    users,
    testkitToken: control?.token,
    testkit,
    simulatesNodes: settings.simulation !== undefined,
    fork: async (parent, forkUsers) => {
      const opened = await open(settings, logger, { parent, offsetMs: testkit.clock.offsetMs })
      return expose(opened, { ...options, users: forkUsers })
    },
  })
  control?.open({ server, testkit })
  return server
}

async function createControl(settings: Settings, logger: Logger) {
  if (settings.testkit === undefined) return undefined
  const { createControlApi } = await import('../testkit/control-api/create-control-api.js')
  return createControlApi(settings, logger)
}
