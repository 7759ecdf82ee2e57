// Who else answers for a part of the API, and how this server reaches them.

import { ApiServiceSource } from '../api/api-services.js'
import type { CatalogSource } from '../api/catalog-source.js'
import { type ClientPair, type ExtensionAsker, extensionAsker } from '../controllers/aggregation/ask-extension.js'
import { type ServiceFinder, serviceFinder } from '../controllers/aggregation/find-service.js'
import { followApiServices } from '../controllers/aggregation/follow-api-services.js'
import { RemoteDocuments } from '../controllers/aggregation/remote-documents.js'
import { AggregationTallies } from '../controllers/aggregation/tallies.js'
import { ReloadingCertificate } from '../net/reloading-certificate.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { Opening } from './opening.js'
import type { Outbound } from './outbound.js'
import { StartError } from './start-failure.js'

export interface OpenExtensions {
  readonly services: ApiServiceSource
  readonly finder: ServiceFinder
  readonly asker: ExtensionAsker
  readonly tallies: AggregationTallies
  readonly documents: RemoteDocuments
  /** What is shown to other servers now. */
  readonly clientPair: () => ClientPair | undefined
}

export function openExtensions(
  opening: Opening,
  store: ObjectStore,
  catalogs: CatalogSource,
  { cluster: dial }: Pick<Outbound, 'cluster'>,
): OpenExtensions {
  const { settings, logger, closing } = opening
  const services = new ApiServiceSource()
  closing.add(followApiServices(store, catalogs.current, services))
  const clientPair = openClientPair(opening)
  const finder = serviceFinder({ store, catalogs, toEndpoints: settings.aggregation.toEndpoints })
  const user = `system:${settings.identity.prefixed('aggregator')}`
  const asker = extensionAsker({ finder, clientPair, user, dial })
  const tallies = new AggregationTallies()
  const documents = new RemoteDocuments({ services, asker, tallies, logger })
  closing.add(() => documents.close())
  return { services, finder, asker, tallies, documents, clientPair }
}

function openClientPair({ settings, logger, closing }: Opening): () => ClientPair | undefined {
  const { clientFiles } = settings.aggregation
  if (clientFiles === undefined) return () => undefined
  try {
    const reloading = new ReloadingCertificate(clientFiles, { logger, what: 'proxy client certificate', onChange: () => undefined })
    closing.add(() => reloading.close())
    return () => reloading.current
  } catch (thrown) {
    throw new StartError(`--proxy-client-cert-file: ${thrown instanceof Error ? thrown.message : thrown}`)
  }
}
