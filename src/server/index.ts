// The embedding API: a server inside the caller's process, for tests and for products that want one.

import type { IdentityName } from '../api/identity.js'
import { type LogFields, type Logger, silentLogger } from '../base/logger.js'
import { readObjects } from './embedding/read-objects.js'
import { checkOptions, type EtcdLocation, type FirstObject, type ObjectValue, type ServerOptions } from './embedding/server-options.js'
import { parseFlags } from './options/parse-flags.js'
import { readSettings } from './options/read-settings.js'
import { makePrivateFolder } from './private-files.js'
import type { Access, EmbeddedServer, RunningServer } from './running-server.js'

export type {
  Access,
  EmbeddedServer,
  EtcdLocation,
  FirstObject,
  IdentityName,
  LogFields,
  Logger,
  ObjectValue,
  RunningServer,
  ServerOptions,
}

/** Starts a server. Several may run at once; after `close()` nothing of it is left. */
export async function startServer(options: ServerOptions = {}): Promise<EmbeddedServer> {
  checkOptions(options)
  const { dataDir, etcd } = options
  const isInMemory = dataDir === undefined && etcd === undefined
  const objects = readObjects(options.objects ?? [])
  if (dataDir !== undefined) makePrivateFolder(dataDir)
  const settings = await readSettings(
    parseFlags([
      `--secure-port=${options.port ?? 0}`,
      `--bind-address=${options.bindAddress ?? '127.0.0.1'}`,
      `--identity=${options.identity ?? 'cluster'}`,
      ...(dataDir === undefined ? [] : [`--data-dir=${dataDir}`]),
      ...(etcd === undefined ? [] : etcdFlags(etcd)),
      ...(isInMemory ? ['--storage-backend=memory'] : []),
      ...(options.flags ?? []),
    ]),
  )
  const [{ assemble }, { embeddedServer }] = await Promise.all([import('./assemble.js'), import('./embedding/embedded-server.js')])
  // A folder is used only where one was named, and not the one that the command has by default.
  const named = dataDir === undefined ? { ...settings, dataDir: undefined } : settings
  const assembled = await assemble(named, options.logger ?? silentLogger, options.signal)
  try {
    const { untilIdle } = await import('./embedding/until-idle.js')
    if (isInMemory) await untilIdle(assembled.parts)
    if (objects.length > 0) await (await import('./embedding/apply-objects.js')).applyObjects(assembled.parts, objects)
    return embeddedServer(assembled, settings.storage === 'memory')
  } catch (thrown) {
    await assembled.close({ immediately: true })
    throw thrown
  }
}

const etcdFlags = ({ servers, prefix, caFile, certFile, keyFile }: EtcdLocation): readonly string[] => [
  `--etcd-servers=${servers.join(',')}`,
  ...(prefix === undefined ? [] : [`--etcd-prefix=${prefix}`]),
  ...(caFile === undefined ? [] : [`--etcd-cafile=${caFile}`]),
  ...(certFile === undefined ? [] : [`--etcd-certfile=${certFile}`]),
  ...(keyFile === undefined ? [] : [`--etcd-keyfile=${keyFile}`]),
]
