// Serves what definitions of custom kinds describe, on every server: the catalog follows each definition as it is committed.

import type { Resource } from '../../api/catalog.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import type { ResourceDefinition } from '../../api/definition.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'
import type { StoredObject } from '../../objects/stored-object.js'
import { customKind } from '../../resources/apiextensions/custom/custom-kind.js'
import type { CustomResourceDefinition } from '../../resources/apiextensions/v1.schema.js'

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
}

/** Gives what ends it. */
export function serveCustomKinds(store: ObjectStore, catalogs: CatalogSource): () => void {
  const definitions = definitionsResource(catalogs)
  if (definitions === undefined) return () => undefined
  const served = new Map<string, Served>()
  /** Undefined where nothing changes. */
  const follow = (key: string, definition: CustomResourceDefinition | undefined): void => {
    const before = served.get(key)
    if (definition === undefined || !isEstablished(definition)) {
      if (before === undefined) return
      served.delete(key)
      catalogs.change({ remove: [before.kind] })
      return
    }
    const print = fingerprint(definition)
    if (before?.fingerprint === print) return
    const kind = customKind(definition)
    served.set(key, { fingerprint: print, kind })
    catalogs.change({ put: [kind], ...(before === undefined || isSamePlace(before.kind, kind) ? {} : { remove: [before.kind] }) })
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
    const kind = customKind(definition)
    served.set(object.key, { fingerprint: fingerprint(definition), kind })
    found.push(kind)
  }
  if (found.length > 0) catalogs.change({ put: found })
  return unwatch
}

const isSamePlace = (a: ResourceDefinition, b: ResourceDefinition): boolean => a.group === b.group && a.resource === b.resource
