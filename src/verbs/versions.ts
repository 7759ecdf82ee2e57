// Between the version in which a client speaks and the one in which objects are stored. Rules and admission see the stored form;
// patches and the bookkeeping of owned fields see the client's.

import type { Call } from '../api/call.js'
import type { ApiObject } from '../api/object.js'

export const toStored = (call: Call, object: ApiObject): ApiObject => call.resource.toStored?.(object) ?? object

export const fromStored = (call: Call, object: ApiObject): ApiObject => call.resource.fromStored?.(object) ?? object

/** Fills in what a client left out, by the rules of its version. */
export const withDefaults = (call: Call, object: ApiObject): ApiObject => call.resource.defaults?.(object, call) ?? object
