// The subresource through which requests are passed on to what an object stands for: it writes nothing.

import type { SubresourceDefinition } from '../../api/definition.js'
import type { ApiObject } from '../../api/object.js'
import type { StructNode } from '../../schema/node.js'

/** Discovery calls it after its options. */
export const proxySubresource = <T extends ApiObject>(query: StructNode): SubresourceDefinition<T> => ({
  name: 'proxy',
  verbs: ['create', 'delete', 'get', 'patch', 'update'],
  body: { kind: query.name },
  query,
  prepareUpdate: (next) => next,
})
