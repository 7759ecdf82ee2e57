// The item of one heavy object, made in the thread for heavy requests for a list or a watch of the event loop.

import type { Catalog } from '../../api/catalog.js'
import type { RuleContext } from '../../api/definition.js'
import { anonymous } from '../../api/user.js'
import type { FormWish, ItemForm } from '../../codec/item-form.js'
import { rowFormOf } from '../../codec/table-rows.js'
import { wireFormOf } from '../../codec/wire-form.js'
import { convertAhead } from '../../objects/convert-ahead.js'
import { StoredObject } from '../../objects/stored-object.js'
import type { Settings } from '../options/settings.js'
import type { WantedItem } from './messages.js'

export async function makeHeavyItem(
  settings: Settings,
  catalog: Catalog,
  { group, version, resource: name, form, entry }: WantedItem,
): Promise<Uint8Array> {
  const resource = catalog.find(group, version, name)
  if (resource === undefined) throw new Error(`${name} of ${group}/${version} is not served any more`)
  const { key, revision, value } = entry
  const object = new StoredObject({ key, revision, value: Buffer.from(value.buffer, value.byteOffset, value.byteLength) })
  // Where somebody else converts it, that is waited for here.
  await convertAhead([object], resource)
  return object.makeItem(formOf(settings, resource, form))
}

type Resource = NonNullable<ReturnType<Catalog['find']>>

/** The same form as there: rows are for everybody, and have room for ages. */
function formOf({ identity, gates, allowPrivileged }: Settings, resource: Resource, { format, as, includeObject }: FormWish): ItemForm {
  if (as?.kind !== 'Table') return wireFormOf(resource, { format, ...(as === undefined ? {} : { as }), pretty: false }, identity)
  const rules: RuleContext = { identity, gates, now: 0, user: anonymous, version: resource.version, forbidsPrivileged: !allowPrivileged }
  return rowFormOf(resource, { identity, version: as.version, includeObject: includeObject ?? 'Metadata', rules })
}
