// Objects of a request in the version that a webhook or policy sees: the requested or an equivalent kind, converted once per request.

import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource, Subresource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { getOrInsert, weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { writeAny, writeValue } from '@cluster-apiserver/api/schema/json/write.js'
import type { StructNode } from '@cluster-apiserver/api/schema/node.js'
import type { AdmissionRequest } from '../admission-plugin.js'

export interface MatchedKind {
  /** Requested resource, or one with the same objects in another version or group. */
  readonly resource: Resource
  readonly group: string
  readonly version: string
  readonly apiVersion: string
  readonly kind: string
  /** Undefined if the fields are unknown. */
  readonly schema: StructNode | undefined
  /** True if the objects are of the resource itself, in any version; false if they are the submitted body, as for subresources. */
  readonly isStored: boolean
}

const noSubresource = ''
const kindsBySubresource = weakMemoize((_resource: Resource) => new Map<string, MatchedKind>())

export const requestedKind = ({ call: { resource, subresource } }: Pick<AdmissionRequest, 'call'>): MatchedKind =>
  kindOf(resource, subresource)

const kindOf = (resource: Resource, subresource: Subresource | undefined): MatchedKind =>
  getOrInsert(kindsBySubresource(resource), subresource?.name ?? noSubresource, () => {
    if (subresource === undefined || hasResourceKind(subresource)) {
      const { group, version, apiVersion, kind, schema } = resource
      return { resource, group, version, apiVersion, kind, schema, isStored: resource.definition.review === undefined }
    }
    const { group, version, apiVersion, kind } = subresource.type
    const schema = subresource.view?.schema ?? subresource.body?.schema ?? subresource.query
    return { resource, group, version, apiVersion, kind, schema, isStored: false }
  })

const hasResourceKind = ({ view, body, query, connection }: Subresource): boolean =>
  view === undefined && body === undefined && query === undefined && connection === undefined

const resourcesByCollection = weakMemoize((catalog: Catalog) => {
  const found = new Map<string, Resource[]>()
  for (const resource of catalog.all()) getOrInsert(found, resource.collection, () => []).push(resource)
  return found
})

/** Equivalent kinds of a request's objects, without its own kind; only kinds that have its subresource. */
export function equivalentsOf(
  catalog: Catalog,
  { resource, subresource }: Pick<AdmissionRequest, 'resource' | 'subresource'>,
): readonly MatchedKind[] {
  const all = resourcesByCollection(catalog).get(resource.collection) ?? []
  if (all.length < 2) return []
  const { group, version, name } = resource
  return all.flatMap((other) => {
    if (other.group === group && other.version === version && other.name === name) return []
    if (subresource === noSubresource) return [withRequestSchema(kindOf(other, undefined), resource)]
    const found = other.subresources.get(subresource)
    return found === undefined ? [] : [withRequestSchema(kindOf(other, found), resource)]
  })
}

/** Custom resources that are not converted keep the fields of the request in every version. */
function withRequestSchema(kind: MatchedKind, requested: Resource): MatchedKind {
  if (!requested.definition.validatesRequestVersion || requested.conversion !== undefined || kind.schema !== kind.resource.schema)
    return kind
  return getOrInsert(kindsBySubresource(requested), kind.apiVersion, () => ({ ...kind, schema: requested.schema }))
}

interface CachedConversion {
  object?: Promise<ApiObject>
  text?: Promise<string>
}

/** Keyed by call, because stored objects outlive the request. */
const versionedByCall = weakMemoize((_call: Call) => new Map<ApiObject, Map<MatchedKind, CachedConversion>>())

const versionedOf = (call: Call, object: ApiObject, matched: MatchedKind): CachedConversion =>
  getOrInsert(
    getOrInsert(versionedByCall(call), object, () => new Map()),
    matched,
    () => ({}),
  )

export function versionedObject({ call }: Pick<AdmissionRequest, 'call'>, object: ApiObject, matched: MatchedKind): Promise<ApiObject> {
  const found = versionedOf(call, object, matched)
  found.object ??= convert(call, object, matched).catch((thrown: unknown) => {
    delete found.object
    throw thrown
  })
  return found.object
}

async function convert(call: Call, object: ApiObject, matched: MatchedKind): Promise<ApiObject> {
  const { kind, apiVersion } = matched
  return { ...(await fromStored(call, object, matched)), kind, apiVersion }
}

export function versionedJson(request: Pick<AdmissionRequest, 'call'>, object: ApiObject, matched: MatchedKind): Promise<string> {
  const found = versionedOf(request.call, object, matched)
  found.text ??= textOf(request, object, matched).catch((thrown: unknown) => {
    delete found.text
    throw thrown
  })
  return found.text
}

async function textOf(request: Pick<AdmissionRequest, 'call'>, object: ApiObject, matched: MatchedKind): Promise<string> {
  const converted = await versionedObject(request, object, matched)
  return matched.schema === undefined ? writeAny(converted) : writeValue(matched.schema, converted)
}

/** The version of the objects of an AdmissionRequest. */
const admittedVersion = (call: Call, { definition, storedApiVersion }: Resource): string =>
  definition.validatesRequestVersion ? call.resource.apiVersion : storedApiVersion

async function fromStored(call: Call, object: ApiObject, { isStored, resource }: MatchedKind): Promise<ApiObject> {
  if (!isStored) return object
  const { conversion, definition, fromStored: transform } = resource
  const from = admittedVersion(call, resource)
  if (conversion === undefined || conversion.version === from)
    return definition.validatesRequestVersion ? object : (transform?.(object) ?? object)
  const [converted = {}] = await call.waitFor(conversion.convert([object], { from, to: conversion.version }))
  return converted
}

/** Converts an object that a webhook returned to the version of the admitted object, without `kind` and `apiVersion`. */
export async function toStoredVersion(
  { call }: Pick<AdmissionRequest, 'call'>,
  object: ApiObject,
  { isStored, resource }: MatchedKind,
): Promise<ApiObject> {
  const { kind: _kind, apiVersion: _apiVersion, ...content } = object
  if (!isStored) return content
  const { conversion, definition, toStored: transform } = resource
  const to = admittedVersion(call, resource)
  if (conversion === undefined || conversion.version === to)
    return definition.validatesRequestVersion ? content : (transform?.(content) ?? content)
  const [admitted = {}] = await call.waitFor(conversion.convert([content], { from: conversion.version, to }))
  return admitted
}
