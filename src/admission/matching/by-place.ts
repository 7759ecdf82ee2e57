// What is the same for all requests of one operation on one resource, such as which hooks may be about them: found out once, and again when
// what it follows from or the catalog has changed.

import type { Catalog, Resource } from '../../api/catalog.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import type { AdmissionRequest } from '../admission.js'

/** `source`: the value from which it follows, another one whenever that has changed. */
export function byPlace<Source, Made>(
  catalogs: Pick<CatalogSource, 'current'>,
  make: (source: Source, request: AdmissionRequest) => Made,
): (source: Source, request: AdmissionRequest) => Made {
  let followed: Source | undefined
  let catalog: Catalog | undefined
  let known = new Map<Resource, Map<string, Made>>()
  return (source, request) => {
    if (source !== followed || catalog !== catalogs.current) {
      followed = source
      catalog = catalogs.current
      known = new Map()
    }
    const places = getOrInsert(known, request.resource, () => new Map<string, Made>())
    const { operation, subresource } = request
    return getOrInsert(places, subresource === '' ? operation : `${operation} ${subresource}`, () => make(source, request))
  }
}
