// Serves what definitions of custom kinds describe, on every server: the catalog follows each definition as it is committed.

import type { Resource } from '../../api/catalog.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import type { ResourceDefinition } from '../../api/definition.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'
import type { StoredObject } from '../../objects/stored-object.js'
import { customKind } from '../../resources/apiextensions/custom/custom-kind.js'
import type { CustomResourceDefinition } from '../../resources/apiextensions/v1.schema.js'
import { type ConversionWebhook, conversionWebhook } from './conversion-webhook.js'
import { serviceLocator } from './locate-service.js'

export const definitionsResource = (catalogs: Pick<CatalogSource, 'current'>): Resource | undefined => {
  const { current } = catalogs
  return current.find(current.identity.group({ stem: 'apiextensions' }), 'v1', 'customresourcedefinitions')
}

export const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True') === true

/** What a kind is made of: as long as this is the same, so is the kind. */
const fingerprint = ({ metadata, status }: CustomResourceDefinition): string =>
  JSON.stringify([metadata?.uid, metadata?.generation, metadata?.deletionTimestamp !== undefined, status?.acceptedNames])

interface Served {
  readonly fingerprint: string
  readonly kind: ResourceDefinition
  readonly webhook: ConversionWebhook | undefined
}

/** Gives what ends it. */
export function serveCustomKinds(store: ObjectStore, catalogs: CatalogSource): () => void {
  const definitions = definitionsResource(catalogs)
  if (definitions === undefined) return () => undefined
  const served = new Map<string, Served>()
  const parts = { reviewGroup: definitions.group, locate: serviceLocator(store, catalogs) }
  const make = (definition: CustomResourceDefinition): Served => {
    const webhook = conversionWebhook(definition, parts)
    return { fingerprint: fingerprint(definition), kind: customKind(definition, webhook?.convert), webhook }
  }
  const follow = (key: string, definition: CustomResourceDefinition | undefined): void => {
    const before = served.get(key)
    if (definition === undefined || !isEstablished(definition)) {
      if (before === undefined) return
      served.delete(key)
      before.webhook?.close()
      catalogs.change({ remove: [before.kind] })
      return
    }
    if (before?.fingerprint === fingerprint(definition)) return
    const made = make(definition)
    served.set(key, made)
    before?.webhook?.close()
    const isMoved = before !== undefined && !isSamePlace(before.kind, made.kind)
    catalogs.change({ put: [made.kind], ...(isMoved ? { remove: [before.kind] } : {}) })
  }
  const read = (object: StoredObject): CustomResourceDefinition => object.decode(definitions) as CustomResourceDefinition
  const unwatch = store.watch({
    resource: definitions,
    namespace: '',
    matches: undefined,
    deliver: ({ type, object }) => follow(object.key, type === 'DELETED' ? undefined : read(object)),
  })
  const found: ResourceDefinition[] = []
  for (const object of store.look({ resource: definitions, namespace: '', selection: everything })) {
    if (object === undefined) continue
    const definition = read(object)
    if (!isEstablished(definition)) continue
    const made = make(definition)
    served.set(object.key, made)
    found.push(made.kind)
  }
  if (found.length > 0) catalogs.change({ put: found })
  return () => {
    unwatch()
    for (const { webhook } of served.values()) webhook?.close()
  }
}

const isSamePlace = (a: ResourceDefinition, b: ResourceDefinition): boolean => a.group === b.group && a.resource === b.resource
