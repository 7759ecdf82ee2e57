// Subresources that are actions: what is sent is a request to do something with the object, and the answer is a word of success.

import type { Catalog } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import type { Call, Engine, WriteOptions } from '../engine.js'
import { bind } from './binding.js'
import { evict } from './eviction.js'

export interface ActionRequest {
  readonly body: ApiObject
  readonly options: WriteOptions
  readonly catalog: Catalog
}

export type Action = (engine: Engine, call: Call, request: ActionRequest) => Promise<void>

/** By resource and subresource; to add one: write its file, and give it a line here. */
export const actions: { readonly [path: string]: Action } = {
  'pods/binding': bind,
  'pods/eviction': evict,
}

export const actionOf = (call: Call): Action | undefined => actions[`${call.resource.collection}/${call.subresource?.name ?? ''}`]
