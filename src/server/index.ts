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
  /** Keeps objects in etcd instead; `dataDir` then holds the mirror and the certificates, or a temporary folder does. */
  readonly etcd?: EtcdLocation
  /** 0 or left out: any free port. */
  readonly port?: number
  readonly bindAddress?: string
  readonly identity?: IdentityName
  /** Further flags of the command line, such as `['--event-ttl=10m']`. */
  readonly flags?: readonly string[]
  /** Ends a start that waits for an etcd that cannot be reached. */
  readonly signal?: AbortSignal
}

export interface EtcdLocation {
  /** Such as `https://10.0.0.1:2379`, one for each member; a user is named like `https://name:password@10.0.0.1:2379`. */
  readonly servers: readonly string[]
  /** The beginning of every key; left out: `/registry`. */
  readonly prefix?: string
  /** Files in PEM form. */
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
}

/** Starts a server. Several may run at once; after `close()` nothing of it is left. */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { dataDir, etcd } = options
  if (dataDir !== undefined) makePrivateFolder(dataDir)
  const settings = await readSettings(
    parseFlags([
      `--secure-port=${options.port ?? 0}`,
      `--bind-address=${options.bindAddress ?? '127.0.0.1'}`,
      `--identity=${options.identity ?? 'cluster'}`,
      ...(dataDir === undefined ? [] : [`--data-dir=${dataDir}`]),
      ...(etcd === undefined ? [] : etcdFlags(etcd)),
      ...(dataDir === undefined && etcd === undefined ? ['--storage-backend=memory'] : []),
      ...(options.flags ?? []),
    ]),
  )
  // A folder is used only where one was named, and not the one that the command has by default.
  return assemble(dataDir === undefined ? { ...settings, dataDir: undefined } : settings, silentLogger, options.signal)
}

const etcdFlags = ({ servers, prefix, caFile, certFile, keyFile }: EtcdLocation): readonly string[] => [
  `--etcd-servers=${servers.join(',')}`,
  ...(prefix === undefined ? [] : [`--etcd-prefix=${prefix}`]),
  ...(caFile === undefined ? [] : [`--etcd-cafile=${caFile}`]),
  ...(certFile === undefined ? [] : [`--etcd-certfile=${certFile}`]),
  ...(keyFile === undefined ? [] : [`--etcd-keyfile=${keyFile}`]),
]
