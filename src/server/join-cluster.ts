// The server's own place among the objects: what a fresh cluster has, under which address it is reached, and that it runs.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { CatalogSource } from '../api/catalog-source.js'
import { steadyClock } from '../base/clock.js'
import { bootstrap } from '../controllers/bootstrap/bootstrap.js'
import { OwnAddress } from '../controllers/own-address.js'
import { ServerLease } from '../controllers/server-lease.js'
import { ServerRegistry } from '../objects/server-registry.js'
import { firstAddress } from '../resources/core/address-range.js'
import type { ServiceRanges } from '../resources/core/service-allocation.js'
import type { Storage } from '../storage/storage.js'
import type { Engine } from '../verbs/engine.js'
import { advertisedFor } from './advertised.js'
import type { ClientTrust } from './client-trust.js'
import type { Opening } from './opening.js'
import { preparedObjects } from './prepared-objects.js'
import { whenUsable } from './when-usable.js'

/** What the API's own service points to where any free port was asked for. */
const defaultPort = 6443

export interface ClusterParts {
  readonly engine: Engine
  readonly catalogs: CatalogSource
  readonly storage: Storage
  readonly serviceRanges: ServiceRanges
  readonly trust: ClientTrust
}

/** Gives what is to be called when nobody new shall be sent here. */
export async function joinCluster({ settings, logger, closing, signal }: Opening, parts: ClusterParts): Promise<() => Promise<void>> {
  const { engine, catalogs, storage, serviceRanges, trust } = parts
  const self = { hostname: hostname(), holder: randomUUID(), leaseSeconds: settings.ownLease.seconds }
  const securePort = settings.securePort || defaultPort
  const address = settings.keepsEndpoints ? (settings.advertiseAddress ?? advertisedFor(settings.bindAddress)) : ''
  const isShared = settings.storage === 'etcd'
  const registry = new ServerRegistry(storage, steadyClock)
  const ownAddress =
    isShared && address !== ''
      ? new OwnAddress({ engine, catalogs, logger, registry, self: { holder: self.holder, address }, securePort })
      : undefined
  closing.add(() => ownAddress?.close())
  const [firstRange] = serviceRanges.addresses
  const prepare = async (): Promise<void> =>
    bootstrap(engine, catalogs.current, {
      serviceAddress: firstRange === undefined ? '' : firstAddress(firstRange),
      securePort,
      addresses: ownAddress === undefined ? [address].filter(Boolean) : await ownAddress.announce(),
      self,
      trusted: trust.published,
      prepared: preparedObjects(settings),
    })
  await (isShared ? whenUsable(prepare, { logger, signal }) : prepare())
  ownAddress?.start()
  if (settings.gates('APIServerIdentity')) {
    const lease = new ServerLease({ engine, catalogs, logger, self, renewMs: settings.ownLease.renewMs })
    closing.add(() => lease.close())
  }
  return async () => ownAddress?.close()
}
