// The endpoints of resources: from a path that names one to the verb that serves it.

import type { Exchange } from './exchange.js'
import type { Answered } from './pipeline.js'
import { serveDelete, serveDeleteCollection } from './serve-delete.js'
import { serveGet, serveList, serveWatch } from './serve-read.js'
import { isSpecial, serveSpecial } from './serve-special.js'
import { serveCreate, servePatch, serveUpdate } from './serve-write.js'
import { locate, methodNotAllowed, type ResourceServer } from './target.js'

export function serveResource(server: ResourceServer, exchange: Exchange): Answered | Promise<Answered> {
  const target = locate(server, exchange)
  if (isSpecial(target)) return serveSpecial(target)
  switch (exchange.info.verb) {
    case 'get':
      return serveGet(target)
    case 'list':
      return serveList(target)
    case 'watch':
      return serveWatch(target)
    case 'create':
      return serveCreate(target)
    case 'update':
      return serveUpdate(target)
    case 'patch':
      return servePatch(target)
    case 'delete':
      return serveDelete(target)
    case 'deletecollection':
      return serveDeleteCollection(target)
    default:
      throw methodNotAllowed()
  }
}
