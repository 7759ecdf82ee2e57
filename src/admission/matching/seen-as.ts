// As what a hook or a policy sees the objects of a request: as the kind of the request, or as an equivalent one that its rules name.

import type { Catalog, Resource, Subresource } from '../../api/catalog.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { onceFor } from '../../base/once-for.js'
import type { StructNode } from '../../schema/node.js'
import type { AdmissionRequest } from '../admission.js'

export interface SeenAs {
  /** The resource of the request, or one that shows the same objects in another version or group. */
  readonly resource: Resource
  /** What an object is: the kind of the resource, or what a subresource takes. */
  readonly group: string
  readonly version: string
  readonly apiVersion: string
  readonly kind: string
  /** Undefined where nobody knows its fields. */
  readonly schema: StructNode | undefined
  /** Whether objects are those of the resource, which admission has in their stored version; else they are what was sent. */
  readonly isStored: boolean
}

const none = ''
const bySubresource = onceFor((_resource: Resource) => new Map<string, SeenAs>())

/** The kind of a request as it was sent; the same value each time. */
export const seenAsSent = ({ call: { resource, subresource } }: Pick<AdmissionRequest, 'call'>): SeenAs =>
  seenThrough(resource, subresource)

const seenThrough = (resource: Resource, subresource: Subresource | undefined): SeenAs =>
  getOrInsert(bySubresource(resource), subresource?.name ?? none, () => {
    if (subresource === undefined || isOfTheResource(subresource)) {
      const { group, version, apiVersion, kind, schema } = resource
      return { resource, group, version, apiVersion, kind, schema, isStored: resource.definition.review === undefined }
    }
    const { group, version, apiVersion, kind } = subresource.type
    const schema = subresource.view?.schema ?? subresource.body?.schema ?? subresource.query
    return { resource, group, version, apiVersion, kind, schema, isStored: false }
  })

const isOfTheResource = ({ view, body, query, connection }: Subresource): boolean =>
  view === undefined && body === undefined && query === undefined && connection === undefined

/** Resources that show the same objects are those of one collection in the store. */
const byCollection = onceFor((catalog: Catalog) => {
  const found = new Map<string, Resource[]>()
  for (const resource of catalog.all()) getOrInsert(found, resource.collection, () => []).push(resource)
  return found
})

/** The other kinds as which the objects of a request can be seen, without its own; those that have its subresource. */
export function equivalentsOf(
  catalog: Catalog,
  { resource, subresource }: Pick<AdmissionRequest, 'resource' | 'subresource'>,
): readonly SeenAs[] {
  const all = byCollection(catalog).get(resource.collection) ?? []
  if (all.length < 2) return []
  const { group, version, name } = resource
  return all.flatMap((other) => {
    if (other.group === group && other.version === version && other.name === name) return []
    if (subresource === none) return [seenThrough(other, undefined)]
    const part = other.subresources.get(subresource)
    return part === undefined ? [] : [seenThrough(other, part)]
  })
}
