// Pages in another order than that of keys, for the few kinds whose tables are shown so.

import type { Resource } from '../api/catalog.js'
import type { ItemForm, ItemSlices } from '../codec/item-form.js'
import type { ObjectPage } from './list.js'
import { slicesOfItems } from './page-slices.js'
import type { StoredObject } from './stored-object.js'

/** More than these stay in the order of keys: to put them into another one all of them have to be in memory. */
const mostOrdered = 5000

export function orderedItems(page: ObjectPage, resource: Resource, form: ItemForm): ItemSlices {
  const objects: StoredObject[] = []
  for (const object of page.objects()) if (objects.push(object) > mostOrdered) return page.items
  objects.sort((a, b) => form.order?.(a.decode(resource), b.decode(resource)) ?? 0)
  return slicesOfItems(
    objects.map((object) => object.item(form)),
    form.separator,
  )
}
