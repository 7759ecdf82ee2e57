// The objects of one resource, in one namespace or in all: every verb on them.

import type { Identity } from '../api/identity.js'
import { refuseUnknownOptions } from '../base/known-options.js'
import { isConflict, isNotFound, ProtocolError } from './errors.js'
import { type FollowOptions, follow } from './follow.js'
import { Informer, type InformerOptions } from './informer.js'
import { listPages } from './list-pages.js'
import { readList } from './list-reader.js'
import { deleteBody, metadataAccept, metadataListAccept, patchMediaTypes, tableAccept } from './media-types.js'
import type { ApiObject, DynamicObject, ObjectList, PartialObjectMetadata, Status, Table, WatchEvent } from './objects.js'
import { OneByOne, type ValueStream } from './one-by-one.js'
import {
  applyNames,
  deleteCollectionNames,
  deleteNames,
  getNames,
  listNames,
  modifyNames,
  openWatchNames,
  patchNames,
  preconditionNames,
  tableNames,
  tableOfNames,
  watchNames,
  writeNames,
} from './option-names.js'
import {
  type ApplyOptions,
  type DeleteOptions,
  type GetOptions,
  type ListOptions,
  listQuery,
  type PatchOptions,
  type RequestOptions,
  type SelectOptions,
  selectQuery,
  type WriteOptions,
  writeQuery,
} from './query.js'
import type { ApiRequest, Requester } from './requester.js'
import { apiVersionOf, fullGroup, type Place, pathOf, type ResourceRef } from './resource-ref.js'
import { checkShape, type Shape } from './shape.js'
import { openWatch, type RawWatchOptions } from './watch-stream.js'

/** What collections share: the way to the server, and which vocabulary it speaks. */
export interface Session {
  readonly requester: Requester
  /** Found out from the server where the caller did not say. */
  identity(options?: RequestOptions): Promise<Identity>
}

export interface CollectionSettings {
  readonly session: Session
  readonly ref: ResourceRef
  /** Left out or empty: all namespaces. */
  readonly namespace?: string | undefined
  readonly subresource?: string | undefined
  /** Only the metadata of objects come. */
  readonly metadataOnly?: boolean | undefined
}

const tableShape: Shape = {
  metadata: { continue: 'text', resourceVersion: 'text' },
  columnDefinitions: [{ name: 'text', type: 'text', format: 'text', priority: 'number' }],
  rows: [{ cells: ['any'], object: { metadata: { name: 'text', namespace: 'text', creationTimestamp: 'text' } } }],
}

export interface ModifyOptions extends WriteOptions {
  /** How often it is tried again when somebody else was quicker; by default 10 times. */
  readonly conflicts?: number
}

export class Collection<T extends ApiObject = DynamicObject> {
  readonly ref: ResourceRef
  readonly namespace: string | undefined
  protected readonly settings: CollectionSettings

  constructor(settings: CollectionSettings) {
    this.settings = settings
    this.ref = settings.ref
    // An empty name is none, as with clients of the original.
    this.namespace = settings.namespace || undefined
  }

  /** The same resource in another namespace. */
  in(namespace: string | undefined): this {
    const Type = this.constructor as new (settings: CollectionSettings) => this
    return new Type({ ...this.settings, namespace })
  }

  /** The same objects, but for their metadata empty. */
  get metadata(): Collection<PartialObjectMetadata> {
    return new Collection({ ...this.settings, metadataOnly: true })
  }

  /** A part of objects that is read and written by itself, such as `status`. */
  subresource<S extends ApiObject = DynamicObject>(name: string): Collection<S> {
    return new Collection({ ...this.settings, subresource: name })
  }

  async get(name: string, options: GetOptions = {}): Promise<T> {
    refuseUnknownOptions('get', options, getNames)
    return this.json(await this.request({ name }, options, { query: { resourceVersion: options.resourceVersion } }))
  }

  /** The object, or undefined where there is none. */
  async find(name: string, options: GetOptions = {}): Promise<T | undefined> {
    try {
      return await this.get(name, options)
    } catch (thrown) {
      if (isNotFound(thrown)) return undefined
      throw thrown
    }
  }

  /** One list, or one page of it where there is a `limit`. */
  async list(options: ListOptions = {}): Promise<ObjectList<T>> {
    refuseUnknownOptions('list', options, listNames)
    const request = await this.request({}, options, { query: listQuery(options) })
    return withTypes(await this.settings.session.requester.within(request, (response) => readList<T>(response)))
  }

  /** Page after page, all of them as they were when the first was read. */
  pages(options: ListOptions = {}): AsyncGenerator<ObjectList<T>, void, undefined> {
    refuseUnknownOptions('pages', options, listNames)
    return listPages((page) => this.list(page), options)
  }

  /** Every object, read page by page. */
  items(options: ListOptions = {}): ValueStream<T> {
    refuseUnknownOptions('items', options, listNames)
    return new OneByOne(itemsOf(this.pages(options)))
  }

  /**
   * What happens to the objects, for as long as the caller wants to know: over lost connections and over versions that are not kept any more.
   * Begins with an ADDED event for each object that is there, or with what happened since a list.
   */
  watch(options: FollowOptions<T> = {}): ValueStream<WatchEvent<T>> {
    refuseUnknownOptions('watch', options, watchNames)
    return follow(this, options)
  }

  /** One watch as the server gives it: it ends when the server or the connection ends it. */
  async openWatch(options: RawWatchOptions = {}): Promise<AsyncIterable<readonly WatchEvent<T>[]>> {
    refuseUnknownOptions('openWatch', options, openWatchNames)
    // Each event has one object, and no list.
    const form = this.settings.metadataOnly === true ? { accept: metadataAccept } : {}
    const request = await this.request({}, options, { query: selectQuery(options), ...form })
    return openWatch<T>(this.settings.session.requester, request, options)
  }

  /** A copy of the objects that is kept up to date. */
  inform(options: InformerOptions<T> = {}): Informer<T> {
    return new Informer(this, options, this.namespace)
  }

  async create(object: T, options: WriteOptions = {}): Promise<T> {
    refuseUnknownOptions('create', options, writeNames)
    const namespace = this.namespace ?? object.metadata?.namespace
    return this.json(
      await this.request({ namespace }, options, { method: 'POST', query: writeQuery(options), body: await this.typed(object) }),
    )
  }

  /** For subresources that take a wish: `eviction` and `binding` of pods, `token` of service accounts. */
  async createFor<Answer = DynamicObject>(name: string, body: object, options: WriteOptions = {}): Promise<Answer> {
    refuseUnknownOptions('createFor', options, writeNames)
    return this.json(await this.request({ name }, options, { method: 'POST', query: writeQuery(options), body }))
  }

  /** Puts the object in the place of the one that is there; fails where that has another version than the object's. */
  async update(object: T, options: WriteOptions = {}): Promise<T> {
    refuseUnknownOptions('update', options, writeNames)
    const place = this.placeOf(object)
    return this.json(await this.request(place, options, { method: 'PUT', query: writeQuery(options), body: await this.typed(object) }))
  }

  /**
   * Reads, changes and updates, and does so again when somebody else was quicker. `change` is called each time with what is there now; nothing is
   * sent where it leaves that as it is.
   */
  async modify(name: string, change: (object: T) => T | Promise<T>, modifying: ModifyOptions = {}): Promise<T> {
    refuseUnknownOptions('modify', modifying, modifyNames)
    const { conflicts = 10, ...options } = modifying
    for (let left = conflicts; ; left--) {
      const object = await this.get(name, requestOptions(options))
      const before = JSON.stringify(object)
      const changed = await change(object)
      // Who changes the object itself means it, too.
      if (changed === object && JSON.stringify(changed) === before) return object
      try {
        return await this.update(changed, options)
      } catch (thrown) {
        if (!isConflict(thrown) || left <= 0) throw thrown
      }
    }
  }

  /** A merge patch unless `type` says another; a JSON patch is a list of operations. */
  async patch(name: string, patch: object | string, options: PatchOptions = {}): Promise<T> {
    refuseUnknownOptions('patch', options, patchNames)
    const query = { ...writeQuery(options), force: options.force }
    const contentType = patchMediaTypes[options.type ?? 'merge']
    return this.json(await this.request({ name }, options, { method: 'PATCH', query, body: patch, contentType }))
  }

  /** Server-side apply: the manager of the fields says all that it wants to be so. */
  async apply(object: T, options: ApplyOptions): Promise<T> {
    if ((options as Partial<ApplyOptions> | undefined)?.fieldManager === undefined) throw new TypeError('say who applies: { fieldManager }')
    refuseUnknownOptions('apply', options, applyNames)
    const query = { ...writeQuery(options), force: options.force }
    const body = await this.typed(object)
    return this.json(
      await this.request(this.placeOf(object), options, { method: 'PATCH', query, body, contentType: patchMediaTypes.apply }),
    )
  }

  /** Answers with a Status where the object is gone, and with the object where it only begins to go. */
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

  /** The list as people read it; `include` says what comes with each row. */
  async table(options: ListOptions & TableOptions = {}): Promise<Table> {
    refuseUnknownOptions('table', options, tableNames)
    return this.asTable({}, options, { ...listQuery(options), includeObject: options.include })
  }

  async tableOf(name: string, options: GetOptions & TableOptions = {}): Promise<Table> {
    refuseUnknownOptions('tableOf', options, tableOfNames)
    return this.asTable({ name }, options, { resourceVersion: options.resourceVersion, includeObject: options.include })
  }

  /** The path of the collection, or of something in it. */
  async path(place: Place = {}, options: RequestOptions = {}): Promise<string> {
    const { session, subresource } = this.settings
    const identity = typeof this.ref.group === 'string' ? undefined : await session.identity(options)
    const namespace = place.namespace ?? this.namespace
    if (place.name !== undefined) this.checkName(place.name, namespace)
    return pathOf(this.ref, identity, { subresource, ...place, namespace })
  }

  /** For what this class has no word for. */
  protected async request(place: Place, options: RequestOptions, more: Omit<ApiRequest, 'path'>): Promise<ApiRequest> {
    const path = await this.path(place, options)
    const form =
      this.settings.metadataOnly === true
        ? { accept: place.name === undefined && more.method === undefined ? metadataListAccept : metadataAccept }
        : {}
    return { ...requestOptions(options), ...form, ...more, path }
  }

  protected json<Answer = T>(request: ApiRequest): Promise<Answer> {
    return this.settings.session.requester.json<Answer>(request)
  }

  private async asTable(place: Place, options: RequestOptions, query: ApiRequest['query'] & object): Promise<Table> {
    const table = await this.json<Table>({ ...(await this.request(place, options, { query })), accept: tableAccept })
    checkShape(table, tableShape, 'a table')
    // It would seem to have no rows.
    if (table.kind !== 'Table') throw new ProtocolError(`the server was asked for a table and gave ${table.kind ?? 'something else'}`)
    return table
  }

  private checkName(name: string, namespace: string | undefined): void {
    if (this.ref.namespaced && (namespace === undefined || namespace === '')) {
      throw new TypeError(`${this.ref.resource} are in namespaces: say in which one ${JSON.stringify(name)} is`)
    }
  }

  private placeOf({ metadata }: T): Place {
    if (metadata?.name === undefined) throw new TypeError('the object has no metadata.name')
    return { name: metadata.name, namespace: this.namespace ?? metadata.namespace }
  }

  /** With kind and apiVersion, which a typed object need not repeat. Subresources have kinds of their own. */
  private async typed(object: T): Promise<T> {
    if ((object.kind !== undefined && object.apiVersion !== undefined) || this.settings.subresource !== undefined) return object
    const identity = typeof this.ref.group === 'string' ? undefined : await this.settings.session.identity()
    return { kind: this.ref.kind, apiVersion: apiVersionOf(fullGroup(this.ref, identity), this.ref.version), ...object }
  }
}

export interface TableOptions {
  readonly include?: 'None' | 'Metadata' | 'Object'
}

const requestOptions = ({ signal, timeoutMs }: RequestOptions): RequestOptions => ({
  ...(signal === undefined ? {} : { signal }),
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
})

async function* itemsOf<T>(pages: AsyncIterable<ObjectList<T>>): AsyncGenerator<readonly T[], void, undefined> {
  for await (const { items } of pages) yield items
}

/** Items of a list come without kind and apiVersion, which the list itself says. They were just made, and are nobody else's yet. */
function withTypes<T>(list: ObjectList<T>): ObjectList<T> {
  const { apiVersion, kind } = list
  if (kind === undefined || apiVersion === undefined || !kind.endsWith('List')) return list
  const itemKind = kind.slice(0, -4)
  for (const item of list.items as readonly ({ kind?: string; apiVersion?: string } | null)[]) {
    if (typeof item !== 'object' || item === null) throw new ProtocolError('the server gave a list of what are no objects')
    item.kind ??= itemKind
    item.apiVersion ??= apiVersion
  }
  return list
}
