// Creates the aggregation layer: registered APIServices, and the client for extension API servers.

import { ApiServiceSource } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { AggregationCounters } from '../controllers/aggregation/aggregation-metrics.js'
import { type ClientPair, createExtensionClient, type ExtensionClient } from '../controllers/aggregation/extension-client.js'
import { type ServiceFinder, serviceFinder } from '../controllers/aggregation/find-service.js'
import { followApiServices } from '../controllers/aggregation/follow-api-services.js'
import { RemoteDocuments } from '../controllers/aggregation/remote-documents.js'
import { ReloadingCertificate } from '../net/tls/reloading-certificate.js'
import type { ObjectStore } from '../objects/object-store.js'
import { flagError } from '../options/flags/flag.js'
import type { Outbound } from './outbound.js'
import type { StartContext } from './start-context.js'

export interface Aggregation {
  readonly services: ApiServiceSource
  readonly finder: ServiceFinder
  readonly extensionClient: ExtensionClient
  readonly counters: AggregationCounters
  readonly documents: RemoteDocuments
  readonly clientPair: () => ClientPair | undefined
}

export function createAggregation(
  context: StartContext,
  store: ObjectStore,
  catalogs: CatalogSource,
  { cluster: dial }: Pick<Outbound, 'cluster'>,
): Aggregation {
  const { settings, logger, cleanup } = context
  const services = new ApiServiceSource()
  cleanup.add(followApiServices(store, catalogs.current, services))
  const clientPair = openClientPair(context)
  const finder = serviceFinder({ store, catalogs, toEndpoints: settings.aggregation.toEndpoints })
  const user = `system:${settings.identity.prefixed('aggregator')}`
  const extensionClient = createExtensionClient({ finder, clientPair, user, dial })
  const counters = new AggregationCounters()
  const documents = new RemoteDocuments({ services, extensionClient, counters, logger })
  cleanup.add(() => documents.close())
  return { services, finder, extensionClient, counters, documents, clientPair }
}

function openClientPair({ settings, logger, cleanup }: StartContext): () => ClientPair | undefined {
  const { clientFiles } = settings.aggregation
  if (clientFiles === undefined) return () => undefined
  try {
    const reloading = new ReloadingCertificate(clientFiles, {
      logger,
      certificateName: 'proxy client certificate',
      onChange: () => undefined,
    })
    cleanup.add(() => reloading.close())
    return () => reloading.current
  } catch (thrown) {
    throw flagError('proxy-client-cert-file', errorMessage(thrown))
  }
}
