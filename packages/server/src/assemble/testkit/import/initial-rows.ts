// Rows of a captured cluster, for the storage of a server that starts in memory. Logs what the import left out.

import { randomUUID } from 'node:crypto'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Time } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { serviceRangesOf } from '@cluster-apiserver/api/resources/core/service/service-ip-allocation.js'
import type { Settings } from '../../../options/settings.js'
import { StartupError } from '../../../options/startup-error.js'
import type { InitialRows } from '../../../storage/memory/memory-storage.js'
import { serviceReservers } from '../../../verbs/reserve/service-ips-and-ports.js'
import { importCapture } from './import-capture.js'

interface StartParts {
  readonly settings: Settings
  readonly logger: Logger
  readonly catalog: Catalog
  readonly time: Time
}

export async function importInitialRows(from: string, { settings, logger, catalog, time }: StartParts): Promise<InitialRows> {
  const { storage, encryption, network, gates, eventTtlSeconds } = settings
  if (storage !== 'memory') throw new StartupError('from: only a server in memory can import a captured cluster')
  if (encryption !== undefined) throw new StartupError('from: --encryption-provider-config cannot be combined with an import')
  const reservers = serviceReservers(serviceRangesOf(network), Math.random)
  const context = { catalog, gates, now: time.steady.now(), eventTtlSeconds, reservers, newUid: randomUUID }
  const { warnings, ...initial } = await importCapture(from, context)
  for (const warning of warnings) logger.warn({ from }, `import: ${warning}`)
  return initial
}
