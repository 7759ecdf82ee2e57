// A form of objects of which a list is made item by item, so that items can be kept under it.

import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'

/** There is one value for each form of a kind: what was made in it is found again by it. */
export interface ItemForm {
  /** The kind, in the version that is shown. */
  readonly resource: Resource
  /** Whether a field that is zero is written like one that is absent, so that it does not matter which it is. */
  readonly ignoresZeros?: boolean
  /** One object, in the version that is shown, ready to be put into a list. */
  item(object: ApiObject): Uint8Array
}
