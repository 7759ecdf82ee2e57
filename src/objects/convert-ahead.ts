// Stored objects made ready to be shown in a version that has to be asked for: all of them at once, before anything is made of them.

import type { Resource } from '../api/catalog.js'
import type { Conversion } from '../api/conversion.js'
import type { ApiObject } from '../api/object.js'
import { getOrInsert } from '../base/get-or-insert.js'
import { inPieces } from '../base/pieces.js'
import type { StoredObject } from './stored-object.js'

/** Undefined: nothing has to be waited for. `to`: the version that clients see, unless said otherwise. */
export function convertAhead(objects: Iterable<StoredObject>, resource: Resource, to?: string): Promise<void> | undefined {
  const { conversion } = resource
  if (conversion === undefined) return undefined
  const wanted = to ?? conversion.version
  const bySource = new Map<string, StoredObject[]>()
  for (const object of objects) {
    if (!object.isReadyAs(resource, wanted)) getOrInsert(bySource, object.writtenAs(resource), () => []).push(object)
  }
  return bySource.size === 0 ? undefined : convertAll(bySource, resource, { ...conversion, version: wanted })
}

async function convertAll(
  bySource: ReadonlyMap<string, readonly StoredObject[]>,
  resource: Resource,
  { convert, version: to }: Conversion,
): Promise<void> {
  for (const [from, objects] of bySource) {
    const parsed = await inPieces(parseAll(objects, resource))
    const converted = await convert(parsed, { from, to })
    for (const [i, object] of objects.entries()) object.keepAs(convert, to, converted[i] ?? {})
  }
}

function* parseAll(objects: readonly StoredObject[], resource: Resource): Generator<undefined, readonly ApiObject[], void> {
  const parsed: ApiObject[] = []
  for (const object of objects) {
    parsed.push(object.asWritten(resource))
    yield
  }
  return parsed
}
