// Serves what definitions of custom kinds describe, on every server: the catalog follows each definition as it is committed.

import { ApiError, notFound } from '../../api/api-error.js'
import type { Catalog, Resource } from '../../api/catalog.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import type { ResourceDefinition } from '../../api/definition.js'
import type { HookWays } from '../../net/hook-ways.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { everything } from '../../objects/selection.js'
import type { StoredObject } from '../../objects/stored-object.js'
import { customKind } from '../../resources/apiextensions/custom/custom-kind.js'
import type { CustomResourceDefinition } from '../../resources/apiextensions/v1.schema.js'
import { type ConversionWebhook, conversionWebhook, type WebhookParts } from './conversion-webhook.js'
import { leanDefinition } from './lean-definition.js'
import { serviceLocator } from './locate-service.js'
import { wholeDefinition, withSpecOf } from './whole-definition.js'

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
  /** No more of its definition than says which it is, and its spec, which the kind has anyway. */
  readonly of: CustomResourceDefinition
  readonly kind: ResourceDefinition
  readonly webhook: ConversionWebhook | undefined
  /** Requests that began with the kind find out here that it is going, or gone. */
  readonly state: { isGone: boolean }
}

export interface ReadDefinition {
  /** Without schemas. */
  readonly lean: CustomResourceDefinition
  readonly whole: () => CustomResourceDefinition
}

export function readDefinition(store: ObjectStore, object: StoredObject, resource: Resource): ReadDefinition {
  const lean = leanDefinition(store, object, resource)
  return { lean, whole: () => wholeDefinition(store, object, { resource, lean }) }
}

/** What a catalog has of custom kinds, kept true to the definitions that it is told of. */
export class CustomKinds {
  readonly #catalogs: CatalogSource
  readonly #parts: WebhookParts
  readonly #served = new Map<string, Served>()

  constructor(catalogs: CatalogSource, parts: WebhookParts) {
    this.#catalogs = catalogs
    this.#parts = parts
  }

  /** What is there at the beginning, all at once. */
  begin(definitions: Iterable<readonly [string, ReadDefinition]>): void {
    const found: ResourceDefinition[] = []
    for (const [key, { lean, whole }] of definitions) {
      if (!this.#isServed(lean)) continue
      const made = this.#make(whole())
      this.#served.set(key, made)
      found.push(made.kind)
    }
    if (found.length > 0) this.#catalogs.change({ put: found })
  }

  /** A definition has come or changed; undefined: it is gone. */
  follow(key: string, read: ReadDefinition | undefined): void {
    const before = this.#served.get(key)
    if (read === undefined || !this.#isServed(read.lean)) {
      if (before === undefined) return
      this.#served.delete(key)
      before.state.isGone = true
      before.webhook?.close()
      this.#catalogs.change({ remove: [before.kind] })
      return
    }
    if (before?.fingerprint === fingerprint(read.lean)) return
    const definition = withSpecOf(read.lean, before?.of) ?? read.whole()
    const made = this.#make(definition)
    this.#served.set(key, made)
    if (before !== undefined) before.state.isGone = definition.metadata?.deletionTimestamp !== undefined
    before?.webhook?.close()
    const isMoved = before !== undefined && !isSamePlace(before.kind, made.kind)
    this.#catalogs.change({ put: [made.kind], ...(isMoved ? { remove: [before.kind] } : {}) })
  }

  close(): void {
    for (const { webhook } of this.#served.values()) webhook?.close()
  }

  #isServed(definition: CustomResourceDefinition): boolean {
    return isEstablished(definition) && !isOwnGroup(this.#catalogs.current, definition.spec?.group ?? '')
  }

  #make(definition: CustomResourceDefinition): Served {
    const webhook = conversionWebhook(definition, this.#parts)
    const state = { isGone: false }
    const isTerminating = definition.metadata?.deletionTimestamp !== undefined
    const checkCreatable = (): void => {
      if (isTerminating) throw terminating()
      if (state.isGone)
        throw notFound({ group: definition.spec?.group ?? '', resource: definition.spec?.names?.plural ?? '', kind: '' }, '')
    }
    const kind = { ...customKind(definition, webhook?.convert), checkCreatable }
    const { uid = '', generation, deletionTimestamp } = definition.metadata ?? {}
    const of = { metadata: { uid, generation, deletionTimestamp }, spec: definition.spec } as CustomResourceDefinition
    return { fingerprint: fingerprint(definition), of, kind, webhook, state }
  }
}

/** Gives what ends it. */
export function serveCustomKinds(store: ObjectStore, catalogs: CatalogSource, hooks: HookWays = {}): () => void {
  const definitions = definitionsResource(catalogs)
  if (definitions === undefined) return () => undefined
  const kinds = new CustomKinds(catalogs, { ...hooks, reviewGroup: definitions.group, locate: serviceLocator(store, catalogs) })
  const read = (object: StoredObject): ReadDefinition => readDefinition(store, object, definitions)
  const unwatch = store.watch({
    resource: definitions,
    namespace: '',
    matches: undefined,
    deliver: ({ type, object }) => kinds.follow(object.key, type === 'DELETED' ? undefined : read(object)),
  })
  kinds.begin(found(store.look({ resource: definitions, namespace: '', selection: everything }), read))
  return () => {
    unwatch()
    kinds.close()
  }
}

function* found(
  objects: Iterable<StoredObject | undefined>,
  read: (object: StoredObject) => ReadDefinition,
): Generator<readonly [string, ReadDefinition]> {
  for (const object of objects) if (object !== undefined) yield [object.key, read(object)]
}

const isSamePlace = (a: ResourceDefinition, b: ResourceDefinition): boolean => a.group === b.group && a.resource === b.resource
