// Variables of policy expressions: object, oldObject, request and params.

import type { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { getOrInsert, weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { valueOfJson } from '@cluster-apiserver/api/cel/values/json-values.js'
import type { Value } from '@cluster-apiserver/api/cel/values/values.js'
import { parseWrittenJson } from '@cluster-apiserver/api/codec/json/json.js'
import { type RequestAttributes, requestVariable } from '@cluster-apiserver/api/resources/admissionregistration/policy/request-variable.js'
import type { ParamKind, ParamRef } from '@cluster-apiserver/api/resources/admissionregistration/v1alpha1.schema.js'
import { writeValue } from '@cluster-apiserver/api/schema/json/write.js'
import { convertAhead } from '../../objects/entry/convert-ahead.js'
import type { StoredObject } from '../../objects/entry/stored-object.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { AdmissionRequest } from '../admission-plugin.js'
import { type MatchedKind, requestedKind, versionedJson, versionedObject } from '../matching/versioned-object.js'

/** Variables of one request: created on first use and shared by all policies. */
export class PolicyVariables {
  readonly #request: AdmissionRequest
  readonly #objects = new Map<MatchedKind, Promise<Value>>()
  readonly #olds = new Map<MatchedKind, Promise<Value>>()
  #requestValue: Value | undefined

  constructor(request: AdmissionRequest) {
    this.#request = request
  }

  object(matched: MatchedKind): Promise<Value> {
    return getOrInsert(this.#objects, matched, () => objectValue(this.#request, this.#request.object, matched))
  }

  old(matched: MatchedKind): Promise<Value> {
    return getOrInsert(this.#olds, matched, () => objectValue(this.#request, this.#request.old, matched))
  }

  get request(): Value {
    this.#requestValue ??= requestVariable(attributesOf(this.#request))
    return this.#requestValue
  }
}

/** Null without an object. Objects have the fields that a GET response would have. */
async function objectValue(request: AdmissionRequest, object: ApiObject | undefined, matched: MatchedKind): Promise<Value> {
  if (object === undefined) return null
  const { isStored, resource, schema } = matched
  if (schema === undefined || !isStored || resource.definition.custom === undefined)
    return valueOfJson(parseWrittenJson(await versionedJson(request, object, matched)))
  // Custom objects have no defaulted fields except in metadata, so only that is serialized.
  const converted = await versionedObject(request, object, matched)
  return valueOfJson({
    ...converted,
    metadata: parseWrittenJson(writeValue(schema.fields['metadata']?.node ?? schema, converted.metadata ?? {})),
  })
}

const attributesOf = (request: AdmissionRequest): RequestAttributes => ({
  operation: request.operation,
  kind: requestedKind(request),
  resource: request.resource,
  subresource: request.subresource,
  name: request.name,
  namespace: request.namespace,
  user: request.call.user,
  dryRun: request.dryRun,
  options: request.options,
})

/** The policy or binding cannot be used, whatever the request. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

export interface ParamSource {
  readonly store: ObjectStore
  readonly catalogs: Pick<CatalogSource, 'current'>
}

const resourcesByKind = weakMemoize((catalog: Catalog) => {
  const found = new Map<string, Resource>()
  for (const resource of catalog.all()) {
    const key = `${resource.apiVersion} ${resource.kind}`
    if (!found.has(key)) found.set(key, resource)
  }
  return found
})

/** Throws ConfigurationError if the kind is not served. */
export function paramResource({ apiVersion = '', kind = '' }: ParamKind, { catalogs }: ParamSource): Resource {
  const found = resourcesByKind(catalogs.current).get(`${apiVersion} ${kind}`)
  if (found !== undefined) return found
  const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${groupVersion}, Kind=${kind}'`)
}

/** Throws ConfigurationError if the object does not exist. Only references to namespaced kinds have a namespace. */
export async function readParams(resource: Resource, { name = '', namespace = '' }: ParamRef, { store }: ParamSource): Promise<Value> {
  const stored = (namespace !== '') === resource.namespaced ? store.readCached({ resource, namespace, name }) : undefined
  if (stored === undefined) throw new ConfigurationError(`${name} not found`)
  await convertAhead([stored], resource)
  return valueFor(stored, resource)
}

const valueCache = weakMemoize((_stored: StoredObject) => new WeakMap<Resource, Value>())

function valueFor(stored: StoredObject, resource: Resource): Value {
  const known = valueCache(stored).get(resource)
  if (known !== undefined) return known
  const { apiVersion, kind, schema } = resource
  const value = valueOfJson(parseWrittenJson(writeValue(schema, { ...stored.shown(resource), apiVersion, kind })))
  valueCache(stored).set(resource, value)
  return value
}
