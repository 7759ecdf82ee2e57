// Entry of --workers: the primary with its supervisor, or a worker. Loaded only with more than one worker.

import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { assemble } from '../../assemble/assemble.js'
import type { RunningServer } from '../../assemble/running-server.js'
import { flagError } from '../../options/flags/flag.js'
import type { Settings } from '../../options/settings.js'
import { runWorker } from './run-worker.js'
import { isOwnWorker, refusalOfWorkers, Supervisor } from './supervisor.js'

export async function startPrimary(settings: Settings, logger: Logger): Promise<RunningServer> {
  const refusal = refusalOfWorkers()
  if (refusal !== undefined) throw flagError('workers', refusal)
  const { workers, bindAddress: host, securePort: port } = settings
  return assemble(settings, logger, { role: new Supervisor({ workers, host, port, logger }) })
}

export { isOwnWorker, runWorker }
