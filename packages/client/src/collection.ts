// Collection of one resource, in one namespace or all: get, list, watch, create, update, patch, apply and delete.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { type OptionNames, refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import { isConflict, isNotFound, ProtocolError } from './errors.js'
import { listPages } from './objects/list-pages.js'
import { readList } from './objects/list-reader.js'
import type { ApiObject, DynamicObject, ObjectList, PartialObjectMetadata, Status, Table, WatchEvent } from './objects/objects.js'
import { BatchStream, type ValueStream } from './objects/value-stream.js'
import { deleteBody, metadataAccept, metadataListAccept, patchMediaTypes, tableAccept } from './requests/media-types.js'
import {
  type ApplyOptions,
  applyNames,
  type DeleteOptions,
  deleteCollectionNames,
  deleteNames,
  type GetOptions,
  getNames,
  type ListOptions,
  listNames,
  listQuery,
  type PatchOptions,
  patchNames,
  preconditionNames,
  type RequestOptions,
  requestOptions,
  type SelectOptions,
  selectQuery,
  type WriteOptions,
  writeNames,
  writeQuery,
} from './requests/request-options.js'
import type { ApiRequest, Requester } from './requests/requester.js'
import { apiVersionOf, fullGroup, type PathParts, pathOf, type ResourceRef } from './requests/resource-ref.js'
import { checkShape, type Shape } from './requests/response-shape.js'
import { Informer, type InformerOptions } from './watch/informer.js'
import { resumingWatch, type WatchOptions, watchNames } from './watch/resuming-watch.js'
import { openWatch, openWatchNames, type RawWatchOptions } from './watch/watch-stream.js'

export interface Session {
  readonly requester: Requester
  identity(options?: RequestOptions): Promise<Identity>
}

export interface CollectionSettings {
  readonly session: Session
  readonly ref: ResourceRef
  /** All namespaces if omitted or empty. */
  readonly namespace?: string | undefined
  readonly subresource?: string | undefined
  readonly metadataOnly?: boolean | undefined
}

const tableShape: Shape = {
  metadata: { continue: 'text', resourceVersion: 'text' },
  columnDefinitions: [{ name: 'text', type: 'text', format: 'text', priority: 'number' }],
  rows: [{ cells: ['any'], object: { metadata: { name: 'text', namespace: 'text', creationTimestamp: 'text' } } }],
}

export interface ModifyOptions extends WriteOptions {
  /** Maximum number of retries after a conflict. Default: 10. */
  readonly conflicts?: number
}

export interface TableOptions {
  readonly include?: 'None' | 'Metadata' | 'Object'
}

const tableNames: OptionNames<ListOptions & TableOptions> = { include: true, ...listNames }
const tableOfNames: OptionNames<GetOptions & TableOptions> = { include: true, ...getNames }
const modifyNames: OptionNames<ModifyOptions> = { conflicts: true, ...writeNames }

export class Collection<T extends ApiObject = DynamicObject> {
  readonly ref: ResourceRef
  readonly namespace: string | undefined
  protected readonly settings: CollectionSettings

  constructor(settings: CollectionSettings) {
    this.settings = settings
    this.ref = settings.ref
    // client-go treats an empty namespace as all namespaces.
    this.namespace = settings.namespace || undefined
  }

  in(namespace: string | undefined): this {
    const Type = this.constructor as new (settings: CollectionSettings) => this
    return new Type({ ...this.settings, namespace })
  }

  /** The same collection as PartialObjectMetadata. */
  get metadata(): Collection<PartialObjectMetadata> {
    return new Collection({ ...this.settings, metadataOnly: true })
  }

  /** The collection of a subresource, such as `status`. */
  subresource<S extends ApiObject = DynamicObject>(name: string): Collection<S> {
    return new Collection({ ...this.settings, subresource: name })
  }

  async get(name: string, options: GetOptions = {}): Promise<T> {
    refuseUnknownOptions('get', options, getNames)
    return this.json(await this.request({ name }, options, { query: { resourceVersion: options.resourceVersion } }))
  }

  async find(name: string, options: GetOptions = {}): Promise<T | undefined> {
    try {
      return await this.get(name, options)
    } catch (thrown) {
      if (isNotFound(thrown)) return undefined
      throw thrown
    }
  }

  /** Returns the whole list, or one page if `limit` is set. */
  async list(options: ListOptions = {}): Promise<ObjectList<T>> {
    refuseUnknownOptions('list', options, listNames)
    const request = await this.request({}, options, { query: listQuery(options) })
    return withTypes(await this.settings.session.requester.sendAndRead(request, (response) => readList<T>(response)))
  }

  /** Lists page by page, all at the resourceVersion of the first page. */
  pages(options: ListOptions = {}): AsyncGenerator<ObjectList<T>, void, undefined> {
    refuseUnknownOptions('pages', options, listNames)
    return listPages((page) => this.list(page), options)
  }

  items(options: ListOptions = {}): ValueStream<T> {
    refuseUnknownOptions('items', options, listNames)
    return new BatchStream(itemsOf(this.pages(options)))
  }

  /** Watches across lost connections and expired versions. Starts with ADDED for each object, or after `since` or `resourceVersion`. */
  watch(options: WatchOptions<T> = {}): ValueStream<WatchEvent<T>> {
    refuseUnknownOptions('watch', options, watchNames)
    return resumingWatch(this, options)
  }

  /** Opens a single watch request, which ends with its connection. */
  async openWatch(options: RawWatchOptions = {}): Promise<AsyncIterable<readonly WatchEvent<T>[]>> {
    refuseUnknownOptions('openWatch', options, openWatchNames)
    const acceptHeader = this.settings.metadataOnly === true ? { accept: metadataAccept } : {}
    const request = await this.request({}, options, { query: selectQuery(options), ...acceptHeader })
    return openWatch<T>(this.settings.session.requester, request, options)
  }

  /** Starts an informer: a local copy of the collection that is kept up to date. */
  inform(options: InformerOptions<T> = {}): Informer<T> {
    return new Informer(this, options, this.namespace)
  }

  async create(object: T, options: WriteOptions = {}): Promise<T> {
    refuseUnknownOptions('create', options, writeNames)
    const namespace = this.namespace ?? object.metadata?.namespace
    return this.json(
      await this.request({ namespace }, options, { method: 'POST', query: writeQuery(options), body: await this.withKind(object) }),
    )
  }

  /** Creates a subresource of an object, such as `eviction` of pods and `token` of service accounts. */
  async createFor<Body = DynamicObject>(name: string, body: object, options: WriteOptions = {}): Promise<Body> {
    refuseUnknownOptions('createFor', options, writeNames)
    return this.json(await this.request({ name }, options, { method: 'POST', query: writeQuery(options), body }))
  }

  /** Replaces the stored object. Conflict if the object has a resourceVersion that is not the stored one. */
  async update(object: T, options: WriteOptions = {}): Promise<T> {
    refuseUnknownOptions('update', options, writeNames)
    const parts = this.pathPartsOf(object)
    return this.json(await this.request(parts, options, { method: 'PUT', query: writeQuery(options), body: await this.withKind(object) }))
  }

  /** Gets, changes and updates an object, with retries on conflict. Sends no update if `change` returns its argument unchanged. */
  async modify(name: string, change: (object: T) => T | Promise<T>, modifying: ModifyOptions = {}): Promise<T> {
    refuseUnknownOptions('modify', modifying, modifyNames)
    const { conflicts = 10, ...options } = modifying
    for (let retriesLeft = conflicts; ; retriesLeft--) {
      const object = await this.get(name, requestOptions(options))
      const originalJson = JSON.stringify(object)
      const changed = await change(object)
      if (changed === object && JSON.stringify(changed) === originalJson) return object
      try {
        return await this.update(changed, options)
      } catch (thrown) {
        if (!isConflict(thrown) || retriesLeft <= 0) throw thrown
      }
    }
  }

  /** Sends a JSON merge patch by default. With `type: 'json'` the patch is a list of operations. */
  async patch(name: string, patch: object | string, options: PatchOptions = {}): Promise<T> {
    refuseUnknownOptions('patch', options, patchNames)
    const query = { ...writeQuery(options), force: options.force }
    const contentType = patchMediaTypes[options.type ?? 'merge']
    return this.json(await this.request({ name }, options, { method: 'PATCH', query, body: patch, contentType }))
  }

  /** Server-side apply: `object` is the complete intent of the field manager. */
  async apply(object: T, options: ApplyOptions): Promise<T> {
    if ((options as Partial<ApplyOptions> | undefined)?.fieldManager === undefined)
      throw new TypeError('apply: the option fieldManager is required')
    refuseUnknownOptions('apply', options, applyNames)
    const query = { ...writeQuery(options), force: options.force }
    const body = await this.withKind(object)
    return this.json(
      await this.request(this.pathPartsOf(object), options, { method: 'PATCH', query, body, contentType: patchMediaTypes.apply }),
    )
  }

  /** Returns a Status if the object is deleted at once, and the object if finalizers or a grace period delay the deletion. */
  async delete(name: string, options: DeleteOptions = {}): Promise<T | Status> {
    refuseUnknownOptions('delete', options, deleteNames)
    refuseUnknownOptions('delete: preconditions', options.preconditions ?? {}, preconditionNames)
    const body = deleteBody(options)
    return this.json(await this.request({ name }, options, { method: 'DELETE', ...(body === undefined ? {} : { body }) }))
  }

  async deleteCollection(options: DeleteOptions & SelectOptions = {}): Promise<Status | ObjectList<T>> {
    refuseUnknownOptions('deleteCollection', options, deleteCollectionNames)
    refuseUnknownOptions('deleteCollection: preconditions', options.preconditions ?? {}, preconditionNames)
    const body = deleteBody(options)
    const query = selectQuery(options)
    return this.json(await this.request({}, options, { method: 'DELETE', query, ...(body === undefined ? {} : { body }) }))
  }

  /** Returns the list as a Table; `include`: rows without objects, with their metadata, or with whole objects. */
  async table(options: ListOptions & TableOptions = {}): Promise<Table> {
    refuseUnknownOptions('table', options, tableNames)
    return this.asTable({}, options, { ...listQuery(options), includeObject: options.include })
  }

  async tableOf(name: string, options: GetOptions & TableOptions = {}): Promise<Table> {
    refuseUnknownOptions('tableOf', options, tableOfNames)
    return this.asTable({ name }, options, { resourceVersion: options.resourceVersion, includeObject: options.include })
  }

  async path(parts: PathParts = {}, options: RequestOptions = {}): Promise<string> {
    const { session, subresource } = this.settings
    const identity = typeof this.ref.group === 'string' ? undefined : await session.identity(options)
    const namespace = parts.namespace ?? this.namespace
    if (parts.name !== undefined) this.checkName(parts.name, namespace)
    return pathOf(this.ref, identity, { subresource, ...parts, namespace })
  }

  protected async request(parts: PathParts, options: RequestOptions, fields: Omit<ApiRequest, 'path'>): Promise<ApiRequest> {
    const path = await this.path(parts, options)
    const acceptHeader =
      this.settings.metadataOnly === true
        ? { accept: parts.name === undefined && fields.method === undefined ? metadataListAccept : metadataAccept }
        : {}
    return { ...requestOptions(options), ...acceptHeader, ...fields, path }
  }

  protected json<Body = T>(request: ApiRequest): Promise<Body> {
    return this.settings.session.requester.json<Body>(request)
  }

  private async asTable(parts: PathParts, options: RequestOptions, query: ApiRequest['query'] & object): Promise<Table> {
    const table = await this.json<Table>({ ...(await this.request(parts, options, { query })), accept: tableAccept })
    checkShape(table, tableShape, 'a table')
    if (table.kind !== 'Table') throw new ProtocolError(`the server returned ${table.kind ?? 'an object without kind'} instead of a Table`)
    return table
  }

  private checkName(name: string, namespace: string | undefined): void {
    if (this.ref.namespaced && (namespace === undefined || namespace === '')) {
      throw new TypeError(`${this.ref.resource} are namespaced: set the namespace of ${JSON.stringify(name)}`)
    }
  }

  private pathPartsOf({ metadata }: T): PathParts {
    if (metadata?.name === undefined) throw new TypeError('the object has no metadata.name')
    return { name: metadata.name, namespace: this.namespace ?? metadata.namespace }
  }

  /** Adds kind and apiVersion, which typed objects may omit. Bodies of subresources have their own kind. */
  private async withKind(object: T): Promise<T> {
    if ((object.kind !== undefined && object.apiVersion !== undefined) || this.settings.subresource !== undefined) return object
    const identity = typeof this.ref.group === 'string' ? undefined : await this.settings.session.identity()
    return { kind: this.ref.kind, apiVersion: apiVersionOf(fullGroup(this.ref, identity), this.ref.version), ...object }
  }
}

async function* itemsOf<T>(pages: AsyncIterable<ObjectList<T>>): AsyncGenerator<readonly T[], void, undefined> {
  for await (const { items } of pages) yield items
}

/** Adds kind and apiVersion to the items, which the server omits. Modifies them in place: no caller has them yet. */
function withTypes<T>(list: ObjectList<T>): ObjectList<T> {
  const { apiVersion, kind } = list
  if (kind === undefined || apiVersion === undefined || !kind.endsWith('List')) return list
  const itemKind = kind.slice(0, -4)
  for (const item of list.items as readonly ({ kind?: string; apiVersion?: string } | null)[]) {
    if (typeof item !== 'object' || item === null) throw new ProtocolError('the server returned a list with items that are not objects')
    item.kind ??= itemKind
    item.apiVersion ??= apiVersion
  }
  return list
}
