// Subresources whose bodies are of another kind: what a client reads is made from the object, and what it writes goes back into it.

import { invalid } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { SubresourceView } from '../api/definition.js'
import { type ApiObject, withMetadata } from '../api/object.js'
import type { Promised } from '../base/promised.js'
import { converting, fromStored, shownAs, toStored } from './versions.js'

/** The object with what a client wrote into its view. Version and uid in the view are conditions on the object. */
export function writeView(call: Call, view: SubresourceView, input: { readonly sent: ApiObject; readonly live: ApiObject }): ApiObject {
  const { sent, live } = input
  const errors = view.validate?.(sent, call) ?? []
  if (errors.length > 0) throw invalid({ group: call.identity.group(view.group), kind: view.kind }, call.name, errors)
  const written = view.write(sent, fromStored(call, live), call)
  return withMetadata(written, { resourceVersion: sent.metadata?.resourceVersion, uid: sent.metadata?.uid })
}

/** What admission sees of an object: itself, or what the view shows of it. */
export function shownOf(call: Call, object: ApiObject): Promised<ApiObject> {
  const { subresource } = call
  return subresource?.view === undefined ? object : converting(call, () => shownAs(call, subresource.shown, object))
}

/** The object with what admission made of that. */
export function withShown(call: Call, object: ApiObject, shown: ApiObject): Promised<ApiObject> {
  const view = call.subresource?.view
  if (view === undefined) return shown
  const { metadata = {} } = object
  return converting(call, () => withMetadata(toStored(call, view.write(shown, fromStored(call, object), call)), metadata))
}
