// How the fields of a struct lie in its Protobuf message: in the order of their numbers, and those of embedded structs, which
// JSON flattens, gathered again into a message of their own.

import type { Field, StructNode } from './node.js'

export interface FieldPart {
  readonly proto: number
  readonly name: string
  readonly field: Field
}

/** A message inside the message whose fields are members of the same value. */
export interface EmbeddedPart {
  readonly proto: number
  readonly parts: readonly MessagePart[]
}

export type MessagePart = FieldPart | EmbeddedPart

export const isEmbedded = (part: MessagePart): part is EmbeddedPart => 'parts' in part

/** By ascending number. Throws for types that exist only as JSON. */
export function layoutOf(node: StructNode): readonly MessagePart[] {
  if (node.noProto) throw new Error(`${node.name} has no Protobuf form`)
  if (node.rest !== undefined) throw new Error(`${node.name} has members that Protobuf has no place for`)
  return arrange(Object.entries(node.fields), 0)
}

function arrange(fields: readonly (readonly [string, Field])[], depth: number): readonly MessagePart[] {
  const parts: MessagePart[] = []
  const embedded = new Map<number, (readonly [string, Field])[]>()
  for (const entry of fields) {
    const [name, field] = entry
    const via = field.via?.[depth]
    if (via !== undefined) embedded.set(via.proto, [...(embedded.get(via.proto) ?? []), entry])
    else if (field.proto !== undefined) parts.push({ proto: field.proto, name, field })
  }
  for (const [proto, inner] of embedded) parts.push({ proto, parts: arrange(inner, depth + 1) })
  return parts.sort((a, b) => a.proto - b.proto)
}

export const tagOf = (proto: number, wireType: number): number => proto * 8 + wireType
