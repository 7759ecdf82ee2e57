// What the operator reads when the server is up: where it listens, and how to talk to it.

import { isLoopback } from './advertised.js'
import { caFile, pkiFolder } from './certificates.js'
import { adminTokenFile } from './client-configuration.js'
import type { Settings } from './options/settings.js'
import type { RunningServer } from './running-server.js'

export interface Greeting {
  readonly settings: Settings
  readonly server: RunningServer
  readonly version: string
  /** From the start of the process. */
  readonly elapsedMs: number
}

export function renderGreeting({ settings, server, version, elapsedMs }: Greeting): string {
  const { dataDir, storage, etcd } = settings
  const folder = storage === 'memory' ? 'in memory' : `in ${dataDir}`
  const kept = etcd === undefined ? folder : `in etcd at ${etcd.addresses.join(', ')} under ${etcd.prefix}, mirrored ${folder}`
  return [
    `cluster-apiserver ${version} listens on ${server.url} (identity ${settings.identity.name}, data ${kept})`,
    ...(isLoopback(settings.bindAddress) ? [] : [exposure(settings)]),
    ...(server.clientConfigurationPath === undefined || dataDir === undefined
      ? ['  client configuration, written nowhere else:', '', server.clientConfiguration.trimEnd(), '']
      : [`  client configuration: ${server.clientConfigurationPath}`, `  try: ${exampleCommand(settings, server, dataDir)}`]),
    `ready after ${Math.round(elapsedMs)} ms`,
    '',
  ].join('\n')
}

const exposure = ({ bindAddress, anonymousAuth }: Settings): string =>
  `  other machines can connect (--bind-address=${bindAddress}); requests without a credential ${
    anonymousAuth ? 'are from system:anonymous, unless --anonymous-auth=false' : 'are refused'
  }`

function exampleCommand(settings: Settings, server: RunningServer, dataDir: string): string {
  const ca = settings.tls.files?.certFile ?? caFile(settings.serving.certDir ?? pkiFolder(dataDir))
  return `curl --cacert ${quote(ca)} -H "Authorization: Bearer $(cat ${quote(adminTokenFile(dataDir))})" ${server.url}/api/v1/namespaces`
}

/** For a shell, where it is needed. */
const quote = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
