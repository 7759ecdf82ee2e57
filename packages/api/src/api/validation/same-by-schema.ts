// Whether two values say the same by their schema, under which an absent struct is an empty one and zero is nothing.

import type { SchemaNode } from '../../schema/node.js'
import { writeStored } from '../../schema/write.js'
import { sameValue } from './same-value.js'

/** Canonical texts are compared only where the values differ at a glance. */
export const sameBySchema = (node: SchemaNode, a: object, b: object): boolean =>
  sameValue(a, b) || writeStored(node, a) === writeStored(node, b)
