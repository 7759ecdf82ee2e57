// The object that a binding names as its parameters, of whatever kind, as expressions see it.

import type { Catalog, Resource } from '../../api/catalog.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import { onceFor } from '../../base/once-for.js'
import type { Promised } from '../../base/promised.js'
import { valueOfJson } from '../../cel/data.js'
import type { Value } from '../../cel/values.js'
import { parseWrittenJson } from '../../codec/json.js'
import { convertAhead } from '../../objects/convert-ahead.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { StoredObject } from '../../objects/stored-object.js'
import type { ParamKind, ParamRef } from '../../resources/admissionregistration/v1alpha1.schema.js'
import { writeValue } from '../../schema/write.js'

/** The policy or the binding is not fit for use, whatever the request. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

export interface ParamSource {
  readonly store: ObjectStore
  readonly catalogs: Pick<CatalogSource, 'current'>
}

const byKind = onceFor((catalog: Catalog) => {
  const found = new Map<string, Resource>()
  for (const resource of catalog.all()) {
    const key = `${resource.apiVersion} ${resource.kind}`
    if (!found.has(key)) found.set(key, resource)
  }
  return found
})

/** Throws {@link ConfigurationError} where the kind is not served. */
export function paramResource({ apiVersion = '', kind = '' }: ParamKind, { catalogs }: ParamSource): Resource {
  const found = byKind(catalogs.current).get(`${apiVersion} ${kind}`)
  if (found !== undefined) return found
  const place = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${place}, Kind=${kind}'`)
}

/** Throws {@link ConfigurationError} where there is no such object: one in a namespace is named with it, and others are not. */
export function readParams(resource: Resource, { name = '', namespace = '' }: ParamRef, { store }: ParamSource): Promised<Value> {
  const stored = (namespace !== '') === resource.namespaced ? store.readOften({ resource, namespace, name }) : undefined
  if (stored === undefined) throw new ConfigurationError(`${name} not found`)
  const pending = convertAhead([stored], resource)
  return pending === undefined ? valueFor(stored, resource) : pending.then(() => valueFor(stored, resource))
}

const values = onceFor((_stored: StoredObject) => new WeakMap<Resource, Value>())

/** Made once for each version of the object. */
function valueFor(stored: StoredObject, resource: Resource): Value {
  const known = values(stored).get(resource)
  if (known !== undefined) return known
  const { apiVersion, kind, schema } = resource
  const value = valueOfJson(parseWrittenJson(writeValue(schema, { ...stored.shown(resource), apiVersion, kind })))
  values(stored).set(resource, value)
  return value
}
