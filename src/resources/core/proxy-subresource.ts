// The subresource through which requests are passed on to what an object stands for.

import { defineConnection } from '../../api/define-special.js'
import type { ConnectionName, SubresourceDefinition } from '../../api/definition.js'
import type { StructNode } from '../../schema/node.js'

export const proxySubresource = (connection: ConnectionName, query: StructNode): SubresourceDefinition =>
  defineConnection({ name: 'proxy', connection, verbs: ['create', 'delete', 'get', 'patch', 'update'], query })
