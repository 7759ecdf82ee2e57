// The embedding API: a server inside the caller's process, for tests and for products that want one.

import type { IdentityName } from '../api/identity.js'
import { silentLogger } from '../base/logger.js'
import { assemble } from './assemble.js'
import { parseFlags } from './options/parse-flags.js'
import { readSettings } from './options/read-settings.js'
import { makePrivateFolder } from './private-files.js'
import type { RunningServer } from './running-server.js'

export type { RunningServer }

export interface ServerOptions {
  /** Where objects are kept; left out: in memory, and nothing is written anywhere. */
  readonly dataDir?: string
  /** 0 or left out: any free port. */
  readonly port?: number
  readonly bindAddress?: string
  readonly identity?: IdentityName
  /** Further flags of the command line, such as `['--event-ttl=10m']`. */
  readonly flags?: readonly string[]
}

/** Starts a server. Several may run at once; after `close()` nothing of it is left. */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  if (options.dataDir !== undefined) makePrivateFolder(options.dataDir)
  const place = options.dataDir === undefined ? ['--storage-backend=memory'] : [`--data-dir=${options.dataDir}`]
  const settings = await readSettings(
    parseFlags([
      `--secure-port=${options.port ?? 0}`,
      `--bind-address=${options.bindAddress ?? '127.0.0.1'}`,
      `--identity=${options.identity ?? 'cluster'}`,
      ...place,
      ...(options.flags ?? []),
    ]),
  )
  return assemble(settings, silentLogger)
}
