// Where the service answers that converts a custom kind.

import type { CatalogSource } from '../../api/catalog-source.js'
import { leanObject } from '../../objects/lean-object.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { locateService, serviceName, serviceUrl } from '../../resources/core/locate-service.js'
import type { LocateService } from './conversion-webhook.js'

export const serviceLocator =
  (store: ObjectStore, catalogs: Pick<CatalogSource, 'current'>): LocateService =>
  (reference) => {
    const read = <T>(plural: string, namespace: string, name: string): T | undefined => {
      const resource = catalogs.current.find('', 'v1', plural)
      const stored = resource && store.read({ resource, namespace, name })
      return resource && stored && (leanObject(stored, resource) as T)
    }
    const address = locateService(reference, {
      readService: (namespace, name) => read('services', namespace, name),
      readEndpoints: (namespace, name) => read('endpoints', namespace, name),
    })
    return { url: serviceUrl(reference), serverName: serviceName(reference), address }
  }
