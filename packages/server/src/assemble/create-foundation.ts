// Creates what all other components need: catalog, storage, credentials and certificates, own or shared with the parent of a fork.

import { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { serviceRangesOf } from '@cluster-apiserver/api/resources/core/service/service-ip-allocation.js'
import { serveCustomResources } from '../controllers/custom-resources/crd-catalog.js'
import { servedCatalog } from '../options/served-catalog.js'
import { ensureAdminCredential } from './admin-kubeconfig.js'
import { ClientTrust } from './certificates/client-ca.js'
import { tokenKeys } from './certificates/service-account-keys.js'
import { servingCertificate } from './certificates/serving-certificate.js'
import { openStore } from './open-object-store.js'
import { createOutbound, webhookDials } from './outbound.js'
import type { StartContext } from './start-context.js'

export type Foundation = Awaited<ReturnType<typeof createFoundation>>

export async function createFoundation(context: StartContext) {
  const { settings, logger, cleanup, parent, role } = context
  const { dataDir, tls, authentication } = settings
  const catalogs = parent === undefined ? servedCatalog(settings) : new CatalogSource(parent.catalog)
  const catalog = catalogs.current
  const { storage, memory, shared, store } = await openStore(context, catalog)
  const credential = parent?.credential ?? ensureAdminCredential(dataDir)
  const keys = parent?.tokenKeys ?? tokenKeys(authentication.serviceAccounts, { dataDir, tlsKey: tls.key })
  const serviceRanges = serviceRangesOf(settings.network)
  const certificate = parent?.certificate ?? (await servingCertificate(settings, logger, { neverRenews: role?.kind === 'worker' }))
  cleanup.add(() => certificate.close())
  const trust = new ClientTrust(settings.authentication, certificate.authority.cert, logger)
  cleanup.add(() => trust.close())
  const outbound = createOutbound(settings, context.testkit?.refuseWebhook)
  cleanup.add(serveCustomResources(store, catalogs, webhookDials(outbound)))
  const generated = { credential, certificate, tokenKeys: keys }
  return { catalog, catalogs, storage, memory, shared, store, trust, outbound, serviceRanges, ...generated }
}
