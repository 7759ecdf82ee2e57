// Whole objects, in the form that the caller chose.

import { isNotFound } from '../../client/errors.js'
import type { DynamicObject } from '../../client/objects.js'
import type { GetWork } from '../commands/get.js'
import { explain } from '../failure.js'
import { printerFor } from '../output/printer.js'
import { sortedBy } from '../output/sorting.js'
import { fullNameOf, type Wanted } from '../targets.js'
import { selectionOf } from './tables.js'

export async function showObjects(work: GetWork, { named, collections }: Wanted): Promise<number> {
  const { flags, io } = work
  const found: { readonly object: DynamicObject; readonly fullName: string }[] = []
  let failures = 0
  for (const { resource, collection, name } of named) {
    const part = flags.subresource === undefined ? collection : collection.subresource(flags.subresource)
    try {
      found.push({ object: await part.get(name), fullName: fullNameOf(resource, name) })
    } catch (thrown) {
      if (isNotFound(thrown) && flags['ignore-not-found']) continue
      failures++
      io.err(explain(thrown))
    }
  }
  const limit = flags['chunk-size'] ?? 0
  for (const { resource, collection } of collections) {
    for await (const object of collection.items({ ...selectionOf(work), ...(limit > 0 ? { limit } : {}) }))
      found.push({ object, fullName: fullNameOf(resource, object.metadata?.name) })
  }
  const isList = collections.length > 0 || named.length > 1
  const names = new Map(found.map(({ object, fullName }) => [object as object, fullName]))
  const printer = printerFor({
    flags,
    nameOf: (object) => names.get(object) ?? '',
    noHeaders: flags['no-headers'],
  })
  const unsorted = found.map(({ object }) => object)
  const objects = flags['sort-by'] === undefined ? unsorted : sortedBy(flags['sort-by'], unsorted)
  if (objects.length > 0 || isList) io.data(printer.print(objects, isList))
  return failures === 0 ? 0 : 1
}
