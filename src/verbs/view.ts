// Subresources whose bodies are of another kind: what a client reads is made from the object, and what it writes goes back into it.

import { invalid } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { SubresourceDefinition, SubresourceView } from '../api/definition.js'
import type { Identity } from '../api/identity.js'
import { type ApiObject, withMetadata } from '../api/object.js'
import type { Call } from './engine.js'
import { fromStored } from './versions.js'

/** The resource as a client of this endpoint sees it: itself, or the kind that the subresource shows. */
export function visibleResource(resource: Resource, subresource: SubresourceDefinition | undefined, identity: Identity): Resource {
  const view = subresource?.view
  if (view === undefined) return resource
  const group = identity.group(view.group)
  return {
    ...resource,
    kind: view.kind,
    apiVersion: group === '' ? view.version : `${group}/${view.version}`,
    schema: view.schema,
    toStored: undefined,
    definition: view.table === undefined ? resource.definition : { ...resource.definition, table: view.table },
    fromStored: (object) => view.read(resource.fromStored?.(object) ?? object),
  }
}

/** The object with what a client wrote into its view. Version and uid in the view are conditions on the object. */
export function writeView(call: Call, view: SubresourceView, input: { readonly sent: ApiObject; readonly live: ApiObject }): ApiObject {
  const { sent, live } = input
  const errors = view.validate?.(sent, call.rules) ?? []
  if (errors.length > 0) throw invalid({ group: call.rules.identity.group(view.group), kind: view.kind }, call.name, errors)
  const written = view.write(sent, fromStored(call, live), call.rules)
  return withMetadata(written, { resourceVersion: sent.metadata?.resourceVersion, uid: sent.metadata?.uid })
}
