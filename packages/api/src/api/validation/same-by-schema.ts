// Equality of two values under a schema: an absent struct equals an empty one, zero equals absent.

import { writeStored } from '../../schema/json/write.js'
import type { SchemaNode } from '../../schema/node.js'
import { sameValue } from './same-value.js'

export const sameBySchema = (node: SchemaNode, a: object, b: object): boolean =>
  sameValue(a, b) || writeStored(node, a) === writeStored(node, b)
