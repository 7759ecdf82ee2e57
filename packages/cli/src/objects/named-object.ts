// Objects selected by a command: resource, name and collection; names in output such as `deployment.apps/web`.

import type { Collection } from '@cluster-apiserver/client/collection.js'
import type { ServedResource } from '@cluster-apiserver/client/discovery.js'
import type { ApiObject, DynamicObject } from '@cluster-apiserver/client/objects/objects.js'

export interface NamedObject {
  readonly resource: ServedResource
  readonly name: string
  readonly collection: Collection<DynamicObject>
  readonly origin?: string
}

export interface ManifestObject extends NamedObject {
  readonly object: DynamicObject
}

export const fullNameOf = ({ singular, resource, group, kind }: ServedResource, name: string | undefined): string =>
  `${singular || kind.toLowerCase() || resource}${group === '' ? '' : `.${group}`}/${name ?? ''}`

export const nameOfObject = ({ apiVersion = '', kind = '', metadata }: ApiObject): string => {
  const slash = apiVersion.indexOf('/')
  return `${kind.toLowerCase()}${slash < 0 ? '' : `.${apiVersion.slice(0, slash)}`}/${metadata?.name ?? ''}`
}
