// The flags of storage as settings: which engine, and for etcd where it is and how it is reached.

import { resolve } from 'node:path'
import { parseEndpoint } from '../../storage/etcd/endpoint.js'
import { flagError } from './flag.js'
import type { FlagName } from './flag-table.js'
import { type SettingsInput, under } from './read-settings.js'
import type { EtcdSettings, Settings } from './settings.js'

/** What says something only together with --etcd-servers. */
const etcdOnly = ['etcd-prefix', 'etcd-cafile', 'etcd-certfile', 'etcd-keyfile', 'lease-reuse-duration-seconds'] as const

export function readStorage(input: SettingsInput): Pick<Settings, 'storage' | 'etcd'> {
  const { values, given } = input
  const named = values['storage-backend']
  const isEtcdNamed = named === 'etcd' || named === 'etcd3'
  if (given.has('etcd-servers')) {
    if (given.has('storage-backend') && !isEtcdNamed) {
      throw flagError('etcd-servers', `does not go with --storage-backend=${named}; leave one of them out`)
    }
    return { storage: 'etcd', etcd: readEtcd(input) }
  }
  if (isEtcdNamed) throw flagError('storage-backend', `${named} needs --etcd-servers, such as --etcd-servers=https://10.0.0.1:2379`)
  const useless = etcdOnly.find((flag: FlagName) => given.has(flag))
  if (useless !== undefined) throw flagError(useless, 'needs --etcd-servers, too')
  return { storage: named, etcd: undefined }
}

function readEtcd({ values }: SettingsInput): EtcdSettings {
  const servers = values['etcd-servers']
  if (servers.length === 0) throw flagError('etcd-servers', 'at least one address is needed, such as https://10.0.0.1:2379')
  const certFile = values['etcd-certfile']
  const keyFile = values['etcd-keyfile']
  if (certFile !== undefined && keyFile === undefined) throw flagError('etcd-certfile', 'needs --etcd-keyfile, too')
  if (keyFile !== undefined && certFile === undefined) throw flagError('etcd-keyfile', 'needs --etcd-certfile, too')
  const caFile = values['etcd-cafile']
  return {
    servers,
    addresses: under('etcd-servers', () => servers.map((server) => parseEndpoint(server).url)),
    prefix: values['etcd-prefix'],
    tls: {
      ...(caFile === undefined ? {} : { caFile: resolve(caFile) }),
      ...(certFile === undefined || keyFile === undefined ? {} : { certFile: resolve(certFile), keyFile: resolve(keyFile) }),
    },
    leaseReuseMs: values['lease-reuse-duration-seconds'] * 1000,
  }
}
