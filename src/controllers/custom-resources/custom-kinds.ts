// Serves what definitions of custom kinds describe, on every server: the catalog follows each definition as it is committed.

import { ApiError, notFound } from '../../api/api-error.js'
import type { Catalog, Resource } from '../../api/catalog.js'
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

/** Whether a group belongs to the server itself: what it serves there is not described by definitions. */
export const isOwnGroup = (catalog: Catalog, group: string): boolean => catalog.hasGroup(group) && !catalog.isCustomGroup(group)

/** What a kind is made of: as long as this is the same, so is the kind. */
const fingerprint = ({ metadata, status }: CustomResourceDefinition): string =>
  JSON.stringify([metadata?.uid, metadata?.generation, metadata?.deletionTimestamp !== undefined, status?.acceptedNames])

const terminating = (): ApiError =>
  new ApiError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'create not allowed while custom resource definition is terminating',
    details: {},
  })

interface Served {
  readonly fingerprint: string
  readonly kind: ResourceDefinition
  readonly webhook: ConversionWebhook | undefined
  /** Requests that began with the kind find out here that it is going, or gone. */
  readonly state: { isGone: boolean }
}

/** Gives what ends it. */
export function serveCustomKinds(store: ObjectStore, catalogs: CatalogSource): () => void {
  const definitions = definitionsResource(catalogs)
  if (definitions === undefined) return () => undefined
  const served = new Map<string, Served>()
  const isServed = (definition: CustomResourceDefinition): boolean =>
    isEstablished(definition) && !isOwnGroup(catalogs.current, definition.spec?.group ?? '')
  const parts = { reviewGroup: definitions.group, locate: serviceLocator(store, catalogs) }
  const make = (definition: CustomResourceDefinition): Served => {
    const webhook = conversionWebhook(definition, parts)
    const state = { isGone: false }
    const isTerminating = definition.metadata?.deletionTimestamp !== undefined
    const checkCreatable = (): void => {
      if (isTerminating) throw terminating()
      if (state.isGone)
        throw notFound({ group: definition.spec?.group ?? '', resource: definition.spec?.names?.plural ?? '', kind: '' }, '')
    }
    const kind = { ...customKind(definition, webhook?.convert), checkCreatable }
    return { fingerprint: fingerprint(definition), kind, webhook, state }
  }
  const follow = (key: string, definition: CustomResourceDefinition | undefined): void => {
    const before = served.get(key)
    if (definition === undefined || !isServed(definition)) {
      if (before === undefined) return
      served.delete(key)
      before.state.isGone = true
      before.webhook?.close()
      catalogs.change({ remove: [before.kind] })
      return
    }
    if (before?.fingerprint === fingerprint(definition)) return
    const made = make(definition)
    served.set(key, made)
    if (before !== undefined) before.state.isGone = definition.metadata?.deletionTimestamp !== undefined
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
    if (!isServed(definition)) continue
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
