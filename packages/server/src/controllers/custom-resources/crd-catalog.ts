// Keeps the Catalog of served kinds current with the established CustomResourceDefinitions, on every replica.

import { ApiError, notFound } from '@cluster-apiserver/api/api/api-error.js'
import type { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ResourceDefinition } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { customKind } from '@cluster-apiserver/api/resources/apiextensions/custom-resource/custom-kind.js'
import type { CustomResourceDefinition } from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import { locateService, serviceName, serviceUrl } from '@cluster-apiserver/api/resources/core/service/service-endpoint-address.js'
import type { WebhookDials } from '../../net/outbound/webhook-dial.js'
import { decodeOnce, type StoredObject } from '../../objects/entry/stored-object.js'
import { everything } from '../../objects/list/selection.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { type ConversionWebhook, conversionWebhook, type LocateService, type WebhookParts } from './conversion-webhook.js'

export const crdResource = (catalogs: Pick<CatalogSource, 'current'>): Resource | undefined => {
  const { current } = catalogs
  return current.find(current.identity.group({ stem: 'apiextensions' }), 'v1', 'customresourcedefinitions')
}

const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True') === true

/** True for groups of built-in kinds. */
export const isBuiltInGroup = (catalog: Catalog, group: string): boolean => catalog.hasGroup(group) && !catalog.isCustomGroup(group)

const fingerprint = ({ metadata, status }: CustomResourceDefinition): string =>
  JSON.stringify([metadata?.uid, metadata?.generation, metadata?.deletionTimestamp !== undefined, status?.acceptedNames])

const terminatingError = ({ group = '', names }: NonNullable<CustomResourceDefinition['spec']>): ApiError =>
  new ApiError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'create not allowed while custom resource definition is terminating',
    details: { group, kind: names?.plural ?? '' },
  })

const unconvertedKind = weakMemoize((crd: CustomResourceDefinition) => customKind(crd))

interface ServedCrd {
  readonly fingerprint: string
  readonly kind: ResourceDefinition
  readonly webhook: ConversionWebhook | undefined
  /** Shared with requests that still use this version of the kind. */
  readonly state: { isRemoved: boolean }
}

class CustomResourceCatalog {
  readonly #catalogs: CatalogSource
  readonly #parts: WebhookParts
  readonly #served = new Map<string, ServedCrd>()

  constructor(catalogs: CatalogSource, parts: WebhookParts) {
    this.#catalogs = catalogs
    this.#parts = parts
  }

  load(crds: Iterable<readonly [string, CustomResourceDefinition]>): void {
    const kinds: ResourceDefinition[] = []
    for (const [key, crd] of crds) {
      if (!this.#isServed(crd)) continue
      const served = this.#build(crd)
      this.#served.set(key, served)
      kinds.push(served.kind)
    }
    if (kinds.length > 0) this.#catalogs.change({ put: kinds })
  }

  update(key: string, crd: CustomResourceDefinition | undefined): void {
    const before = this.#served.get(key)
    if (crd === undefined || !this.#isServed(crd)) {
      if (before === undefined) return
      this.#served.delete(key)
      before.state.isRemoved = true
      before.webhook?.close()
      this.#catalogs.change({ remove: [before.kind] })
      return
    }
    if (before?.fingerprint === fingerprint(crd)) return
    const served = this.#build(crd)
    this.#served.set(key, served)
    if (before !== undefined) before.state.isRemoved = crd.metadata?.deletionTimestamp !== undefined
    before?.webhook?.close()
    const isRenamed = before !== undefined && !isSameResource(before.kind, served.kind)
    this.#catalogs.change({ put: [served.kind], ...(isRenamed ? { remove: [before.kind] } : {}) })
  }

  close(): void {
    for (const { webhook } of this.#served.values()) webhook?.close()
  }

  #isServed(crd: CustomResourceDefinition): boolean {
    return isEstablished(crd) && !isBuiltInGroup(this.#catalogs.current, crd.spec?.group ?? '')
  }

  #build(crd: CustomResourceDefinition): ServedCrd {
    const webhook = conversionWebhook(crd, this.#parts)
    const state = { isRemoved: false }
    const isTerminating = crd.metadata?.deletionTimestamp !== undefined
    const checkCreatable = (): void => {
      if (isTerminating) throw terminatingError(crd.spec ?? {})
      if (state.isRemoved) throw notFound({ group: crd.spec?.group ?? '', resource: crd.spec?.names?.plural ?? '', kind: '' }, '')
    }
    const kind = { ...(webhook === undefined ? unconvertedKind(crd) : customKind(crd, webhook.convert)), checkCreatable }
    return { fingerprint: fingerprint(crd), kind, webhook, state }
  }
}

export function serveCustomResources(store: ObjectStore, catalogs: CatalogSource, webhookDials: WebhookDials = {}): () => void {
  const resource = crdResource(catalogs)
  if (resource === undefined) return () => undefined
  const served = new CustomResourceCatalog(catalogs, {
    ...webhookDials,
    reviewGroup: resource.group,
    locate: serviceLocator(store, catalogs),
  })
  const read = (object: StoredObject): CustomResourceDefinition => decodeOnce(object, resource) as CustomResourceDefinition
  const unwatch = store.watch({
    resource,
    namespace: '',
    matches: undefined,
    deliver: ({ type, object }) => served.update(object.key, type === 'DELETED' ? undefined : read(object)),
  })
  served.load(entriesOf(store.readInSteps({ resource, namespace: '', selection: everything }), read))
  return () => {
    unwatch()
    served.close()
  }
}

function* entriesOf(
  objects: Iterable<StoredObject | undefined>,
  read: (object: StoredObject) => CustomResourceDefinition,
): Generator<readonly [string, CustomResourceDefinition]> {
  for (const object of objects) if (object !== undefined) yield [object.key, read(object)]
}

const isSameResource = (a: ResourceDefinition, b: ResourceDefinition): boolean => a.group === b.group && a.resource === b.resource

const serviceLocator =
  (store: ObjectStore, catalogs: Pick<CatalogSource, 'current'>): LocateService =>
  (reference) => {
    const read = <T>(plural: string, namespace: string, name: string): T | undefined => {
      const resource = catalogs.current.find('', 'v1', plural)
      const stored = resource && store.read({ resource, namespace, name })
      return resource && stored && (stored.decode(resource) as T)
    }
    const address = locateService(reference, {
      readService: (namespace, name) => read('services', namespace, name),
      readEndpoints: (namespace, name) => read('endpoints', namespace, name),
    })
    return { url: serviceUrl(reference), serverName: serviceName(reference), address }
  }
