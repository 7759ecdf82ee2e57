// The first filter of a worker process: a request waits for the changes that other workers have acknowledged before, so that a removed
// RoleBinding, account or token denies on all workers at once, and a new CustomResourceDefinition is served by all.

import { tooManyRequests } from '@cluster-apiserver/api/api/api-error.js'
import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { isProbe } from '../../flow-control/request.js'
import type { Filter } from '../../http/pipeline/filter.js'
import type { ObjectStore } from '../../objects/object-store.js'

/** Limit of waiting requests: they are not authenticated yet, so flow control does not apply. */
const maxWaitingRequests = 2000

export function awaitChanges(store: Pick<ObjectStore, 'readIndex'>, catalogs: Pick<CatalogSource, 'current'>): Filter {
  let waiting = 0
  return (exchange) => {
    if (isProbe(exchange)) return false
    const index = store.readIndex()
    exchange.hasReadIndex = true
    if (typeof index === 'number') return false
    if (waiting >= maxWaitingRequests) {
      index.catch(() => undefined)
      throw tooManyRequests('too many requests wait for the store, please try again later', 1)
    }
    waiting++
    return index
      .then(() => {
        exchange.replaceCatalog(catalogs.current)
        return false
      })
      .finally(() => waiting--)
  }
}
