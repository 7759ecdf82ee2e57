// Registers this API server: bootstrap objects, its address in the endpoints, and its identity lease.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { ServiceRanges } from '@cluster-apiserver/api/resources/core/service/service-ip-allocation.js'
import { firstAddress } from '@cluster-apiserver/api/resources/core/service/service-ip-range.js'
import { ApiServerEndpoints } from '../controllers/apiserver-identity/apiserver-endpoints.js'
import { ApiServerLease } from '../controllers/apiserver-identity/apiserver-lease.js'
import { bootstrap } from '../controllers/bootstrap/bootstrap.js'
import { ServerRegistry } from '../objects/server-registry.js'
import { advertisedFor, isLoopback } from '../options/advertise-address.js'
import type { Settings } from '../options/settings.js'
import { type Storage, StorageUnavailableError } from '../storage/storage.js'
import type { Engine } from '../verbs/engine.js'
import { serverUrl } from './admin-kubeconfig.js'
import type { ClientTrust } from './certificates/client-ca.js'
import { publicAddress } from './serving-options.js'
import type { StartContext } from './start-context.js'

/** Published port of this server if --secure-port is 0. */
const defaultPort = 6443

interface RegistrationParts {
  readonly engine: Engine
  readonly catalogs: CatalogSource
  readonly storage: Storage
  readonly serviceRanges: ServiceRanges
  readonly trust: ClientTrust
  readonly certificate: { readonly rootPem: string }
}

interface Registration {
  readonly holder: string
  /** Starts to renew the identity lease. */
  renewLease(): void
  /** Removes the address of this server from the endpoints, if the storage is a shared etcd. */
  deregister(): Promise<void>
}

/** A fork has the objects of its parent, and continues to renew the same lease. */
export async function registerApiServer(
  { settings, logger, cleanup, signal, time, parent, role }: StartContext,
  parts: RegistrationParts,
): Promise<Registration> {
  const { engine, catalogs, storage, serviceRanges, trust, certificate } = parts
  // The primary registers for all worker processes.
  if (role?.kind === 'worker') return { holder: '', renewLease: () => undefined, deregister: async () => undefined }
  const self = { hostname: hostname(), holder: parent?.holder ?? randomUUID(), leaseSeconds: settings.identityLease.seconds }
  const securePort = settings.securePort || defaultPort
  const address = settings.keepsEndpoints ? (settings.advertiseAddress ?? advertisedFor(settings.bindAddress)) : ''
  const isShared = settings.storage === 'etcd'
  const registry = new ServerRegistry(storage, time.steady)
  const endpoints =
    isShared && address !== ''
      ? new ApiServerEndpoints({ engine, catalogs, logger, registry, self: { holder: self.holder, address }, securePort })
      : undefined
  cleanup.add(() => endpoints?.close())
  const [firstRange] = serviceRanges.addresses
  const prepare = async (): Promise<void> =>
    bootstrap(engine, catalogs.current, {
      serviceAddress: firstRange === undefined ? '' : firstAddress(firstRange),
      securePort,
      addresses: endpoints === undefined ? [address].filter(Boolean) : await endpoints.announce(),
      self,
      clusterInfo: { server: clusterInfoUrl(settings, securePort), caPem: certificate.rootPem },
      trusted: trust.published,
    })
  if (parent === undefined) await (isShared ? retryWhileUnavailable(prepare, { logger, signal }) : prepare())
  endpoints?.start()
  let lease: ApiServerLease | undefined
  cleanup.add(() => lease?.close())
  return {
    holder: self.holder,
    renewLease: () => {
      if (settings.gates('APIServerIdentity'))
        lease ??= new ApiServerLease({ engine, catalogs, logger, self, renewMs: settings.identityLease.renewMs, timers: time.timers })
    },
    deregister: async () => endpoints?.close(),
  }
}

/** URL of this server for other machines; loopback if the server listens only on loopback. */
function clusterInfoUrl({ serving, advertiseAddress, bindAddress }: Settings, port: number): string {
  const address = advertiseAddress ?? (isLoopback(bindAddress) ? bindAddress : advertisedFor(bindAddress) || bindAddress)
  return `https://${publicAddress(serving, serverUrl(address, port))}`
}

const retryMs = 1000

interface RetryOptions {
  readonly logger: Logger
  readonly signal: AbortSignal | undefined
}

const isUnavailable = (thrown: unknown): thrown is Error =>
  thrown instanceof StorageUnavailableError || (thrown instanceof ApiError && thrown.status.code === 503)

export async function retryWhileUnavailable(work: () => Promise<void>, { logger, signal }: RetryOptions): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch (thrown) {
      if (!isUnavailable(thrown)) throw thrown
      signal?.throwIfAborted()
      logger.warn({ error: thrown.message, retryMs }, 'waiting for the store')
      await sleep(retryMs, undefined, signal ? { signal } : {})
    }
  }
}
