// ObjectRef: how a test names an object, as text `RESOURCE[.GROUP]/[NAMESPACE/]NAME` or as a value with apiVersion, kind and metadata.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { keyOf } from '../../objects/object-keys.js'

/** For example `configmaps/shop/total`, `wares.shop.example.com/shop/apple` or `namespaces/shop`. */
export type ObjectRef = string | ObjectRefValue

interface ObjectRefValue {
  readonly apiVersion?: string | undefined
  readonly kind?: string | undefined
  readonly metadata?: { readonly name?: string | undefined; readonly namespace?: string | undefined } | undefined
}

export interface ResolvedRef {
  readonly resource: Resource
  /** Empty for cluster-scoped resources. */
  readonly namespace: string
  readonly name: string
  /** Key in the storage. */
  readonly key: string
  /** The ref in its text form. */
  readonly text: string
}

/** Throws a TypeError that says what is wrong with the ref. */
export function resolveRef(catalog: Catalog, ref: ObjectRef): ResolvedRef {
  const { resource, namespace, name, shown } = typeof ref === 'string' ? fromText(catalog, ref) : fromValue(catalog, ref)
  const type = typeOf(resource)
  if (name === '') throw new TypeError(`${shown}: the name of the object is missing`)
  if (resource.namespaced && namespace === '') throw new TypeError(`${shown}: ${type} have a namespace; write ${type}/NAMESPACE/${name}`)
  if (!resource.namespaced && namespace !== '') throw new TypeError(`${shown}: ${type} have no namespace; write ${type}/${name}`)
  const text = resource.namespaced ? `${type}/${namespace}/${name}` : `${type}/${name}`
  return { resource, namespace, name, key: keyOf(resource, namespace, name), text }
}

/** `RESOURCE`, or `RESOURCE.GROUP` outside the core group. */
export const typeOf = ({ name, group }: Pick<Resource, 'name' | 'group'>): string => (group === '' ? name : `${name}.${group}`)

interface Parts {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
  /** The ref in error messages. */
  readonly shown: string
}

function fromText(catalog: Catalog, ref: string): Parts {
  const shown = `object "${ref}"`
  const segments = ref.split('/')
  const [type = '', ...place] = segments
  if (segments.length < 2 || segments.length > 3 || segments.includes(''))
    throw new TypeError(`${shown}: must be RESOURCE[.GROUP]/[NAMESPACE/]NAME, such as configmaps/default/settings`)
  const [name = '', namespace = ''] = place.toReversed()
  return { resource: resolveType(catalog, type, shown), namespace, name, shown }
}

/** Resolves `RESOURCE[.GROUP]` in its preferred version. Without a group, the core group wins; otherwise the resource must be in one group. */
function resolveType(catalog: Catalog, type: string, shown = `resource "${type}"`): Resource {
  const dot = type.indexOf('.')
  const name = dot < 0 ? type : type.slice(0, dot)
  const found = [...catalog.groups().values()].flatMap(({ versions }) => {
    const [first] = [...versions.values()].flatMap(({ resources }) => resources.get(name) ?? [])
    return first ?? []
  })
  const exact = found.find((resource) => typeOf(resource) === type)
  if (exact !== undefined) return exact
  const candidates = found.map(typeOf).join(', ')
  if (dot < 0 && found[0] !== undefined && found.length === 1) return found[0]
  if (dot < 0 && found.length > 1) throw new TypeError(`${shown}: several groups have ${name}: write one of ${candidates}`)
  const similar = catalog.all().find(({ kind }) => kind.toLowerCase() === name.toLowerCase())
  const hint = candidates || (similar && typeOf(similar))
  throw new TypeError(`${shown}: the server has no resource "${type}"${hint === undefined ? '' : `; did you mean ${hint}?`}`)
}

function fromValue(catalog: Catalog, { apiVersion, kind, metadata }: ObjectRefValue): Parts {
  if (!apiVersion || !kind) throw new TypeError('object: a value that names an object needs apiVersion, kind and metadata.name')
  const { name = '', namespace = '' } = metadata ?? {}
  const shown = `object ${kind} "${name}"`
  const resource = catalog.all().find((each) => each.kind === kind && each.apiVersion === apiVersion)
  if (resource === undefined) throw new TypeError(`${shown}: the server has no kind "${kind}" in version "${apiVersion}"`)
  return { resource, namespace, name, shown }
}
